#include "store/rocks_options.h"

#include <rocksdb/cache.h>
#include <rocksdb/convenience.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/statistics.h>
#include <rocksdb/table.h>

#include <algorithm>

#include "rocks/options.h"
#include "store/delta_merge.h"
#include "store/journal_keys.h"

namespace seen {
namespace {

constexpr size_t kKiB = 1024;
constexpr size_t kMiB = 1024 * kKiB;
constexpr uint64_t kDaySeconds = 86'400;

rocksdb::BlockBasedTableOptions TableOptions(const StoreResources& resources) {
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = resources.block_cache();
  // Indexes and filters count against the one cache too; those of level 0 are asked by every read.
  table.cache_index_and_filter_blocks = true;
  table.cache_index_and_filter_blocks_with_high_priority = true;
  table.pin_l0_filter_and_index_blocks_in_cache = true;
  // In blocks of 4 KiB each. Whole, the index of a large file is megabytes: a small cache has no room for it,
  // and each read would read it again (docs/PERFORMANCE.md, "Levels").
  table.index_type = rocksdb::BlockBasedTableOptions::kTwoLevelIndexSearch;
  table.partition_filters = true;
  table.metadata_block_size = 4 * kKiB;
  // Most reads miss most of the level-0 files. 10 bits: 1% of them are looked into in vain.
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  table.whole_key_filtering = true;
  // A value is a few hundred bytes to about 10 KB and read alone.
  table.block_size = 8 * kKiB;
  table.checksum = rocksdb::kXXH3;
  table.format_version = 5;
  return table;
}

rocksdb::BlockBasedTableOptions JournalTableOptions(const StoreResources& resources) {
  rocksdb::BlockBasedTableOptions table = TableOptions(resources);
  // A question is about one user: filters know users, not rows.
  table.whole_key_filtering = false;
  table.cache_index_and_filter_blocks_with_high_priority = false;
  table.pin_l0_filter_and_index_blocks_in_cache = false;
  table.block_size = 16 * kKiB;
  return table;
}

rocksdb::CompressionType BestCompression() {
  const auto supported = rocksdb::GetSupportedCompressions();
  for (const auto type : {rocksdb::kZSTD, rocksdb::kLZ4Compression}) {
    if (std::find(supported.begin(), supported.end(), type) != supported.end()) return type;
  }
  return rocksdb::kNoCompression;
}

void SetMemory(rocksdb::Options& options) {
  // Memtables are never written: state comes in as files.
  options.write_buffer_size = 64 * kKiB;
  options.max_write_buffer_number = 2;
  options.avoid_flush_during_shutdown = true;
  options.avoid_flush_during_recovery = true;
  options.max_open_files = 512;
}

}  // namespace

rocksdb::Options RocksOptions(const StoreResources& resources, rocksdb::Env* env,
                              std::shared_ptr<const MergeRules> rules,
                              std::shared_ptr<BackgroundErrors> errors, int32_t partition) {
  rocksdb::Options options;
  options.env = env;
  SetDatabase(options, resources, partition);
  options.merge_operator = MakeDeltaMergeOperator(rules);
  options.compaction_filter_factory = MakeExpiryFilterFactory(std::move(rules));
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(TableOptions(resources)));
  SetLevels(options);
  // Every file is rewritten once a day at least: what bounds how long expired bytes of a user who doesn't
  // come back stay on disk.
  options.periodic_compaction_seconds = kDaySeconds;
  SetMemory(options);
  options.listeners.push_back(std::move(errors));
  options.statistics = rocksdb::CreateDBStatistics();
  options.statistics->set_stats_level(rocksdb::StatsLevel::kExceptHistogramOrTimers);
  return options;
}

rocksdb::ColumnFamilyOptions JournalOptions(const StoreResources& resources) {
  rocksdb::ColumnFamilyOptions options;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(JournalTableOptions(resources)));
  options.prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(kJournalUserBytes));
  options.compression = BestCompression();
  options.compression_opts.level = 1;
  options.write_buffer_size = 64 * kKiB;
  options.max_write_buffer_number = 2;
  options.target_file_size_base = 64 * kMiB;
  // Files of like size are merged eight at a time: a row is rewritten two or three times on its day, and once
  // more by the daily rewriting, which also makes one run of the day and rids it of what was erased.
  options.compaction_style = rocksdb::kCompactionStyleUniversal;
  options.compaction_options_universal.size_ratio = 20;
  options.compaction_options_universal.min_merge_width = 4;
  options.compaction_options_universal.max_size_amplification_percent = 1'000'000;
  options.level0_file_num_compaction_trigger = 8;
  NeverSlowIngestion(options);
  options.periodic_compaction_seconds = kDaySeconds;
  return options;
}

}  // namespace seen
