#include "app/rekeying.h"

#include <algorithm>

#include "base/log.h"
#include "base/threads.h"

namespace seen {
namespace {
using std::chrono::milliseconds;

constexpr milliseconds kControlPoll{50};
constexpr milliseconds kWorkerPoll{50};
constexpr milliseconds kHoldSlice{20};
// A rebalance waits for a batch: what can't be taken in this time is fetched again.
constexpr milliseconds kHoldMax{1000};
constexpr milliseconds kRevokedAwaited{1000};
constexpr milliseconds kCommitEvery{500};
constexpr milliseconds kLookEvery{1000};
constexpr milliseconds kLookSeldom{2000};  // nothing waits
constexpr milliseconds kQuestion{1000};
// What a record may have beside its value: key, headers.
constexpr size_t kRecordOverheadMax = 64 * 1024;
}  // namespace

Rekeying::Options Rekeying::ForEvents(const Config& config, const std::shared_ptr<const EventPlan>& plan) {
  Options options;
  options.config = &config;
  options.source_topic = *config.input.source_topic;
  options.keyed_topic = config.input.topic;
  options.topic_key = "input.topic";
  options.group_id = RekeyingGroup(config);
  options.record_bytes_max = config.input.event_bytes_max;
  options.make_keyer = [plan, bytes_max = config.input.event_bytes_max,
                        ahead_max = config.input.future_skew_max] {
    return NewEventKeyer(plan, bytes_max, ahead_max);
  };
  return options;
}

Rekeying::Rekeying(const Options& options, const Readers& readers, Reporter& reporter, const Clock& clock,
                   OnRefused on_refused)
    : options_(options),
      readers_(readers),
      reporter_(reporter),
      clock_(clock),
      on_refused_(std::move(on_refused)) {}

Rekeying::~Rekeying() {
  Stop(milliseconds(0));
  consumer_.reset();
  producer_.reset();  // whose thread calls Tell
}

Result<std::unique_ptr<Rekeying>> Rekeying::Start(const Options& options, const Readers& readers,
                                                  Reporter& reporter, const Clock& clock,
                                                  OnRefused on_refused) {
  std::unique_ptr<Rekeying> made(new Rekeying(options, readers, reporter, clock, std::move(on_refused)));
  if (auto opened = made->Open(); !opened) return Fail(std::move(opened.error()));
  return made;
}

Status Rekeying::Open() {
  const Config& config = *options_.config;
  DeadLetterProducer::Options letters;
  letters.brokers = config.kafka.brokers;
  letters.client = config.kafka.client;
  letters.topic = config.input.dead_letter_topic;
  letters.source_topic = options_.source_topic;
  letters.queue_bytes_max = options_.dead_letter_bytes_max;
  auto dead_letters = DeadLetterProducer::Open(letters);
  if (!dead_letters) return Fail(std::move(dead_letters.error()));
  dead_letters_ = std::move(*dead_letters);

  KeyedProducer::Options keyed;
  keyed.brokers = config.kafka.brokers;
  keyed.client = config.kafka.client;
  keyed.topic = options_.keyed_topic;
  keyed.record_bytes_max = options_.record_bytes_max + kRecordOverheadMax;
  // A record longer than the queue would never get in.
  keyed.queue_bytes_max = std::max<uint64_t>(options_.producer_bytes_max, 2 * keyed.record_bytes_max);
  keyed.batch_bytes_max = options_.keyed_message_bytes_max;
  keyed.on_outcomes = [this](std::span<const KeyedProducer::Outcome> outcomes) { Tell(outcomes); };
  auto producer = KeyedProducer::Open(keyed);
  if (!producer) return Fail(std::move(producer.error()));
  producer_ = std::move(*producer);

  Consumer::Options source;
  source.brokers = config.kafka.brokers;
  source.client = config.kafka.client;
  source.topic = options_.source_topic;
  source.group_id = options_.group_id;
  source.instance_id = options_.instance_id;
  source.workers = options_.workers;
  source.fetch_bytes_max = options_.fetch_bytes_max;
  auto consumer = Consumer::Open(source, *this);
  if (!consumer) return Fail(std::move(consumer.error()));
  consumer_ = std::move(*consumer);

  for (int number = 0; number < options_.workers; ++number) {
    workers_.emplace_back([this, number] {
      NameThread("rekey-" + std::to_string(number));
      RunWorker(number);
    });
  }
  control_ = std::thread([this] {
    NameThread("rekey-control");
    RunControl();
  });
  return {};
}

void Rekeying::Stop(milliseconds drain) {
  workers_stop_.store(true);
  for (std::thread& worker : workers_) {
    if (worker.joinable()) worker.join();
  }
  drain_ms_.store(drain.count());
  stop_.store(true);
  if (control_.joinable()) control_.join();
}

// --- the control thread

void Rekeying::RunControl() {
  Instant committed_at{};
  Instant looked_at{};
  bool refused = false;
  while (!stop_.load(std::memory_order_relaxed)) {
    if (refused) {  // the daemon is on its way out
      std::this_thread::sleep_for(kControlPoll);
      continue;
    }
    if (Status polled = consumer_->PollControl(kControlPoll); !polled) {
      on_refused_(polled.error());
      refused = true;
      continue;
    }
    const Instant now = clock_.Now();
    if (now - committed_at >= kCommitEvery) {
      committed_at = now;
      CommitPositions();
    }
    bool caught_up = false;
    {
      const std::lock_guard lock(mutex_);
      caught_up = progress_.behind() == int64_t{0};
    }
    if (now - looked_at >= (caught_up ? kLookSeldom : kLookEvery)) {
      looked_at = now;
      LookAtLag();
    }
    OpenToReaders();
  }
  (void)Arrived(All(), milliseconds(drain_ms_.load()));
  consumer_->Close();  // runs OnRevoked, which commits
}

Result<std::optional<int64_t>> Rekeying::OnAssigned(const Assignment& assignment) {
  const int32_t partition = assignment.partition;
  const Watermarks& watermarks = assignment.watermarks;
  int64_t from = assignment.committed_offset.value_or(watermarks.low);
  if (from > watermarks.high) {
    const std::string what = "partition " + std::to_string(partition) + " of topic \"" +
                             options_.source_topic + "\" ends at " + std::to_string(watermarks.high) +
                             ", but it was re-keyed up to offset " + std::to_string(from) +
                             ": the topic was recreated, or its log was cut";
    if (!options_.rebuild) {
      return Fail(Code::kRefused, what + ". Remedy: point " + std::string(options_.topic_key) +
                                      " at the right topic, or start once with --rebuild to re-key it from "
                                      "its earliest record");
    }
    log::Warning("re-keying from the earliest record", {{"reason", what}});
    from = watermarks.low;
  }
  if (from < watermarks.low) {
    NoteLost(partition, from, watermarks.low);
    from = watermarks.low;
  }
  const std::lock_guard lock(mutex_);
  RekeyOptions flow;
  flow.partition = partition;
  flow.ticket_tag = next_tag_++;
  flow.keyer = options_.make_keyer();
  auto made = std::make_shared<RekeyFlow>(flow, from, *producer_, *dead_letters_, reporter_);
  by_tag_[flow.ticket_tag] = made;
  flows_[partition] = std::move(made);
  return from;
}

void Rekeying::OnRevoked(std::span<const int32_t> partitions, bool lost) {
  std::vector<FlowPointer> revoked;
  for (const int32_t partition : partitions) {
    if (FlowPointer flow = Find(partition)) revoked.push_back(std::move(flow));
  }
  if (!lost) {
    (void)Arrived(revoked, stop_.load() ? milliseconds(0) : kRevokedAwaited);
    CommitPositions();
  }
  const std::lock_guard lock(mutex_);
  for (const FlowPointer& flow : revoked) {
    dead_letters_->Forget(flow->partition());
    std::erase_if(by_tag_, [&](const auto& tagged) { return tagged.second == flow; });
    flows_.erase(flow->partition());
    committed_.erase(flow->partition());
  }
}

bool Rekeying::Arrived(std::span<const FlowPointer> flows, milliseconds patience) const {
  const Instant until = clock_.Now() + patience;
  for (;;) {
    const bool all = std::all_of(flows.begin(), flows.end(), [](const FlowPointer& flow) {
      return flow->position() >= flow->next_offset();
    });
    if (all || clock_.Now() >= until) return all;
    std::this_thread::sleep_for(kHoldSlice);
  }
}

void Rekeying::CommitPositions() {
  // Closing would wait for a commit, and a commit for brokers.
  if (!consumer_->brokers_reachable()) return;
  std::map<int32_t, int64_t> offsets;
  for (const FlowPointer& flow : All()) {
    const int64_t position = flow->position();
    auto [committed, is_new] = committed_.try_emplace(flow->partition(), -1);
    if (!is_new && committed->second == position) continue;
    committed->second = offsets[flow->partition()] = position;
  }
  if (!offsets.empty()) consumer_->Commit(offsets);
}

void Rekeying::LookAtLag() {
  if (!consumer_->brokers_reachable()) return;
  const auto committed = consumer_->GroupCommitted(kQuestion);
  if (!committed) return;
  RekeyProgress::Partitions look;
  for (const auto& [partition, offset] : *committed) {
    const auto watermarks = consumer_->QueryWatermarks(partition, kQuestion);
    if (!watermarks || stop_.load()) return;
    RekeyProgress::Partition& at = look[partition];
    at.low_watermark = watermarks->low;
    at.high_watermark = watermarks->high;
    at.committed = offset;
    if (const FlowPointer flow = Find(partition)) at.position = flow->position();
  }
  const std::lock_guard lock(mutex_);
  progress_.Look(std::move(look));
}

// A partition of the keyed topic answers once it has read what the topic held when re-keying had caught up.
void Rekeying::OpenToReaders() {
  {
    const std::lock_guard lock(mutex_);
    const auto behind = progress_.behind();
    if (!behind || *behind > static_cast<int64_t>(options_.config->http.ready_lag_messages)) return;
  }
  if (readers_.partitions == nullptr) return;
  for (const PartitionPointer& open : readers_.partitions->open().All()) {
    if (open->answers_from.load(std::memory_order_relaxed) != OpenPartition::kNotYet) continue;
    const auto watermarks = readers_.keyed->QueryWatermarks(open->partition, kQuestion);
    if (!watermarks) return;
    open->answers_from.store(watermarks->high, std::memory_order_release);
  }
}

// --- worker threads

void Rekeying::RunWorker(int number) {
  while (!workers_stop_.load(std::memory_order_relaxed)) {
    consumer_->PollWorker(number, kWorkerPoll, *this);
    for (const FlowPointer& flow : All()) {
      if (consumer_->WorkerOf(flow->partition()) == number) RewindIfDue(*flow);
    }
  }
}

bool Rekeying::RewindIfDue(RekeyFlow& flow) {
  const auto from = flow.Rewind(clock_.Now());
  if (from) (void)consumer_->Seek(flow.partition(), *from);
  return from.has_value();
}

void Rekeying::OnBatch(const PartitionBatch& batch) {
  const FlowPointer flow = Find(batch.partition);
  if (!flow) return;
  auto records = batch.records;
  Instant held_since{};
  while (!records.empty()) {
    const size_t taken = flow->Apply(records);
    records = records.subspan(taken);
    if (records.empty()) break;
    if (RewindIfDue(*flow)) return;
    const Instant now = clock_.Now();
    if (taken > 0 || held_since == Instant{}) held_since = now;
    if (workers_stop_.load(std::memory_order_relaxed)) return;
    if (now - held_since > kHoldMax) {
      (void)consumer_->Seek(batch.partition, flow->next_offset());
      return;
    }
    std::this_thread::sleep_for(kHoldSlice);
  }
  if (batch.end_offset >= 0) flow->ReachedEnd(batch.end_offset);
}

void Rekeying::OnOffsetOutOfRange(int32_t partition, int64_t wanted_offset, const Watermarks& now) {
  const FlowPointer flow = Find(partition);
  if (!flow) return;
  if (wanted_offset > now.high) {
    on_refused_({Code::kRefused, "partition " + std::to_string(partition) + " of topic \"" +
                                     options_.source_topic + "\": offset " + std::to_string(wanted_offset) +
                                     " is beyond the log's end " + std::to_string(now.high) +
                                     ": the topic was recreated, or its log was cut. Remedy: start once with "
                                     "--rebuild to re-key it from its earliest record"});
    return;
  }
  NoteLost(partition, wanted_offset, now.low);
  flow->ReachedEnd(now.low);
  (void)consumer_->Seek(partition, now.low);
}

// --- any thread

void Rekeying::Tell(std::span<const KeyedProducer::Outcome> outcomes) {
  const Instant now = clock_.Now();
  std::vector<RekeyFlow::Told> told;
  for (size_t from = 0, to = 0; from < outcomes.size(); from = to) {
    const auto tag = static_cast<uint32_t>(outcomes[from].ticket >> 32);
    told.clear();
    for (; to < outcomes.size() && outcomes[to].ticket >> 32 == tag; ++to) {
      told.push_back({static_cast<uint32_t>(outcomes[to].ticket), outcomes[to].delivery});
    }
    FlowPointer flow;
    {
      const std::lock_guard lock(mutex_);
      const auto found = by_tag_.find(tag);
      if (found != by_tag_.end()) flow = found->second;
    }
    if (flow) flow->Delivered(told, now);
  }
}

Rekeying::FlowPointer Rekeying::Find(int32_t partition) const {
  const std::lock_guard lock(mutex_);
  const auto found = flows_.find(partition);
  return found == flows_.end() ? nullptr : found->second;
}

std::vector<Rekeying::FlowPointer> Rekeying::All() const {
  const std::lock_guard lock(mutex_);
  std::vector<FlowPointer> all;
  all.reserve(flows_.size());
  for (const auto& [partition, flow] : flows_) all.push_back(flow);
  return all;
}

void Rekeying::NoteLost(int32_t partition, int64_t from, int64_t to) {
  {
    const std::lock_guard lock(mutex_);
    lost_[partition] += static_cast<uint64_t>(to - from);
  }
  reporter_.RekeyingLost(partition, {from, to, clock_.WallNow()});
}

RekeyingStatus Rekeying::GetStatus() const {
  RekeyingStatus status;
  status.source_topic = options_.source_topic;
  status.group_id = options_.group_id;
  const auto ready_lag = static_cast<int64_t>(options_.config->http.ready_lag_messages);
  const std::lock_guard lock(mutex_);
  if (const auto behind = progress_.behind(); !behind) {
    status.problem = "how much there is to re-key isn't known yet";
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
    status.lag_messages += partition.lag_messages;
  }
  return status;
}

}  // namespace seen
