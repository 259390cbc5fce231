#pragma once
// How RocksDB composes deltas and expires them.

#include <rocksdb/compaction_filter.h>
#include <rocksdb/merge_operator.h>

#include <memory>

#include "store/merge_rules.h"

namespace seen {

/// Composes operands and values, which are encoded deltas, in log order. Expires them at their filter's
/// horizon. Expiry commutes with composition, so it doesn't matter which merges happen before it. Bytes that
/// aren't a delta fail the merge, and RocksDB reports corruption. Fingerprints that are only copied aren't
/// checked: their readers find the damage.
std::shared_ptr<rocksdb::MergeOperator> MakeDeltaMergeOperator(std::shared_ptr<const MergeRules> rules);

/// For values that no operand reaches any more: expires them, and drops values that become empty. Operands
/// stay: the merge that folds operands also expires them.
std::shared_ptr<rocksdb::CompactionFilterFactory> MakeExpiryFilterFactory(
    std::shared_ptr<const MergeRules> rules);

}  // namespace seen
