#include "rocks/resources.h"

#include <rocksdb/cache.h>
#include <rocksdb/utilities/memory_util.h>

#include <algorithm>
#include <map>
#include <thread>

namespace seen {
namespace {

constexpr size_t kReaders = 7;  // with the thread that waits for them, eight reads run at once

int DefaultThreads() { return std::clamp(static_cast<int>(std::thread::hardware_concurrency() / 2), 1, 4); }

}  // namespace

StoreResources::StoreResources(uint64_t block_cache_bytes, int background_threads)
    : background_threads_(background_threads > 0 ? background_threads : DefaultThreads()),
      readers_(std::make_shared<WorkPool>(kReaders, "readers")) {
  rocksdb::LRUCacheOptions cache;
  cache.capacity = block_cache_bytes;
  cache.strict_capacity_limit = false;
  cache.high_pri_pool_ratio = 0.3;
  block_cache_ = rocksdb::NewLRUCache(cache);
}

// The cache's own method can't be used: RocksDB 8 moved that class into a header which RocksDB 7 doesn't
// have.
uint64_t StoreResources::BlockCacheBytes() const {
  using rocksdb::MemoryUtil;
  std::map<MemoryUtil::UsageType, uint64_t> usage;
  MemoryUtil::GetApproximateMemoryUsageByType({}, {block_cache_.get()}, &usage).PermitUncheckedError();
  return usage[MemoryUtil::kCacheTotal];
}

}  // namespace seen
