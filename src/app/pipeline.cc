#include "app/pipeline.h"

#include <algorithm>

#include "base/log.h"
#include "base/threads.h"

namespace seen {
namespace {
using std::chrono::milliseconds;

constexpr milliseconds kIdlePoll{50};
constexpr milliseconds kHoldSlice{20};
// A rebalance waits for a batch: what can't be taken in this time is fetched again.
constexpr milliseconds kHoldMax{1000};
constexpr milliseconds kCheckpointerIdle{50};
}  // namespace

/// One worker thread's side of the consumer.
class Pipeline::Worker final : public WorkerHandler {
 public:
  Worker(Pipeline& pipeline, int number) : pipeline_(pipeline), number_(number) {}

  void Run() {
    while (!pipeline_.workers_stop_.load(std::memory_order_relaxed)) {
      pipeline_.consumer_.PollWorker(number_, kIdlePoll, *this);
      for (const PartitionPointer& open : pipeline_.partitions_.open().All()) {
        if (pipeline_.consumer_.WorkerOf(open->partition) != number_) continue;
        const std::lock_guard lock(open->worker_mutex);
        if (!open->closed) FreezeIfDue(*open);
      }
    }
  }

  void OnBatch(const PartitionBatch& batch) override {
    Watermarks watermarks;
    const Status taken = TakeBatch(batch, watermarks);
    if (!taken) Refuse(batch.partition, watermarks, taken.error());
    pipeline_.Wake(pipeline_.publish_wanted_);
  }

  void OnOffsetOutOfRange(int32_t partition, int64_t wanted_offset, const Watermarks& now) override {
    if (wanted_offset > now.high) {
      return Refuse(partition, now,
                    {Code::kRefused,
                     "partition " + std::to_string(partition) + ": offset " + std::to_string(wanted_offset) +
                         " is beyond the log's end " + std::to_string(now.high) +
                         ": the topic was recreated, or its log was cut. Remedy: start once with "
                         "--rebuild to read it from the earliest record"});
    }
    const PartitionPointer open = pipeline_.partitions_.open().Find(partition);
    if (!open) return;
    const std::lock_guard lock(open->worker_mutex);
    if (open->closed) return;
    open->flow->intake.SkipLost(now.low);
    (void)pipeline_.consumer_.Seek(partition, open->flow->intake.ReadFrom(now.low));
  }

  void OnLogReplaced(int32_t partition, int64_t offset, const Watermarks& now) override {
    Refuse(partition, now,
           {Code::kRefused, "partition " + std::to_string(partition) + ": the record at offset " +
                                std::to_string(offset) +
                                " isn't the one that was read there before: the topic was recreated, or its "
                                "log was cut. Remedy: start once with --rebuild to read it from the "
                                "earliest record"});
  }

 private:
  void FreezeIfDue(OpenPartition& open) {
    if (open.stopped.load(std::memory_order_relaxed) || !open.flow->intake.CheckpointDue()) return;
    open.flow->intake.Freeze();
    pipeline_.Wake(pipeline_.checkpoint_wanted_);
  }

  Status TakeBatch(const PartitionBatch& batch, Watermarks& watermarks) {
    const PartitionPointer open = pipeline_.partitions_.open().Find(batch.partition);
    if (!open) return {};
    const std::lock_guard lock(open->worker_mutex);
    if (open->closed || open->stopped.load()) return {};
    watermarks = pipeline_.consumer_.CachedWatermarks(batch.partition);
    open->flow->state.SetWatermarks(watermarks.low, watermarks.high);
    const auto whole = TakeRecords(*open, batch.records);
    if (!whole) return Fail(whole.error());
    if (*whole && batch.end_offset >= 0) open->flow->intake.ReachedEnd(batch.end_offset);
    FreezeIfDue(*open);
    return {};
  }

  // False: not all of them were taken; they will come again, or the partition goes.
  Result<bool> TakeRecords(OpenPartition& open, std::span<const Record> records) {
    Instant held_since{};
    while (!records.empty()) {
      if (!open.disk_full.load(std::memory_order_acquire)) {
        const auto taken = open.flow->intake.Apply(records);
        if (!taken) return Fail(taken.error());
        records = records.subspan(*taken);
        FreezeIfDue(open);
        if (*taken > 0) {
          NoteResumed(open);
          held_since = {};
          continue;
        }
      }
      NoteHeld(open);
      const Instant now = pipeline_.clock_.Now();
      if (held_since == Instant{}) held_since = now;
      if (pipeline_.workers_stop_.load(std::memory_order_relaxed)) return false;
      if (now - held_since > kHoldMax) {
        (void)pipeline_.consumer_.Seek(open.partition, open.flow->state.next_offset());
        return false;
      }
      std::unique_lock lock(pipeline_.wake_mutex_);
      pipeline_.checkpoint_done_.wait_for(lock, kHoldSlice);
    }
    return true;
  }

  void NoteHeld(OpenPartition& open) {
    if (open.held_since_ms.load(std::memory_order_relaxed) != 0) return;
    open.held_reason = open.disk_full.load() ? "disk_full" : open.flow->intake.HeldBy();
    if (open.held_reason.empty()) open.held_reason = "tail_full";  // it has just been frozen
    open.held_since_ms.store(pipeline_.clock_.WallNow().value, std::memory_order_relaxed);
    pipeline_.reporter_.FlowHeld(open.partition, open.held_reason);
  }

  void NoteResumed(OpenPartition& open) {
    const int64_t since_ms = open.held_since_ms.exchange(0, std::memory_order_relaxed);
    if (since_ms == 0) return;
    pipeline_.reporter_.FlowResumed(open.partition, open.held_reason,
                                    milliseconds(pipeline_.clock_.WallNow().value - since_ms));
  }

  void Refuse(int32_t partition, const Watermarks& watermarks, const Error& error) {
    if (error.code == Code::kRefused && pipeline_.partitions_.rebuild()) {
      log::Warning("rebuilding", {{"partition", partition}, {"reason", error.message}});
      if (const auto from = pipeline_.partitions_.Rebuild(partition, watermarks); from) {
        (void)pipeline_.consumer_.Seek(partition, *from);
        return;
      }
    }
    pipeline_.on_refused_(error);
  }

  Pipeline& pipeline_;
  const int number_;
};

Pipeline::Pipeline(PartitionSet& partitions, Consumer& consumer, const Publication& publication,
                   Reporter& reporter, const Clock& clock, int workers, OnRefused on_refused)
    : partitions_(partitions),
      consumer_(consumer),
      reporter_(reporter),
      clock_(clock),
      on_refused_(std::move(on_refused)) {
  if (publication.snapshots != nullptr) {
    Publisher::Options options;
    options.watermarks = publication.watermarks;
    options.lease = publication.lease;
    publisher_.emplace(partitions.open(), *publication.snapshots, reporter, clock, options);
  }
  for (int number = 0; number < workers; ++number) {
    workers_.emplace_back([this, number] {
      NameThread("worker-" + std::to_string(number));
      Worker(*this, number).Run();
    });
  }
  checkpointer_ = std::thread([this] {
    NameThread("checkpointer");
    YieldToOtherThreads();
    RunCheckpointer();
  });
  if (!publisher_) return;
  publisher_thread_ = std::thread([this] {
    NameThread("publisher");
    RunPublisher();
  });
}

Pipeline::~Pipeline() { Stop(milliseconds(0)); }

void Pipeline::StopWorkers() {
  workers_stop_.store(true);
  for (std::thread& worker : workers_) {
    if (worker.joinable()) worker.join();
  }
}

void Pipeline::Stop(milliseconds drain) {
  StopWorkers();
  const Instant until = clock_.Now() + drain;
  while (publisher_ && clock_.Now() < until && publisher_->Outstanding() > 0) {
    std::this_thread::sleep_for(kHoldSlice);
  }
  stop_.store(true);
  Wake(checkpoint_wanted_);
  Wake(publish_wanted_);
  if (checkpointer_.joinable()) checkpointer_.join();
  if (publisher_thread_.joinable()) publisher_thread_.join();
}

void Pipeline::Wake(std::condition_variable& condition) {
  {
    const std::lock_guard lock(wake_mutex_);
    (&condition == &publish_wanted_ ? publish_is_wanted_ : checkpoint_is_wanted_) = true;
  }
  condition.notify_one();
}

void Pipeline::RunCheckpointer() {
  while (!stop_.load(std::memory_order_relaxed)) {
    bool some_wait = false;
    for (const PartitionPointer& open : partitions_.open().All()) {
      if (!open->flow->state.HasFrozen() || open->stopped.load()) continue;
      const int64_t committed = partitions_.CheckpointOnce(*open);
      if (committed >= 0) consumer_.Commit(open->partition, committed);
      some_wait |= committed < 0;
    }
    checkpoint_done_.notify_all();
    std::unique_lock lock(wake_mutex_);
    checkpoint_wanted_.wait_for(lock, some_wait ? kHoldSlice : kCheckpointerIdle,
                                [&] { return checkpoint_is_wanted_ || stop_.load(); });
    checkpoint_is_wanted_ = false;
  }
}

void Pipeline::RunPublisher() {
  while (!stop_.load(std::memory_order_relaxed)) {
    const milliseconds wait = publisher_->Step();
    if (wait == milliseconds(0)) continue;
    std::unique_lock lock(wake_mutex_);
    publish_wanted_.wait_for(lock, wait, [&] { return publish_is_wanted_ || stop_.load(); });
    publish_is_wanted_ = false;
  }
}

}  // namespace seen
