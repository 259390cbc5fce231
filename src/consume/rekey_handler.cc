#include "consume/rekey_handler.h"

#include "flow/partition_flow.h"

namespace seen {
namespace {
using std::chrono::milliseconds;

constexpr milliseconds kArrivedSlice{20};
constexpr milliseconds kLookEvery{1000};
constexpr milliseconds kLookSeldom{2000};  // when caught up: nothing waits for it
constexpr milliseconds kRekeyQuestion{1000};

std::string_view AwaitedBy(HoldReason reason) {
  return reason == HoldReason::kSchema            ? "schema registry"
         : reason == HoldReason::kDeadLettersFull ? "dead-letter topic"
                                                  : "keyed topic";
}
}  // namespace

class RekeyHandler::Handler final : public PartitionHandler {
 public:
  Handler(RekeyHandler& handler, FlowPointer flow) : handler_(handler), flow_(std::move(flow)) {}

  Result<size_t> Handle(std::span<const Record> records) override { return flow_->Apply(records); }
  void ReachedEnd(int64_t end_offset) override { flow_->ReachedEnd(end_offset); }
  void SkipLost(int64_t low) override {
    handler_.NoteLost(flow_->partition(), flow_->next_offset(), low);
    flow_->ReachedEnd(low);
  }
  int64_t next_offset() const override { return flow_->next_offset(); }
  Result<std::optional<int64_t>> Idle() override { return flow_->Rewind(handler_.clock_.Now()); }
  void Held() override { handler_.NoteHeld(flow_->partition(), flow_->held_by()); }
  void Resumed() override { handler_.NoteResumed(flow_->partition()); }
  bool WaitsAlone() const override { return flow_->held_by() == HoldReason::kSchema; }
  int64_t CommitOffset() const override {
    const int64_t closed_at = closed_at_.load();
    return closed_at >= 0 ? closed_at : flow_->position();
  }

  void Close(const Closing& closing) override {
    // The next owner sends again what isn't acknowledged by then.
    while (closing.checkpoint && !closing.lost && flow_->position() < flow_->next_offset() &&
           handler_.clock_.Now() < closing.until) {
      handler_.wait_.WaitForSpace(kArrivedSlice);
    }
    closed_at_.store(flow_->position());  // read before the letters are forgotten
    handler_.Forget(flow_);
  }

 private:
  RekeyHandler& handler_;
  const FlowPointer flow_;
  std::atomic<int64_t> closed_at_{-1};
};

RekeyHandler::RekeyHandler(Options options, const Readers& readers, KeyedRecordSink& sink,
                           DeadLetterSink& dead_letters, ConsumerWait& wait, RekeyReporter& reporter,
                           const Clock& clock)
    : options_(std::move(options)),
      readers_(readers),
      sink_(sink),
      dead_letters_(dead_letters),
      wait_(wait),
      reporter_(reporter),
      clock_(clock) {}

Result<std::shared_ptr<PartitionHandler>> RekeyHandler::Open(const Assignment& assignment, const GroupLog&) {
  const int64_t from = assignment.committed_offset.value_or(assignment.watermarks.low);
  const MutexLock lock(mutex_);
  RekeyOptions flow;
  flow.partition = assignment.partition;
  flow.ticket_tag = next_tag_++;
  flow.keyer = options_.make_keyer();
  auto made = std::make_shared<RekeyFlow>(flow, from, sink_, dead_letters_, reporter_);
  by_tag_[flow.ticket_tag] = made;
  flows_[assignment.partition] = made;
  return std::make_shared<Handler>(*this, std::move(made));
}

void RekeyHandler::Forget(const FlowPointer& flow) {
  dead_letters_.Forget(flow->partition());
  const MutexLock lock(mutex_);
  std::erase_if(by_tag_, [&](const auto& tagged) { return tagged.second == flow; });
  std::erase_if(flows_, [&](const auto& open) { return open.second == flow; });
  holds_.erase(flow->partition());
}

void RekeyHandler::NoteHeld(int32_t partition, HoldReason reason) {
  const MutexLock lock(mutex_);
  const auto hold = holds_.try_emplace(partition, Hold{reason, clock_.WallNow()}).first;
  hold->second.reason = reason;
}

void RekeyHandler::NoteResumed(int32_t partition) {
  const MutexLock lock(mutex_);
  holds_.erase(partition);
}

RekeyHandler::FlowPointer RekeyHandler::Find(int32_t partition) const {
  const MutexLock lock(mutex_);
  const auto found = flows_.find(partition);
  return found == flows_.end() ? nullptr : found->second;
}

void RekeyHandler::NoteLost(int32_t partition, int64_t from, int64_t to) {
  {
    const MutexLock lock(mutex_);
    lost_[partition] += static_cast<uint64_t>(to - from);
  }
  reporter_.RekeyingLost(partition, {from, to, clock_.WallNow()});
}

void RekeyHandler::Refused(int32_t partition, const std::string& reason) {
  const MutexLock lock(mutex_);
  refused_.erase(partition);
  if (!reason.empty()) refused_[partition] = reason;
}

void RekeyHandler::Step(GroupLog& log) {
  const Instant now = clock_.Now();
  bool caught_up = false;
  {
    const MutexLock lock(mutex_);
    caught_up = progress_.behind() == int64_t{0};
  }
  if (looked_at_ == Instant{} || now - looked_at_ >= (caught_up ? kLookSeldom : kLookEvery)) {
    looked_at_ = now;
    LookAtLag(log);
  }
  OpenToReaders();
}

void RekeyHandler::LookAtLag(GroupLog& log) {
  if (!log.brokers_reachable()) return;
  const auto committed = log.GroupCommitted(kRekeyQuestion);
  if (!committed) return;
  RekeyProgress::Partitions look;
  for (const auto& [partition, offset] : *committed) {
    const auto watermarks = log.QueryWatermarks(partition, kRekeyQuestion);
    if (!watermarks || stopping_.load()) return;
    RekeyProgress::Partition& at = look[partition];
    at.low_watermark = watermarks->low;
    at.high_watermark = watermarks->high;
    at.committed = offset;
    if (const FlowPointer flow = Find(partition)) at.position = flow->position();
  }
  const MutexLock lock(mutex_);
  progress_.Look(std::move(look));
}

// A partition of the keyed topic may answer once it has read what the topic held when re-keying had caught
// up.
void RekeyHandler::OpenToReaders() {
  if (readers_.partitions == nullptr) return;
  {
    const MutexLock lock(mutex_);
    const auto behind = progress_.behind();
    if (!behind || *behind > options_.ready_lag_messages || !refused_.empty()) return;
  }
  for (const PartitionPointer& open : readers_.partitions->All()) {
    if (open->answers_from.load(std::memory_order_relaxed) != OpenPartition::kNotYet) continue;
    const auto watermarks = readers_.keyed->QueryWatermarks(open->partition, kRekeyQuestion);
    if (!watermarks) return;
    open->answers_from.store(watermarks->high, std::memory_order_release);
  }
}

void RekeyHandler::Delivered(std::span<const DeliveryReport> reports) {
  const Instant now = clock_.Now();
  std::vector<RekeyFlow::DeliveryReport> told;
  for (size_t from = 0, to = 0; from < reports.size(); from = to) {
    const auto tag = static_cast<uint32_t>(reports[from].ticket >> 32);
    told.clear();
    for (; to < reports.size() && reports[to].ticket >> 32 == tag; ++to) {
      told.push_back({static_cast<uint32_t>(reports[to].ticket), reports[to].delivery});
    }
    FlowPointer flow;
    {
      const MutexLock lock(mutex_);
      const auto found = by_tag_.find(tag);
      if (found != by_tag_.end()) flow = found->second;
    }
    if (flow) flow->Delivered(told, now);
  }
}

RekeyingStatus RekeyHandler::GetStatus() const {
  RekeyingStatus status;
  status.source_topic = options_.source_topic;
  status.group_id = options_.group_id;
  const int64_t ready_lag = options_.ready_lag_messages;
  const MutexLock lock(mutex_);
  if (!refused_.empty()) {
    status.problem = "partition " + std::to_string(refused_.begin()->first) + " of topic \"" +
                     status.source_topic + "\" isn't re-keyed: " + refused_.begin()->second;
  } else if (const auto behind = progress_.behind(); !behind) {
    status.problem = "the number of messages to re-key isn't known yet";
  } else if (*behind > ready_lag) {
    status.problem = "a partition of topic \"" + status.source_topic + "\" has " + std::to_string(*behind) +
                     " messages to re-key, more than http.ready_lag_messages = " + std::to_string(ready_lag);
  }
  status.caught_up = status.problem.empty();
  for (const auto& [number, at] : progress_.partitions()) {
    RekeyingPartitionStatus& partition = status.partitions.emplace_back();
    partition.partition = number;
    partition.assigned = flows_.contains(number);
    partition.committed_offset = at.committed;
    partition.high_watermark = at.high_watermark;
    partition.lag_messages = at.lag();
    if (const auto lost = lost_.find(number); lost != lost_.end()) partition.lost_messages = lost->second;
    if (const auto hold = holds_.find(number); hold != holds_.end()) {
      partition.held_by = hold->second.reason;
      partition.held_since = hold->second.since;
      partition.reason = "waiting for the " + std::string(AwaitedBy(partition.held_by)) + " for " +
                         std::to_string(clock_.WallNow().value - partition.held_since.value) + " ms";
    }
    status.lag_messages += partition.lag_messages;
  }
  return status;
}

}  // namespace seen
