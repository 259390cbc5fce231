#pragma once
// What all partitions of a daemon share, so that their sum stays bounded.

#include <cstdint>
#include <memory>

#include "base/work_pool.h"

namespace rocksdb {
class Cache;
}

namespace seen {

/// Copies share. Give one to every partition.
class StoreResources {
 public:
  /// `block_cache_bytes`: data, index and filter blocks of all partitions together. Reads that are under way
  /// may go over it by the blocks they hold: refusing them would turn a full cache into failed look-ups.
  /// `background_threads`: for all compactions together; 0: half of the processors, 1 to 4. Each needs up to
  /// kCompactionBytes beside the cache. Memtables aren't used (64 KiB a partition).
  explicit StoreResources(uint64_t block_cache_bytes, int background_threads = 0);

  static constexpr uint64_t kCompactionBytes = 32 * 1024 * 1024;
  const std::shared_ptr<rocksdb::Cache>& block_cache() const { return block_cache_; }
  /// Memory of its blocks now. Any thread.
  uint64_t BlockCacheBytes() const;
  int background_threads() const { return background_threads_; }
  /// For whoever reads much at once.
  WorkPool& readers() const { return *readers_; }

 private:
  std::shared_ptr<rocksdb::Cache> block_cache_;
  int background_threads_;
  std::shared_ptr<WorkPool> readers_;
};

}  // namespace seen
