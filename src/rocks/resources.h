#pragma once
// Resources that all partitions of a daemon share, so that their sum stays bounded.

#include <rocksdb/options.h>

#include <cstdint>
#include <memory>

#include "base/work_pool.h"

namespace rocksdb {
class Cache;
struct BlockBasedTableOptions;
}  // namespace rocksdb

namespace seen {

/// Copies share the same resources. Give a copy to every partition.
class StoreResources {
 public:
  /// `block_cache_bytes`: data, index and filter blocks of all partitions together. Running reads may exceed
  /// it by the blocks that they hold. With a strict limit, a full cache would fail look-ups.
  /// `background_threads`: for all compactions together; 0: half of the processors, 1 to 4. Each thread needs
  /// up to kCompactionBytes beside the cache. Memtables aren't used (64 KiB a partition).
  explicit StoreResources(uint64_t block_cache_bytes, int background_threads = 0);

  static constexpr uint64_t kCompactionBytes = 32 * 1024 * 1024;
  const std::shared_ptr<rocksdb::Cache>& block_cache() const { return block_cache_; }
  /// Memory of the cache's blocks now. Any thread.
  uint64_t BlockCacheBytes() const;
  int background_threads() const { return background_threads_; }
  /// For callers that read much at once.
  WorkPool& readers() const { return *readers_; }

 private:
  std::shared_ptr<rocksdb::Cache> block_cache_;
  int background_threads_;
  std::shared_ptr<WorkPool> readers_;
};

// Settings that the databases of this program share.

/// For every database. `partition`: for the log, see MakeRocksLogger.
void SetDatabase(rocksdb::DBOptions& options, const StoreResources& resources, int32_t partition);

/// For families that files are ingested into. RocksDB never slows ingestion down: the flow waits on level 0
/// instead.
void NeverSlowIngestion(rocksdb::ColumnFamilyOptions& options);

/// As NeverSlowIngestion, with level compaction and without compression.
void SetLevels(rocksdb::ColumnFamilyOptions& options);

/// For tables of rows that are read one by one. Indexes and filters stay in memory: some bytes a row. In the
/// block cache they would be blocks of megabytes, and a small cache would read the same ones again and again.
rocksdb::BlockBasedTableOptions SmallTableOptions(const StoreResources& resources);

}  // namespace seen
