#include "consume/topic_consumer.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "flow/log_port.h"

namespace seen {
namespace {
using std::chrono::milliseconds;

constexpr milliseconds kHoldSlice{20};
constexpr milliseconds kWaitAloneMax{100};  // at most so long a partition keeps its worker from the others
constexpr milliseconds kRunnerQuestion{1000};
constexpr milliseconds kTransactionTakes{10'000};  // then it is reported

/// These need an operator's decision, or a rebuild of the state.
bool Stops(Code code) { return code == Code::kRefused || code == Code::kCorrupt; }
}  // namespace

TopicConsumer::TopicConsumer(Options options, TopicHandler& handler, ConsumerWait& wait, const Clock& clock)
    : options_(std::move(options)), handler_(handler), wait_(wait), clock_(clock) {}

TopicConsumer::~TopicConsumer() = default;

// --- the control thread

Status TopicConsumer::StepControl(milliseconds timeout) {
  if (Status polled = log_->PollControl(timeout); !polled) return polled;
  const Instant now = clock_.Now();
  if (now - committed_at_ >= options_.commit_every) {
    committed_at_ = now;
    CommitOffsets();
  }
  handler_.Step(*log_);
  return {};
}

void TopicConsumer::CommitOffsets() {
  // Without brokers a commit would wait, and closing would wait for the commit.
  if (!log_->brokers_reachable()) return;
  // Doesn't hold a partition's own mutex here: a worker may hold that one for as long as it waits for space.
  std::vector<std::pair<RunPointer, HandlerPointer>> read;
  {
    const MutexLock lock(mutex_);
    for (const auto& [partition, run] : runs_) {
      if (HandlerPointer handler = HandlerOf(*run)) read.emplace_back(run, std::move(handler));
    }
  }
  std::map<int32_t, int64_t> offsets;
  bool asked = false;  // brokers about a transaction: at most one question a pass
  for (const auto& [run, handler] : read) {
    const Watermarks known = log_->CachedWatermarks(run->partition);
    handler->SetWatermarks(known);
    if (const int64_t offset = handler->CommitOffset(); offset >= 0) offsets[run->partition] = offset;
    WatchTransaction(*run, known, asked);
  }
  if (!offsets.empty()) log_->Commit(offsets);
}

// Whether the partition's last stable offset stands still, while its high watermark is beyond. The last fetch
// says the high watermark. Only a partition that stands still for long costs a question.
void TopicConsumer::WatchTransaction(const Run& run, const Watermarks& known, bool& asked) {
  const int32_t partition = run.partition;
  const int64_t at_end = run.at_end.load(std::memory_order_relaxed);
  Standing& standing = standing_[partition];
  if (at_end < 0 || known.high <= at_end || at_end != standing.at_end) {
    standing = {at_end, clock_.Now() + kTransactionTakes, clock_.WallNow()};
    const MutexLock lock(mutex_);
    open_transactions_.erase(partition);
    return;
  }
  if (clock_.Now() < standing.look_at || std::exchange(asked, true)) return;
  standing.look_at = clock_.Now() + kTransactionTakes;
  const auto stable = log_->QueryWatermarks(partition, kRunnerQuestion);
  if (!stable) return;
  const MutexLock lock(mutex_);
  if (stable->high != at_end) {
    open_transactions_.erase(partition);
    return;
  }
  const bool is_new = !open_transactions_.contains(partition);
  open_transactions_[partition] = {partition, at_end, known.high - at_end, standing.since};
  if (!is_new) return;
  log::Warning("an open transaction holds back everything behind it",
               {{"topic", options_.topic},
                {"partition", partition},
                {"offset", at_end},
                {"messages", known.high - at_end},
                {"remedy", "end it at its producer, or abort it with kafka-transactions.sh"}});
}

void TopicConsumer::Close(milliseconds drain) {
  StopWorkers();
  closing_until_ = clock_.Now() + drain;
  log_->Close();  // calls OnRevoked
}

Result<std::optional<int64_t>> TopicConsumer::OnAssigned(const Assignment& assignment) {
  const int32_t partition = assignment.partition;
  auto handler = Open(assignment);
  if (!handler) {
    const Error& error = handler.error();
    if (error.code == Code::kInvalidArgument) return Fail(error);
    if (Stops(error.code)) {
      Refuse(partition, error);
      return std::optional<int64_t>();
    }
    TryLater(partition, PartitionProblem::Kind::kOpening, error);
    return Fail(Code::kUnavailable, error.message);
  }
  const int64_t from = (*handler)->Begin(assignment.watermarks.low);
  auto run = std::make_shared<Run>(assignment, std::move(*handler));
  ClearProblem(partition);
  committed_at_ = {};  // commits soon: nothing is published before a commit
  const MutexLock lock(mutex_);
  runs_[partition] = std::move(run);
  return from;
}

Anchor TopicConsumer::LastRead(int32_t partition) {
  const RunPointer run = Find(partition);
  if (!run) return {};
  const MutexLock lock(run->mutex);
  return run->handler ? run->handler->LastRead() : Anchor();
}

// With --rebuild, drops state that can't be used.
Result<TopicConsumer::HandlerPointer> TopicConsumer::Open(Assignment assignment) {
  auto opened = OpenOnce(assignment);
  if (opened || !options_.rebuild || !Stops(opened.error().code)) return opened;
  log::Warning(
      "state dropped, reading from the earliest",
      {{"topic", options_.topic}, {"partition", assignment.partition}, {"reason", opened.error().message}});
  if (Status dropped = handler_.Drop(assignment.partition); !dropped) return Fail(dropped.error());
  assignment.committed_offset.reset();
  return OpenOnce(assignment);
}

Result<TopicConsumer::HandlerPointer> TopicConsumer::OpenOnce(const Assignment& assignment) {
  auto opened = handler_.Open(assignment, *log_);
  if (!opened) return opened;
  const Watermarks& watermarks = assignment.watermarks;
  if (const int64_t reached = (*opened)->next_offset(); reached > watermarks.high) {
    (*opened)->Close({clock_.Now(), false, false});
    return Fail(Cut(assignment.partition, reached, watermarks.high));
  }
  (*opened)->SetWatermarks(watermarks);
  if ((*opened)->next_offset() < watermarks.low) (*opened)->SkipLost(watermarks.low);
  return opened;
}

Error TopicConsumer::Cut(int32_t partition, int64_t reached, int64_t end) const {
  return LogWasCut("partition " + std::to_string(partition) + " of topic \"" + options_.topic +
                       "\" was read up to offset " + std::to_string(reached) + ", but it ends at " +
                       std::to_string(end),
                   options_.remedy + "start once with --rebuild to " + options_.rebuild_does);
}

void TopicConsumer::OnRevoked(std::span<const int32_t> partitions, bool lost) {
  const Instant until = closing_until_.value_or(clock_.Now() + options_.closing_patience);
  handler_.BeforeClosing(until);
  std::map<int32_t, int64_t> offsets;
  for (const int32_t partition : partitions) {
    RunPointer run;
    {
      const MutexLock lock(mutex_);
      const auto found = runs_.find(partition);
      if (found != runs_.end()) {
        run = std::move(found->second);
        runs_.erase(found);
      }
    }
    ClearProblem(partition);
    standing_.erase(partition);
    {
      const MutexLock lock(mutex_);
      open_transactions_.erase(partition);
    }
    if (!run) {
      handler_.Abandoned(partition);
      continue;
    }
    const MutexLock lock(run->mutex);
    run->closed = true;
    if (!run->handler) continue;
    run->handler->Close({until, lost, true});
    if (const int64_t offset = run->handler->CommitOffset(); offset >= 0) offsets[partition] = offset;
    run->handler.reset();  // nobody else has this run any more
  }
  // Without brokers a commit would wait, and closing would wait for the commit.
  if (!lost && !offsets.empty() && log_->brokers_reachable()) log_->Commit(offsets);
}

// --- worker threads

void TopicConsumer::StepWorker(int worker, milliseconds timeout) { log_->PollWorker(worker, timeout, *this); }

void TopicConsumer::OnPolled(int worker) {
  for (const RunPointer& run : All()) {
    if (log_->WorkerOf(run->partition) != worker) continue;
    const MutexLock lock(run->mutex);
    if (!run->closed) (void)StepIdle(*run);
  }
}

void TopicConsumer::OnBatch(const PartitionBatch& batch) {
  const RunPointer run = Find(batch.partition);
  if (!run) return;
  const MutexLock lock(run->mutex);
  // Records that aren't taken now are read again from the offset that ReadOn returns.
  if (run->closed || !run->handler || run->read_on_at || run->look_at ||
      workers_stop_.load(std::memory_order_relaxed))
    return;
  run->handler->SetWatermarks(log_->CachedWatermarks(batch.partition));
  run->at_end.store(-1, std::memory_order_relaxed);
  if (TakeRecords(*run, batch.records) == Outcome::kStops) return;
  if (batch.end_offset < 0) return;
  run->handler->ReachedEnd(batch.end_offset);
  run->at_end.store(batch.end_offset, std::memory_order_relaxed);
}

TopicConsumer::Outcome TopicConsumer::TakeRecords(Run& run, std::span<const Record> records) {
  std::optional<Instant> waits_since;
  while (!records.empty()) {
    const auto taken = run.handler->Handle(records);
    if (!taken) {
      Failed(run, taken.error());
      return Outcome::kStops;
    }
    records = records.subspan(*taken);
    if (*taken > 0) {
      if (std::exchange(run.held_since, std::nullopt)) run.handler->Resumed();
      waits_since.reset();
    }
    if (records.empty()) break;
    if (StepIdle(run) == Outcome::kStops) return Outcome::kStops;
    if (*taken == 0 && WaitForSpace(run, waits_since) == Outcome::kStops) return Outcome::kStops;
  }
  return Outcome::kGoesOn;
}

// kStops: the rest of the records is delivered again, or the partition is closed.
TopicConsumer::Outcome TopicConsumer::WaitForSpace(Run& run, std::optional<Instant>& waits_since) {
  const Instant now = clock_.Now();
  if (!run.held_since) run.held_since = now;
  run.handler->Held();
  if (!waits_since) waits_since = now;
  if (workers_stop_.load(std::memory_order_relaxed)) return Outcome::kStops;
  if (now - *run.held_since > kWaitAloneMax && run.handler->WaitsAlone()) {
    run.look_at = now + options_.read_on_after;
    log_->StopReading(run.partition);
    return Outcome::kStops;
  }
  if (now - *waits_since > options_.hold_max) {
    (void)log_->Seek(run.partition, run.handler->next_offset());
    return Outcome::kStops;
  }
  wait_.WaitForSpace(kHoldSlice);
  return Outcome::kGoesOn;
}

// kStops: reading goes on at another offset, or not now.
TopicConsumer::Outcome TopicConsumer::StepIdle(Run& run) {
  if (run.read_on_at) {
    if (clock_.Now() >= *run.read_on_at) ReadOn(run);
    return Outcome::kStops;
  }
  if (!run.handler) return Outcome::kStops;
  const auto from = run.handler->Idle();
  if (!from) {
    Failed(run, from.error());
    return Outcome::kStops;
  }
  if (!*from && (!run.look_at || clock_.Now() < *run.look_at)) return Outcome::kGoesOn;
  run.look_at.reset();
  (void)log_->Seek(run.partition, *from ? **from : run.handler->next_offset());
  return Outcome::kStops;
}

void TopicConsumer::ReadOn(Run& run) {
  run.read_on_at.reset();
  run.look_at.reset();
  if (!run.handler) return OpenAgain(run);
  const auto from = run.handler->ReadOn();
  if (!from) return Failed(run, from.error());
  ClearProblem(run.partition);
  (void)log_->Seek(run.partition, *from);
}

void TopicConsumer::Failed(Run& run, const Error& error) {
  if (!Stops(error.code)) {
    run.read_on_at = clock_.Now() + options_.read_on_after;
    log_->StopReading(run.partition);  // until ReadOn seeks
    return TryLater(run.partition, PartitionProblem::Kind::kWaiting, error);
  }
  // The records read last may be of another log, or can't be written. So no checkpoint is written.
  run.handler->Close({clock_.Now(), false, false});
  {
    const MutexLock lock(mutex_);
    run.handler.reset();
  }
  if (!options_.rebuild) return Refuse(run.partition, error);
  log::Warning("state dropped, reading from the earliest",
               {{"topic", options_.topic}, {"partition", run.partition}, {"reason", error.message}});
  if (Status dropped = handler_.Drop(run.partition); !dropped) return Refuse(run.partition, dropped.error());
  OpenAgain(run);
}

// Opens the partition again after its state was dropped.
void TopicConsumer::OpenAgain(Run& run) {
  const auto later = [&](const Error& error) REQUIRES(run.mutex) {
    run.read_on_at = clock_.Now() + options_.read_on_after;
    TryLater(run.partition, PartitionProblem::Kind::kOpening, error);
  };
  const auto watermarks = log_->QueryWatermarks(run.partition, kRunnerQuestion);
  if (!watermarks) return later(watermarks.error());
  auto opened = OpenOnce({run.partition, run.partition_count, *watermarks, std::nullopt});
  if (!opened)
    return Stops(opened.error().code) ? Refuse(run.partition, opened.error()) : later(opened.error());
  {
    const MutexLock lock(mutex_);
    run.handler = std::move(*opened);
  }
  run.held_since.reset();
  ClearProblem(run.partition);
  (void)log_->Seek(run.partition, run.handler->Begin(watermarks->low));
}

void TopicConsumer::OnOffsetOutOfRange(int32_t partition, int64_t wanted_offset, const Watermarks& now) {
  const RunPointer run = Find(partition);
  if (!run) return;
  const MutexLock lock(run->mutex);
  if (run->closed || !run->handler) return;
  if (wanted_offset > now.high) return Failed(*run, Cut(partition, wanted_offset, now.high));
  if (run->handler->next_offset() < now.low) run->handler->SkipLost(now.low);
  (void)log_->Seek(partition, std::max(run->handler->next_offset(), now.low));
}

void TopicConsumer::OnLogReplaced(int32_t partition, int64_t offset, const Watermarks&) {
  const RunPointer run = Find(partition);
  if (!run) return;
  const MutexLock lock(run->mutex);
  if (run->closed || !run->handler) return;
  Failed(*run, LogWasCut("partition " + std::to_string(partition) + " of topic \"" + options_.topic +
                             "\": the record at offset " + std::to_string(offset) +
                             " isn't the one that was read there before",
                         options_.remedy + "start once with --rebuild to " + options_.rebuild_does));
}

// --- any thread

void TopicConsumer::TryLater(int32_t partition, PartitionProblem::Kind kind, const Error& error) {
  {
    const MutexLock lock(mutex_);
    problems_[partition] = {partition, kind, error.message};
  }
  if (!failed_budget_.Allow()) return;
  log::Warning(kind == PartitionProblem::Kind::kOpening
                   ? "partition can't be opened yet"
                   : "partition waits; the daemon tries again after a while",
               {{"topic", options_.topic},
                {"partition", partition},
                {"reason", error.message},
                {"lines_held_back", failed_budget_.TakeHeldBack()}});
}

void TopicConsumer::Refuse(int32_t partition, const Error& error) {
  log::Error("partition refused; the others go on",
             {{"topic", options_.topic}, {"partition", partition}, {"reason", error.message}});
  {
    const MutexLock lock(mutex_);
    const bool corrupt = error.code == Code::kCorrupt;
    problems_[partition] = {partition,
                            corrupt ? PartitionProblem::Kind::kStopped : PartitionProblem::Kind::kRefused,
                            error.message};
  }
  handler_.Refused(partition, error.message);
  log_->StopReading(partition);
}

void TopicConsumer::ClearProblem(int32_t partition) {
  {
    const MutexLock lock(mutex_);
    if (problems_.erase(partition) == 0) return;
  }
  handler_.Refused(partition, "");
}

std::vector<PartitionProblem> TopicConsumer::Problems() const {
  const MutexLock lock(mutex_);
  std::vector<PartitionProblem> problems;
  problems.reserve(problems_.size());
  for (const auto& [partition, problem] : problems_) problems.push_back(problem);
  return problems;
}

std::vector<OpenTransaction> TopicConsumer::OpenTransactions() const {
  const MutexLock lock(mutex_);
  std::vector<OpenTransaction> open;
  open.reserve(open_transactions_.size());
  for (const auto& [partition, transaction] : open_transactions_) open.push_back(transaction);
  return open;
}

TopicConsumer::RunPointer TopicConsumer::Find(int32_t partition) const {
  const MutexLock lock(mutex_);
  const auto found = runs_.find(partition);
  return found == runs_.end() ? nullptr : found->second;
}

std::vector<TopicConsumer::RunPointer> TopicConsumer::All() const {
  const MutexLock lock(mutex_);
  std::vector<RunPointer> all;
  all.reserve(runs_.size());
  for (const auto& [partition, run] : runs_) all.push_back(run);
  return all;
}

}  // namespace seen
