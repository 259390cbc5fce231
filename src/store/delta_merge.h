#pragma once
// How RocksDB composes deltas, and how it forgets them.

#include <rocksdb/compaction_filter.h>
#include <rocksdb/merge_operator.h>

#include <memory>

#include "store/merge_rules.h"

namespace seen {

/// Operands and values are encoded deltas: composed in log order, expired at their filter's horizon.
/// Expiry commutes with composition, so it doesn't matter which merges happen before it. What isn't a delta
/// fails the merge, which RocksDB reports as corruption; of fingerprints that are copied as they are, who
/// reads them finds out.
std::shared_ptr<rocksdb::MergeOperator> MakeDeltaMergeOperator(std::shared_ptr<const MergeRules> rules);

/// For values that no operand reaches any more: expires them, and drops what is empty then. Operands stay:
/// the merge that folds them expires them.
std::shared_ptr<rocksdb::CompactionFilterFactory> MakeExpiryFilterFactory(
    std::shared_ptr<const MergeRules> rules);

}  // namespace seen
