#pragma once
// Folders of partitions that other daemons own now. They make a later restore short, and cost disk: beyond a
// budget the oldest goes, if the state topic can give back what it holds.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <set>

#include "base/mutex.h"
#include "base/repeating_thread.h"
#include "base/result.h"
#include "kafka/state_topic.h"
#include "store/store_directory.h"

namespace seen {

/// Thread-safe.
class KeptCopies {
 public:
  struct Options {
    StateTopicOptions topic;
    uint64_t bytes_max = 0;
    std::chrono::milliseconds look_every{60'000};
  };
  /// `directory` outlives this.
  KeptCopies(Options options, const StoreDirectory& directory);
  ~KeptCopies() { thread_.Stop(); }

  /// This daemon's from here on: its folder isn't touched. Waits while one is being removed.
  void Use(int32_t partition);
  /// Not any more, and closed.
  void Leave(int32_t partition);

  /// Of the folders of others' partitions, as of the last look.
  uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

 private:
  void Look();
  /// Whether a restore would reach what the folder holds.
  Result<bool> IsInTopic(StateTopicReader& reader, int32_t partition) const;

  const Options options_;
  const StoreDirectory& directory_;
  std::atomic<uint64_t> bytes_{0};
  Mutex mutex_;
  std::set<int32_t> used_ GUARDED_BY(mutex_);
  RepeatingThread thread_;
};

}  // namespace seen
