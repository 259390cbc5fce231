#pragma once
// A handler that remembers its records, and fails when a test says so.

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "consume/topic_handler.h"
#include "support/fake_group_log.h"
#include "support/fakes.h"

namespace seen {

/// Thread-safe. The values stay when a partition closes. The offset is durable up to the last checkpoint.
class RecordingTaker final : public TopicHandler {
 public:
  struct Kept {
    int64_t next_offset = -1;  // durable; -1: no state yet
    std::vector<std::string> values;
    std::vector<std::pair<int64_t, int64_t>> lost;
    int opened = 0, closed = 0, dropped = 0, resumed = 0;
    int64_t end = -1;
    std::optional<Error> open_fails;
    std::optional<Error> take_fails;  // fails once
    std::optional<Error> idle_fails;  // fails once
    size_t room = SIZE_MAX;           // how many more records it takes
    bool waits_alone = false;         // for room
    std::string refusal;
  };

  class Taken final : public PartitionHandler {
   public:
    Taken(RecordingTaker& handler, int32_t partition, int64_t next)
        : handler_(handler), partition_(partition), next_(next) {}
    Result<size_t> Handle(std::span<const Record> records) override {
      const std::lock_guard lock(handler_.mutex_);
      Kept& kept = handler_.kept_[partition_];
      if (kept.take_fails) return Fail(*std::exchange(kept.take_fails, std::nullopt));
      size_t taken = 0;
      for (; taken < records.size() && kept.room > 0; ++taken) {
        EXPECT_EQ(records[taken].offset, next_) << "records come in order, each once";
        next_ = records[taken].offset + 1;
        kept.values.emplace_back(records[taken].value);
        if (kept.room != SIZE_MAX) --kept.room;
      }
      return taken;
    }
    void ReachedEnd(int64_t end_offset) override {
      const std::lock_guard lock(handler_.mutex_);
      handler_.kept_[partition_].end = end_offset;
    }
    void SkipLost(int64_t low) override {
      const std::lock_guard lock(handler_.mutex_);
      handler_.kept_[partition_].lost.emplace_back(next_, low);
      next_ = low;
    }
    int64_t next_offset() const override { return next_; }
    Result<std::optional<int64_t>> Idle() override {
      const std::lock_guard lock(handler_.mutex_);
      Kept& kept = handler_.kept_[partition_];
      if (kept.idle_fails) return Fail(*std::exchange(kept.idle_fails, std::nullopt));
      kept.next_offset = next_;
      commit_ = next_;
      return std::nullopt;
    }
    void Held() override {
      handler_.held += is_held_ ? 0 : 1;
      is_held_ = true;
    }
    bool WaitsAlone() const override {
      const std::lock_guard lock(handler_.mutex_);
      return handler_.kept_[partition_].waits_alone;
    }
    void Resumed() override {
      const std::lock_guard lock(handler_.mutex_);
      ++handler_.kept_[partition_].resumed;
      is_held_ = false;
    }
    int64_t CommitOffset() const override { return commit_; }
    void Close(const Closing& closing) override {
      const std::lock_guard lock(handler_.mutex_);
      Kept& kept = handler_.kept_[partition_];
      ++kept.closed;
      if (!closing.checkpoint) return;
      kept.next_offset = next_;
      commit_ = next_;
    }

   private:
    RecordingTaker& handler_;
    bool is_held_ = false;
    const int32_t partition_;
    int64_t next_;
    std::atomic<int64_t> commit_{-1};
  };

  Result<std::shared_ptr<PartitionHandler>> Open(const Assignment& assignment, const GroupLog&) override {
    const std::lock_guard lock(mutex_);
    Kept& kept = kept_[assignment.partition];
    ++kept.opened;
    if (kept.open_fails) return Fail(*kept.open_fails);
    const int64_t next = kept.next_offset >= 0 ? kept.next_offset : assignment.watermarks.low;
    return std::make_shared<Taken>(*this, assignment.partition, next);
  }
  Status Drop(int32_t partition) override {
    const std::lock_guard lock(mutex_);
    Kept& kept = kept_[partition];
    ++kept.dropped;
    kept.next_offset = -1;
    kept.values.clear();
    kept.open_fails.reset();
    return {};
  }
  void Refused(int32_t partition, const std::string& reason) override {
    const std::lock_guard lock(mutex_);
    kept_[partition].refusal = reason;
  }

  Kept Of(int32_t partition) {
    const std::lock_guard lock(mutex_);
    return kept_[partition];
  }
  template <typename F>
  void With(int32_t partition, F&& change) {
    const std::lock_guard lock(mutex_);
    change(kept_[partition]);
  }
  std::atomic<int> held{0};

 private:
  std::mutex mutex_;
  std::map<int32_t, Kept> kept_;  // mutex_
};

inline void Fill(sim::FakeTopic& topic, int32_t partition, int from, int to) {
  for (int i = from; i < to; ++i) topic.Append(partition, {{1'763'700'000'000 + i}, "k", std::to_string(i)});
}

inline std::vector<std::string> Values(int from, int to) {
  std::vector<std::string> values;
  for (int i = from; i < to; ++i) values.push_back(std::to_string(i));
  return values;
}

}  // namespace seen
