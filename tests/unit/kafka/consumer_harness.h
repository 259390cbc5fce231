#pragma once
// A consumer with its threads. The harness remembers all calls of its handlers.

#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "broker_fixture.h"
#include "kafka/consumer.h"

namespace seen {

/// Runs a control thread and the workers from construction to Stop.
class ConsumerHarness final : public RebalanceHandler, public WorkerHandler {
 public:
  struct OutOfRange {
    int32_t partition;
    int64_t wanted;
    Watermarks now;
  };

  /// `starts`: partition -> offset to start from. Other partitions start from their low watermark.
  explicit ConsumerHarness(const Consumer::Options& options, std::map<int32_t, int64_t> starts = {},
                           std::set<int32_t> unread = {}, std::map<int32_t, Anchor> last_read = {})
      : starts_(std::move(starts)),
        unread_(std::move(unread)),
        last_read_(std::move(last_read)),
        consumer_(Consumer::Open(options, *this).value()) {
    threads_.emplace_back([this] {
      while (!stopping_) {
        if (const auto status = consumer_->PollControl(std::chrono::milliseconds(20)); !status) {
          const std::lock_guard lock(mutex_);
          failure_ = status.error();
          return;
        }
      }
    });
    for (int worker = 0; worker < options.workers; ++worker) {
      threads_.emplace_back([this, worker] {
        while (!stopping_) consumer_->PollWorker(worker, std::chrono::milliseconds(20), *this);
      });
    }
  }
  ~ConsumerHarness() override { Stop(); }

  void Stop() {
    stopping_ = true;
    for (auto& thread : threads_) thread.join();
    threads_.clear();
    consumer_->Close();
  }

  Result<std::optional<int64_t>> OnAssigned(const Assignment& assignment) override {
    const std::lock_guard lock(mutex_);
    ++asked_[assignment.partition];
    EXPECT_FALSE(next_.contains(assignment.partition)) << "assigned, and not revoked since";
    assignments_[assignment.partition] = assignment;
    if (unavailable_ > 0) {
      --unavailable_;
      return Fail(Code::kUnavailable, "not yet");
    }
    if (refusal_) return Fail(*refusal_);
    if (unread_.contains(assignment.partition)) return std::nullopt;
    const auto start = starts_.find(assignment.partition);
    const int64_t offset = start == starts_.end() ? assignment.watermarks.low : start->second;
    next_[assignment.partition] = offset;
    return offset;
  }
  Anchor LastRead(int32_t partition) override {
    const std::lock_guard lock(mutex_);
    return last_read_[partition];
  }
  void OnRevoked(std::span<const int32_t> partitions, bool) override {
    const std::lock_guard lock(mutex_);
    for (const int32_t partition : partitions) {
      next_.erase(partition);
      ++revoked_[partition];
    }
  }
  void OnBatch(const PartitionBatch& batch) override {
    const std::lock_guard lock(mutex_);
    EXPECT_TRUE(next_.contains(batch.partition)) << "not assigned";
    for (const auto& record : batch.records) {
      EXPECT_EQ(record.offset, next_[batch.partition]) << "stale, lost or doubled";
      next_[batch.partition] = record.offset + 1;
      offsets_[batch.partition].push_back(record.offset);
      last_value_ = std::string(record.value);
    }
    if (batch.end_offset >= 0) ends_[batch.partition] = batch.end_offset;
    if (on_batch_) on_batch_(batch);
  }
  void OnOffsetOutOfRange(int32_t partition, int64_t wanted, const Watermarks& now) override {
    const std::lock_guard lock(mutex_);
    out_of_range_.push_back({partition, wanted, now});
    next_[partition] = now.low;
    EXPECT_TRUE(consumer_->Seek(partition, now.low));
  }

  Consumer& consumer() { return *consumer_; }
  template <typename F>
  auto With(F&& read) {
    const std::lock_guard lock(mutex_);
    return read(*this);
  }
  size_t records() {
    return With([](auto& h) {
      size_t sum = 0;
      for (const auto& [partition, offsets] : h.offsets_) sum += offsets.size();
      return sum;
    });
  }
  int64_t next(int32_t partition) {
    return With([&](auto& h) { return h.next_.contains(partition) ? h.next_[partition] : -1; });
  }
  size_t ends() {
    return With([](auto& h) { return h.ends_.size(); });
  }

  // mutex_ guards these.
  std::mutex mutex_;
  std::map<int32_t, int64_t> starts_;
  std::map<int32_t, Assignment> assignments_;
  std::map<int32_t, int> asked_;
  std::map<int32_t, int> revoked_;
  std::set<int32_t> unread_;  // assigned, but must not be read
  std::map<int32_t, Anchor> last_read_;
  std::map<int32_t, int64_t> next_;
  std::map<int32_t, std::vector<int64_t>> offsets_;
  std::map<int32_t, int64_t> ends_;
  std::vector<OutOfRange> out_of_range_;
  std::string last_value_;
  int unavailable_ = 0;
  std::optional<Error> refusal_;
  std::optional<Error> failure_;
  std::function<void(const PartitionBatch&)> on_batch_;

 private:
  std::unique_ptr<Consumer> consumer_;
  std::atomic<bool> stopping_{false};
  std::vector<std::thread> threads_;
};

}  // namespace seen
