#pragma once
// Folders of partitions that other daemons own now. Such a folder makes a later restore short, but takes disk
// space. If the folders exceed a budget, the oldest is removed, provided that the state topic has its state.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <set>

#include "base/mutex.h"
#include "base/result.h"
#include "base/threads.h"
#include "kafka/state_topic.h"
#include "state_stream/retention.h"
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
  /// `directory` outlives this object.
  KeptCopies(Options options, const StoreDirectory& directory);
  ~KeptCopies() { thread_.Stop(); }

  /// The partition is this daemon's from now on: its folder isn't touched. Waits while a folder is being
  /// removed.
  void Use(int32_t partition);
  /// The partition is no longer this daemon's, and is closed.
  void Leave(int32_t partition);

  /// Bytes in the folders of other daemons' partitions, as of the last look.
  uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

 private:
  void Look();
  bool IsUsed(int32_t partition);
  bool Remove(const KeptCopy& copy);
  /// Whether a restore would reach the folder's position.
  Result<bool> IsInTopic(StateTopicReader& reader, int32_t partition) const;

  const Options options_;
  const StoreDirectory& directory_;
  std::atomic<uint64_t> bytes_{0};
  Mutex mutex_;
  std::set<int32_t> used_ GUARDED_BY(mutex_);
  RepeatingThread thread_;
};

}  // namespace seen
