#include "consume/exposures_handler.h"

#include <utility>

#include "base/log.h"
#include "flow/partition_flow.h"
#include "model/day.h"

namespace seen {
namespace {
using std::chrono::milliseconds;

constexpr std::chrono::seconds kCheckpointRetry{1};
constexpr int kLastCheckpointTries = 3;
constexpr milliseconds kQuestion{2000};
constexpr milliseconds kReadersAwaited{2000};
// How long unassigned partitions answer while the brokers answer and the group assigns nothing to this
// daemon. Another daemon may know more by then.
constexpr std::chrono::seconds kUnassignedAnswers{30};
// How long an unassigned partition answers while no other daemon answers for it.
constexpr std::chrono::minutes kAnswersForOthers{10};

std::string Name(int32_t partition) { return "partition " + std::to_string(partition); }
}  // namespace

/// The worker's side of an open partition.
class ExposuresHandler::Handler final : public PartitionHandler {
 public:
  /// `goes_on`: the partition was open before, and answers.
  Handler(ExposuresHandler& handler, PartitionPointer open, bool goes_on)
      : handler_(handler), open_(std::move(open)), goes_on_(goes_on) {}

  Result<size_t> Handle(std::span<const Record> records) override {
    if (open_->stopped.load()) return Fail(Code::kCorrupt, open_->stop_reason());
    if (open_->disk_full.load(std::memory_order_acquire)) return size_t{0};
    const bool was_caught_up = open_->flow->state.CaughtUp();
    auto taken = open_->flow->intake.Apply(records);
    WakePublisher(was_caught_up, open_->flow->publish.HasNews());
    return taken;
  }

  void ReachedEnd(int64_t end_offset) override {
    const bool was_caught_up = open_->flow->state.CaughtUp();
    open_->flow->intake.ReachedEnd(end_offset);
    WakePublisher(was_caught_up, false);
  }

  void SkipLost(int64_t low) override { open_->flow->intake.SkipLost(low); }
  int64_t next_offset() const override { return open_->flow->state.next_offset(); }

  int64_t Begin(int64_t low) override {
    const int64_t from = open_->flow->intake.ReadFrom(low);
    if (handler_.options_.guard != nullptr && handler_.Owns()) handler_.options_.guard->Own(open_->partition);
    if (!goes_on_) handler_.open_.Add(open_);
    log::Info(goes_on_ ? "partition goes on" : "partition opened",
              {{"partition", open_->partition}, {"next_offset", next_offset()}});
    return from;
  }

  Anchor LastRead() const override { return open_->flow->intake.last_read(); }

  Result<std::optional<int64_t>> Idle() override {
    // The publisher or the checkpoint thread may have found that the state can't be read.
    if (open_->stopped.load()) return Fail(Code::kCorrupt, open_->stop_reason());
    open_->flow->intake.EndIdleReplays();
    if (open_->flow->intake.CheckpointDue()) {
      open_->flow->intake.Freeze();
      handler_.options_.on_frozen();
    }
    return std::nullopt;
  }

  void Held() override {
    const bool was_held = open_->held_since_ms.load(std::memory_order_relaxed) != 0;
    const HoldReason before = open_->held_reason.load(std::memory_order_relaxed);
    HoldReason reason = open_->disk_full.load() ? HoldReason::kDiskFull : open_->flow->intake.HeldBy();
    if (reason == HoldReason::kNone)  // the tail has just been frozen
      reason = was_held ? before : HoldReason::kTailFull;
    if (was_held && reason == before) return;
    open_->held_reason.store(reason, std::memory_order_relaxed);
    if (!was_held) open_->held_since_ms.store(handler_.clock_.WallNow().value, std::memory_order_release);
    handler_.reporter_.FlowHeld(open_->partition, reason);
  }

  void Resumed() override {
    const int64_t since_ms = open_->held_since_ms.exchange(0, std::memory_order_relaxed);
    handler_.reporter_.FlowResumed(open_->partition, open_->held_reason.load(std::memory_order_relaxed),
                                   milliseconds(handler_.clock_.WallNow().value - since_ms));
  }

  bool WaitsAlone() const override { return open_->flow->intake.HeldBy() == HoldReason::kSchema; }

  void SetWatermarks(const Watermarks& watermarks) override {
    open_->flow->state.SetWatermarks(watermarks.low, watermarks.high);
  }

  int64_t CommitOffset() const override { return open_->commit_offset.load(std::memory_order_relaxed); }

  void Close(const Closing& closing) override {
    if (handler_.options_.guard != nullptr) handler_.options_.guard->Disown(open_->partition);
    if (closing.checkpoint) {
      // The partition may come back at once, or another daemon may need a while to open it. Meanwhile its
      // users get answers from what is known here.
      open_->unassigned_at = handler_.clock_.Now();
      open_->assigned.store(false, std::memory_order_release);
    } else {
      handler_.open_.Take(open_->partition);
    }
    // At most two tails: one that may be frozen already, and the rest.
    for (int i = 0; closing.checkpoint && i < kLastCheckpointTries && !open_->stopped.load(); ++i) {
      if (!open_->flow->state.HasFrozen()) {
        if (!open_->flow->intake.HasChanges()) break;
        open_->flow->intake.Freeze();
      }
      const MutexLock checkpoint(open_->checkpoint_mutex);
      if (!open_->flow->state.HasFrozen()) continue;
      const auto written = open_->flow->checkpoint.Write();
      if (!written) {
        log::Error("last checkpoint failed; the records since the previous checkpoint are read again",
                   {{"partition", open_->partition}, {"reason", written.error().message}});
        break;
      }
      open_->commit_offset.store(*written, std::memory_order_relaxed);
      if (!open_->flow->intake.HasChanges()) break;
    }
    handler_.dead_letters_.Forget(open_->partition);
    if (const auto& recorder = open_->flow->state.options().recorder) {
      const MutexLock checkpoint(open_->checkpoint_mutex);
      recorder->Pause();
    }
    log::Info(open_->assigned.load() ? "partition closed"
              : open_->CaughtUp()    ? "partition isn't assigned, and still answers"
                                     : "partition isn't assigned, and doesn't answer",
              {{"partition", open_->partition}, {"next_offset", next_offset()}});
  }

 private:
  // A pass of the publisher looks at each partition, so a batch mustn't cause one for nothing.
  void WakePublisher(bool was_caught_up, bool made_due) {
    if (made_due || open_->flow->state.CaughtUp() != was_caught_up) handler_.options_.on_taken();
  }

  ExposuresHandler& handler_;
  const PartitionPointer open_;
  const bool goes_on_;
};

ExposuresHandler::ExposuresHandler(Options options, PartitionStores& stores, DeadLetterSink& dead_letters,
                                   Reporter& reporter, const Clock& clock)
    : options_(std::move(options)),
      stores_(stores),
      dead_letters_(dead_letters),
      reporter_(reporter),
      clock_(clock),
      owned_(Owns()) {}

// The number of partitions that users map to.
int32_t ExposuresHandler::CountOf(int32_t partition_count) const {
  return options_.partitions_of_users > 0 ? options_.partitions_of_users : partition_count;
}

void ExposuresHandler::Expect(std::span<const int32_t> partitions, int32_t partition_count) {
  const int32_t count = CountOf(partition_count);
  for (const int32_t partition : partitions) {
    if (partition < count && !open_.Find(partition)) stores_.Expect(partition, count);
  }
}

Result<std::shared_ptr<PartitionHandler>> ExposuresHandler::Open(const Assignment& assignment,
                                                                 const GroupLog& log) {
  const int32_t mapped = options_.partitions_of_users;
  if (mapped > 0 && assignment.partition >= mapped) {
    return Fail(Code::kRefused,
                Name(assignment.partition) + " was added to the topic, which has " +
                    std::to_string(assignment.partition_count) + " partitions now, but users are mapped to " +
                    std::to_string(mapped) +
                    ": users that moved to the new partition would lose their history. Remedy: stop the "
                    "daemons, and give their state to a topic with more partitions: seenctl reshard --dir, "
                    "see docs/RESHARD.md. Until then, let producers use the first " +
                    std::to_string(mapped) + " partitions");
  }
  if (PartitionPointer open = open_.Find(assignment.partition); open && GoesOn(*open, assignment)) {
    if (const auto& recorder = open->flow->state.options().recorder) {
      const MutexLock checkpoint(open->checkpoint_mutex);
      recorder->Resume();
    }
    // All of its state is in the store, so nothing waits for space.
    open->disk_full.store(false, std::memory_order_release);
    open->held_since_ms.store(0, std::memory_order_relaxed);
    open->assigned.store(true, std::memory_order_release);
    return std::make_shared<Handler>(*this, std::move(open), true);
  }
  if (Status released = CloseUnassigned(assignment.partition); !released)
    return Fail(std::move(released.error()));
  auto open = OpenStore(assignment, log);
  open_.Await(assignment.partition, open ? "" : open.error().message);
  if (!open) return Fail(std::move(open.error()));
  {
    const MutexLock lock(mutex_);
    last_[assignment.partition] = (*open)->lifetime.GetWatch();
  }
  return std::make_shared<Handler>(*this, std::move(*open), false);
}

// Whether a revoked partition can be read on as it is. All of its state must be in the store. No other member
// of the group may have read further.
bool ExposuresHandler::GoesOn(const OpenPartition& open, const Assignment& assignment) const {
  if (open.assigned.load() || open.stopped.load() || open.flow->state.HasFrozen()) return false;
  const int64_t next_offset = open.flow->state.next_offset();
  return open.commit_offset.load() == next_offset &&
         assignment.committed_offset.value_or(next_offset + 1) <= next_offset &&
         next_offset >= assignment.watermarks.low && next_offset <= assignment.watermarks.high;
}

Result<PartitionPointer> ExposuresHandler::OpenStore(const Assignment& assignment, const GroupLog& log) {
  const int32_t partition = assignment.partition;
  auto opened = stores_.Open(partition, CountOf(assignment.partition_count));
  if (!opened) {
    if (opened.error().code == Code::kNoSpace) reporter_.NoSpaceAtOpening();
    return Fail(std::move(opened.error()));
  }
  const auto position = opened->store->ReadPosition();
  if (!position) return Fail(position.error());
  // Of a compacted log, nobody can say which records are missing.
  const auto is_compacted = *position ? Result<bool>(false) : log.IsCompacted(kQuestion);
  if (!is_compacted) return Fail(Code::kUnavailable, is_compacted.error().message);
  int64_t start_offset = assignment.watermarks.low;
  if (!*position && (options_.rebuild || assignment.committed_offset)) {
    const auto holds = HoldsWindow(assignment, log);
    if (!holds) return Fail(holds.error());
    // State that is built again lacks the records that retention has deleted. They count as lost.
    if (!*holds) start_offset = 0;
    if (assignment.committed_offset && !*is_compacted) WarnOfMissingState(assignment, *holds);
  }

  auto open = std::make_shared<OpenPartition>();
  open->partition = partition;
  if (options_.awaits_rekeying) open->answers_from.store(OpenPartition::kNotYet);
  if (*position) open->commit_offset.store((*position)->next_offset);  // everything below is in the store
  open->store = std::move(opened->store);
  open->flow = std::make_unique<PartitionFlow>(std::move(opened->options), *position, start_offset,
                                               assignment.watermarks.high, *open->store, dead_letters_,
                                               reporter_, clock_);
  if (*is_compacted && assignment.watermarks.high > start_offset) {
    log::Warning(
        "the topic is compacted: filters that are built from it are incomplete until their windows have "
        "passed",
        {{"partition", partition}, {"window_days", options_.window_days_max}});
    open->flow->state.wholeness().Lost(clock_.WallNow(), true);
  }
  return open;
}

// Whether the topic still has every record that counts in some filter's window.
Result<bool> ExposuresHandler::HoldsWindow(const Assignment& assignment, const GroupLog& log) const {
  if (assignment.watermarks.low == 0) return true;
  const TimeMs oldest{clock_.WallNow().value - int64_t{options_.window_days_max + 1} * kMsPerDay};
  const auto first = log.OffsetForTime(assignment.partition, oldest, kQuestion);
  if (!first) return Fail(Code::kUnavailable, first.error().message);
  return *first > assignment.watermarks.low;
}

void ExposuresHandler::WarnOfMissingState(const Assignment& assignment, bool holds_window) const {
  const std::string_view what =
      holds_window ? "state is missing; the topic still holds the windows of all filters: reading it again"
                   : "state is missing, and retention has deleted a part of the window: reading what the "
                     "topic holds. Filters are incomplete until their windows have passed. Remedy: if there "
                     "is state elsewhere, stop, and start with its store.directory";
  log::Warning(what, {{"partition", assignment.partition},
                      {"from_offset", assignment.watermarks.low},
                      {"group_has_read", *assignment.committed_offset},
                      {"window_days", options_.window_days_max},
                      {"directory", options_.directory}});
}

void ExposuresHandler::FollowOwner() {
  const bool owns = Owns();
  if (std::exchange(owned_, owns) == owns) return;
  options_.on_taken();
  for (const PartitionPointer& open : open_.All()) {
    if (!open->assigned.load()) continue;
    if (options_.guard != nullptr)
      owns ? options_.guard->Own(open->partition) : options_.guard->Disown(open->partition);
    const auto& recorder = open->flow->state.options().recorder;
    if (!recorder) continue;
    const MutexLock checkpoint(open->checkpoint_mutex);
    owns ? recorder->Resume() : recorder->Pause();
  }
}

void ExposuresHandler::Step(GroupLog& log) {
  FollowOwner();
  std::vector<PartitionPointer> unassigned;
  bool some_assigned = false;
  for (PartitionPointer& open : open_.All()) {
    if (open->assigned.load()) {
      some_assigned = true;
    } else {
      unassigned.push_back(std::move(open));
    }
  }
  const Instant now = clock_.Now();
  if (unassigned.empty() || !log.brokers_reachable()) unassigned_since_ = now;
  // The group has given these partitions to others, or has assigned nothing to this daemon for a long time.
  const bool decided = (some_assigned && !log.opening()) || now - unassigned_since_ >= kUnassignedAnswers;
  std::erase_if(unassigned, [&](const PartitionPointer& open) { return !IsClosedNow(*open, decided); });
  for (PartitionPointer& open : unassigned) {
    const int32_t partition = open->partition;
    open.reset();  // CloseUnassigned would wait for this pointer
    (void)CloseUnassigned(partition);
  }
}

// The new owner may first have to restore the state and to read new records. Once it answers, the group has
// decided, also if it has left this daemon without a partition.
bool ExposuresHandler::IsClosedNow(const OpenPartition& open, bool decided) const {
  if (!options_.ready_elsewhere) return decided;
  return options_.ready_elsewhere(open.partition, open.unassigned_at) ||
         (decided && clock_.Now() - open.unassigned_at >= kAnswersForOthers);
}

Status ExposuresHandler::CloseUnassigned(int32_t partition) {
  PartitionPointer open = open_.Find(partition);
  if (!open || open->assigned.load()) return {};
  open_.Take(partition);
  log::Info("partition closed", {{"partition", partition}, {"reason", "it is no longer this daemon's"}});
  open.reset();
  if (AwaitClosed(partition)) {
    stores_.Abandon(partition);
    return {};
  }
  return Fail(Code::kUnavailable, Name(partition) + " is still read by a request");
}

Status ExposuresHandler::Drop(int32_t partition) {
  (void)AwaitClosed(partition);
  return stores_.Remove(partition);
}

bool ExposuresHandler::AwaitClosed(int32_t partition) {
  Lifetime::Watch last;
  {
    const MutexLock lock(mutex_);
    last = last_[partition];
  }
  return last.AwaitEnd(kReadersAwaited);
}

void ExposuresHandler::Refused(int32_t partition, const std::string& reason) {
  open_.Refuse(partition, reason);
  if (reason.empty()) open_.Await(partition, "");
}

bool ExposuresHandler::Checkpoint() {
  bool some_wait = false;
  for (const PartitionPointer& open : open_.All()) {
    if (open->flow->state.HasFrozen() && !open->stopped.load()) some_wait |= !WriteFrozen(*open);
  }
  return some_wait;
}

bool ExposuresHandler::WriteFrozen(OpenPartition& open) {
  const MutexLock lock(open.checkpoint_mutex);
  if (!open.flow->state.HasFrozen() || open.stopped.load() || clock_.Now() < open.checkpoint_retry_at)
    return false;
  if (open.flow->checkpoint.AwaitsDeadLetters()) return false;
  const auto written = open.flow->checkpoint.Write();
  if (written) {
    open.commit_offset.store(*written, std::memory_order_relaxed);
    open.disk_full.store(false, std::memory_order_release);
    options_.on_taken();  // something may have waited for the checkpoint
    return true;
  }
  open.checkpoint_retry_at = clock_.Now() + kCheckpointRetry;
  if (written.error().code == Code::kNoSpace) open.disk_full.store(true, std::memory_order_release);
  if (written.error().code == Code::kCorrupt) open.Stop(written.error().message);
  return false;
}

}  // namespace seen
