#include "rocks/resources.h"

#include <rocksdb/cache.h>

#include <algorithm>
#include <thread>

namespace seen {
namespace {

int DefaultThreads() { return std::clamp(static_cast<int>(std::thread::hardware_concurrency() / 2), 1, 4); }

}  // namespace

StoreResources::StoreResources(uint64_t block_cache_bytes, int background_threads)
    : background_threads_(background_threads > 0 ? background_threads : DefaultThreads()) {
  rocksdb::LRUCacheOptions cache;
  cache.capacity = block_cache_bytes;
  cache.strict_capacity_limit = false;
  cache.high_pri_pool_ratio = 0.3;
  block_cache_ = rocksdb::NewLRUCache(cache);
}

uint64_t StoreResources::BlockCacheBytes() const { return block_cache_->GetUsage(); }

}  // namespace seen
