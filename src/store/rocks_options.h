#pragma once
// Options of RocksDB for this load: files ingested every few seconds, merge operands a user, point reads.

#include <rocksdb/env.h>
#include <rocksdb/options.h>

#include <memory>

#include "rocks/listener.h"
#include "rocks/resources.h"
#include "store/merge_rules.h"

namespace seen {

/// `env` must outlive the database.
rocksdb::Options RocksOptions(const StoreResources& resources, rocksdb::Env* env,
                              std::shared_ptr<const MergeRules> rules,
                              std::shared_ptr<BackgroundErrors> errors, int32_t partition);

/// For the journal's families: texts that are written once and read seldom, one user at a time.
rocksdb::ColumnFamilyOptions JournalOptions(const StoreResources& resources);

}  // namespace seen
