#include "store/rocks_options.h"

#include <rocksdb/cache.h>
#include <rocksdb/convenience.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/statistics.h>
#include <rocksdb/table.h>
#include <sys/resource.h>

#include <algorithm>
#include <deque>
#include <string>
#include <vector>

#include "model/delta_fold.h"
#include "rows/keys.h"
#include "store/journal_families.h"

namespace seen {
namespace {

std::string_view ViewOf(const rocksdb::Slice& slice) { return {slice.data(), slice.size()}; }

class DeltaMergeOperator final : public rocksdb::MergeOperator {
 public:
  explicit DeltaMergeOperator(std::shared_ptr<const MergeRules> rules) : rules_(std::move(rules)) {}

  const char* Name() const override { return "seen.DeltaMerge.1"; }

  bool FullMergeV2(const MergeOperationInput& in, MergeOperationOutput* out) const override {
    std::vector<std::string_view> parts;
    parts.reserve(in.operand_list.size() + 1);
    if (in.existing_value != nullptr) parts.push_back(ViewOf(*in.existing_value));
    for (const rocksdb::Slice& operand : in.operand_list) parts.push_back(ViewOf(operand));
    return Fold(in.key, parts, out->new_value);
  }

  bool PartialMergeMulti(const rocksdb::Slice& key, const std::deque<rocksdb::Slice>& operands,
                         std::string* new_value, rocksdb::Logger*) const override {
    std::vector<std::string_view> parts;
    parts.reserve(operands.size());
    for (const rocksdb::Slice& operand : operands) parts.push_back(ViewOf(operand));
    return Fold(key, parts, *new_value);
  }

 private:
  bool Fold(const rocksdb::Slice& key, const std::vector<std::string_view>& parts, std::string& out) const {
    const auto user = UserOf(Table::kDeltas, ViewOf(key));
    if (!user || !rules_->Knows(user->filter)) return false;
    return FoldEncoded(parts, rules_->LimitsOf(user->filter), rules_->HorizonOf(user->filter), out);
  }

  const std::shared_ptr<const MergeRules> rules_;
};

class ExpiryFilter final : public rocksdb::CompactionFilter {
 public:
  explicit ExpiryFilter(std::shared_ptr<const MergeRules> rules) : rules_(std::move(rules)) {}

  const char* Name() const override { return "seen.Expiry"; }

  Decision FilterV2(int, const rocksdb::Slice& key, ValueType type, const rocksdb::Slice& value,
                    std::string* new_value, std::string*) const override {
    if (type != ValueType::kValue) return Decision::kKeep;
    const auto user = UserOf(Table::kDeltas, ViewOf(key));
    if (!user || !rules_->Knows(user->filter)) return Decision::kKeep;
    // Bytes that aren't a delta stay: their next read or merge reports them.
    switch (ExpireEncoded(ViewOf(value), rules_->HorizonOf(user->filter), *new_value)) {
      case Expired::kEverything:
        return Decision::kRemove;
      case Expired::kSomething:
        return Decision::kChangeValue;
      case Expired::kNothing:
        break;
    }
    return Decision::kKeep;
  }

 private:
  const std::shared_ptr<const MergeRules> rules_;
};

class ExpiryFilterFactory final : public rocksdb::CompactionFilterFactory {
 public:
  explicit ExpiryFilterFactory(std::shared_ptr<const MergeRules> rules) : rules_(std::move(rules)) {}

  const char* Name() const override { return "seen.ExpiryFactory"; }
  std::unique_ptr<rocksdb::CompactionFilter> CreateCompactionFilter(
      const rocksdb::CompactionFilter::Context&) override {
    return std::make_unique<ExpiryFilter>(rules_);
  }

 private:
  const std::shared_ptr<const MergeRules> rules_;
};

}  // namespace

std::shared_ptr<rocksdb::MergeOperator> MakeDeltaMergeOperator(std::shared_ptr<const MergeRules> rules) {
  return std::make_shared<DeltaMergeOperator>(std::move(rules));
}

std::shared_ptr<rocksdb::CompactionFilterFactory> MakeExpiryFilterFactory(
    std::shared_ptr<const MergeRules> rules) {
  return std::make_shared<ExpiryFilterFactory>(std::move(rules));
}

namespace {

constexpr size_t kKiB = 1024;
constexpr size_t kMiB = 1024 * kKiB;
constexpr uint64_t kDaySeconds = 86'400;

rocksdb::BlockBasedTableOptions TableOptions(const StoreResources& resources) {
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = resources.block_cache();
  // Indexes and filters use the one cache too. Every read asks those of level 0.
  table.cache_index_and_filter_blocks = true;
  table.cache_index_and_filter_blocks_with_high_priority = true;
  table.pin_l0_filter_and_index_blocks_in_cache = true;
  // The index and the filters are split into blocks of 4 KiB. The undivided index of a large file has
  // megabytes. A small cache has no space for it, so each read would load it again (docs/LEVERS.md,
  // "Levels").
  table.index_type = rocksdb::BlockBasedTableOptions::kTwoLevelIndexSearch;
  table.partition_filters = true;
  table.metadata_block_size = 4 * kKiB;
  // Most reads miss most of the level-0 files. With 10 bits, a read looks into 1% of these files in vain.
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  table.whole_key_filtering = true;
  // A value has a few hundred bytes to about 10 KB and is read alone.
  table.block_size = 8 * kKiB;
  table.checksum = rocksdb::kXXH3;
  table.format_version = 5;
  return table;
}

rocksdb::BlockBasedTableOptions JournalTableOptions(const StoreResources& resources) {
  rocksdb::BlockBasedTableOptions table = TableOptions(resources);
  // A query is about one user, so filters hold users, not rows.
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

constexpr int kOpenFilesMin = 20;  // RocksDB takes no less
constexpr int kOpenFilesMax = 512;

void SetMemory(rocksdb::Options& options) {
  // Memtables are never written: state comes in as files.
  options.write_buffer_size = 64 * kKiB;
  options.max_write_buffer_number = 2;
  options.avoid_flush_during_shutdown = true;
  options.avoid_flush_during_recovery = true;
  options.max_open_files = kOpenFilesMax;
}

}  // namespace

int OpenFilesMax(int32_t partitions) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return kOpenFilesMax;
  const uint64_t share = limit.rlim_cur / 2 / static_cast<uint64_t>(std::max(partitions, 1));
  return static_cast<int>(std::clamp<uint64_t>(share, kOpenFilesMin, kOpenFilesMax));
}

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
  // Every file is rewritten once a day at least. This bounds how long expired bytes of a user who doesn't
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
  // Files of like size are merged eight at a time, so a row is rewritten two or three times on its day. The
  // daily rewrite rewrites the row once more, merges the day into one run, and removes what was erased.
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
