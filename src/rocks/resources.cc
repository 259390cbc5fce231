#include "rocks/resources.h"

#include <rocksdb/cache.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>
#include <rocksdb/utilities/memory_util.h>

#include <algorithm>
#include <map>
#include <thread>

#include "rocks/listener.h"

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

namespace {
constexpr size_t kMiB = 1024 * 1024;
}  // namespace

void SetDatabase(rocksdb::DBOptions& options, const StoreResources& resources, int32_t partition) {
  options.create_if_missing = true;
  options.paranoid_checks = true;
  // Nobody reads the file of options. RocksDB writes it after the manifest. On a full disk, creating or
  // dropping a family would otherwise count as failed after it took effect. Such a family could be neither
  // created nor dropped any more.
  options.fail_if_options_file_error = false;
  // All databases of the process share the environment's threads, so this limit bounds all of them together.
  options.max_background_jobs = resources.background_threads() + 1;
  options.max_subcompactions = 1;
  options.compaction_readahead_size = 1 * kMiB;
  // The kernel sees by itself which reads are at random. A round of the refresh reads users in their order:
  // with read-ahead, a refreshed user costs two thirds of the CPU.
  options.advise_random_on_open = false;
  options.writable_file_max_buffer_size = 1 * kMiB;
  options.bytes_per_sync = 1 * kMiB;
  // A checkpoint adds one record. A short manifest keeps the next open fast.
  options.max_manifest_file_size = 16 * kMiB;
  options.skip_stats_update_on_db_open = true;  // opening must take well under a second
  options.stats_dump_period_sec = 0;
  options.stats_persist_period_sec = 0;
  options.info_log = MakeRocksLogger(partition);
  options.listeners.push_back(MakeCompactionYielder());
}

void NeverSlowIngestion(rocksdb::ColumnFamilyOptions& options) {
  options.level0_slowdown_writes_trigger = 1'000'000;
  options.level0_stop_writes_trigger = 1'000'000;
  options.soft_pending_compaction_bytes_limit = 0;
  options.hard_pending_compaction_bytes_limit = 0;
}

void SetLevels(rocksdb::ColumnFamilyOptions& options) {
  options.compaction_style = rocksdb::kCompactionStyleLevel;
  options.level_compaction_dynamic_level_bytes = true;
  options.target_file_size_base = 64 * kMiB;
  // A checkpoint's file has a megabyte or two, and each compaction rewrites the first level. So the first
  // level is small, and a compaction takes eight files. docs/LEVERS.md, "Levels".
  options.max_bytes_for_level_base = 32 * kMiB;
  options.level0_file_num_compaction_trigger = 8;
  NeverSlowIngestion(options);
  // Rice-coded gaps, hashes and numbers don't compress; keys share their prefixes already.
  options.compression = rocksdb::kNoCompression;
  options.bottommost_compression = rocksdb::kDisableCompressionOption;
}

rocksdb::BlockBasedTableOptions SmallTableOptions(const StoreResources& resources) {
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = resources.block_cache();
  table.cache_index_and_filter_blocks = false;
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  table.block_size = 4096;
  table.checksum = rocksdb::kXXH3;
  table.format_version = 5;
  return table;
}

}  // namespace seen
