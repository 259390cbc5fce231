#pragma once
// RocksDB set up for this load: files ingested every few seconds, merge operands a user, point reads.

#include <rocksdb/env.h>
#include <rocksdb/options.h>

#include <memory>

#include "store/merge_rules.h"
#include "store/rocks_listener.h"
#include "store/store_resources.h"

namespace seen {

/// `env` must outlive the database.
rocksdb::Options RocksOptions(const StoreResources& resources, rocksdb::Env* env,
                              std::shared_ptr<const MergeRules> rules,
                              std::shared_ptr<BackgroundErrors> errors, int32_t partition);

/// Levels as suit files that are ingested; nothing is compressed.
void SetLevels(rocksdb::ColumnFamilyOptions& options);

/// Of the journal's families: texts, written once, read seldom and a user at a time.
rocksdb::ColumnFamilyOptions JournalOptions(const StoreResources& resources);

}  // namespace seen
