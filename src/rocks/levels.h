#pragma once
// Levels of the databases that files are ingested into.

#include <rocksdb/options.h>

namespace seen {

/// Nothing is compressed, and nothing slows ingestion down: the flow waits on level 0 instead.
void SetLevels(rocksdb::ColumnFamilyOptions& options);

}  // namespace seen
