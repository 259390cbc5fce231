#pragma once
// Settings that the databases of this program share.

#include <rocksdb/options.h>

#include <cstdint>

#include "rocks/resources.h"

namespace seen {

/// Of every database. `partition`: for the log, see MakeRocksLogger.
void SetDatabase(rocksdb::DBOptions& options, const StoreResources& resources, int32_t partition);

/// Of families that files are ingested into. Nothing slows ingestion down: the flow waits on level 0 instead.
void NeverSlowIngestion(rocksdb::ColumnFamilyOptions& options);

/// The same, in levels, and without compression.
void SetLevels(rocksdb::ColumnFamilyOptions& options);

}  // namespace seen
