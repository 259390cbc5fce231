#include "rocks/levels.h"

namespace seen {
namespace {
constexpr size_t kMiB = 1024 * 1024;
}  // namespace

void SetLevels(rocksdb::ColumnFamilyOptions& options) {
  options.compaction_style = rocksdb::kCompactionStyleLevel;
  options.level_compaction_dynamic_level_bytes = true;
  options.target_file_size_base = 64 * kMiB;
  options.max_bytes_for_level_base = 256 * kMiB;
  options.level0_file_num_compaction_trigger = 4;
  // Ingestion isn't slowed by these; the flow waits on Level0Files instead.
  options.level0_slowdown_writes_trigger = 1'000'000;
  options.level0_stop_writes_trigger = 1'000'000;
  options.soft_pending_compaction_bytes_limit = 0;
  options.hard_pending_compaction_bytes_limit = 0;
  // Rice-coded gaps, hashes and numbers don't compress; keys share their prefixes already.
  options.compression = rocksdb::kNoCompression;
  options.bottommost_compression = rocksdb::kDisableCompressionOption;
}

}  // namespace seen
