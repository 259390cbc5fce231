#pragma once
// Options of RocksDB for this load: files ingested every few seconds, merge operands a user, point reads.

#include <rocksdb/compaction_filter.h>
#include <rocksdb/env.h>
#include <rocksdb/merge_operator.h>
#include <rocksdb/options.h>

#include <memory>

#include "rocks/listener.h"
#include "rocks/resources.h"
#include "store/merge_rules.h"

namespace seen {

// How RocksDB composes deltas and expires them.

/// Composes operands and values, which are encoded deltas, in log order. Expires them at their filter's
/// horizon. Expiry commutes with composition, so it doesn't matter which merges happen before it. Bytes that
/// aren't a delta fail the merge, and RocksDB reports corruption. Fingerprints that are only copied aren't
/// checked: their readers find the damage.
std::shared_ptr<rocksdb::MergeOperator> MakeDeltaMergeOperator(std::shared_ptr<const MergeRules> rules);

/// For values that no operand reaches any more: expires them, and drops values that become empty. Operands
/// stay: the merge that folds operands also expires them.
std::shared_ptr<rocksdb::CompactionFilterFactory> MakeExpiryFilterFactory(
    std::shared_ptr<const MergeRules> rules);

/// `env` must outlive the database.
rocksdb::Options RocksOptions(const StoreResources& resources, rocksdb::Env* env,
                              std::shared_ptr<const MergeRules> rules,
                              std::shared_ptr<BackgroundErrors> errors, int32_t partition);

/// The files that one of a topic's partitions may keep open. All of them may come to this process, and they
/// take half of its limit. RocksDB closes the files that it used longest ago.
int OpenFilesMax(int32_t partitions);

/// For the journal's families: texts that are written once and read seldom, one user at a time.
rocksdb::ColumnFamilyOptions JournalOptions(const StoreResources& resources);

}  // namespace seen
