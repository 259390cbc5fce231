#pragma once
// How RocksDB merges the lists of the index of items.

#include <rocksdb/merge_operator.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace seen {

/// Appends up to a bound: candidate lists keep their newest entries, lists of copies their oldest.
/// Associative: it doesn't matter which merges happen first. An operand that isn't a list fails the merge,
/// and RocksDB reports corruption.
std::shared_ptr<rocksdb::MergeOperator> MakeItemListMergeOperator();

/// Appends `operand` to `list` in place. A list that keeps its newest entries is cut only beyond twice the
/// bound. False: one of them isn't a list.
bool AppendToList(std::string_view key, std::string_view operand, std::string& list);

/// The merge itself, for tests and for lists in memory. False: one of `parts` isn't a list.
bool MergeLists(std::string_view key, const std::vector<std::string_view>& parts, std::string& out);

}  // namespace seen
