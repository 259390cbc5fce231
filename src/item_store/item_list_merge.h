#pragma once
// How RocksDB composes the lists of the index of items.

#include <rocksdb/merge_operator.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace seen {

/// Appends, bounded: candidate lists keep their newest entries, lists of copies their oldest. Associative, so
/// that it doesn't matter which merges happen first. What isn't a list fails the merge, which RocksDB reports
/// as corruption.
std::shared_ptr<rocksdb::MergeOperator> MakeItemListMergeOperator();

/// Appends one to a list in place; what is beyond twice the bound goes. False: one of them isn't a list.
bool AppendToList(std::string_view key, std::string_view operand, std::string& list);

/// The same, for tests and lists at hand. False: one of `parts` isn't a list.
bool MergeLists(std::string_view key, const std::vector<std::string_view>& parts, std::string& out);

}  // namespace seen
