#include "item_store/item_index_options.h"

#include <rocksdb/cache.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>

#include "item_store/item_list_merge.h"
#include "rocks/options.h"

namespace seen {
namespace {

constexpr size_t kKiB = 1024;

}  // namespace

rocksdb::Options ItemIndexRocksOptions(const StoreResources& resources, rocksdb::Env* env,
                                       std::shared_ptr<BackgroundErrors> errors, int32_t partition) {
  rocksdb::Options options(rocksdb::DBOptions(), BucketFamilyOptions(resources));
  SetDatabase(options, resources, partition);
  options.env = env;
  // Nothing is ever in a memtable: a checkpoint's files are ingested together, with the position.
  options.avoid_flush_during_shutdown = true;
  options.avoid_flush_during_recovery = true;
  options.allow_concurrent_memtable_write = false;
  options.max_open_files = 512;
  options.listeners.push_back(std::move(errors));
  return options;
}

rocksdb::ColumnFamilyOptions BucketFamilyOptions(const StoreResources& resources) {
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = resources.block_cache();
  // ItemPresence (item_store/item_presence.h) lets look-ups through only for keys that exist. Most of these
  // are in the last level, which needs no filter then. The remaining filters and the indexes are about a
  // hundredth of the data and stay in memory. In the block cache they would be blocks of megabytes, and a
  // small cache would read the same ones again and again.
  table.cache_index_and_filter_blocks = false;
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  table.whole_key_filtering = true;
  table.data_block_index_type = rocksdb::BlockBasedTableOptions::kDataBlockBinaryAndHash;
  table.block_size = 4 * kKiB;
  table.checksum = rocksdb::kXXH3;
  table.format_version = 5;

  rocksdb::ColumnFamilyOptions options;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  options.optimize_filters_for_hits = true;
  options.merge_operator = MakeItemListMergeOperator();
  options.write_buffer_size = 64 * kKiB;
  SetLevels(options);
  return options;
}

}  // namespace seen
