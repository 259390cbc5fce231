#pragma once
// Settings that the databases of this program share.

#include <rocksdb/options.h>

#include <cstdint>

#include "rocks/resources.h"

namespace seen {

/// For every database. `partition`: for the log, see MakeRocksLogger.
void SetDatabase(rocksdb::DBOptions& options, const StoreResources& resources, int32_t partition);

/// For families that files are ingested into. RocksDB never slows ingestion down: the flow waits on level 0
/// instead.
void NeverSlowIngestion(rocksdb::ColumnFamilyOptions& options);

/// As NeverSlowIngestion, with level compaction and without compression.
void SetLevels(rocksdb::ColumnFamilyOptions& options);

}  // namespace seen
