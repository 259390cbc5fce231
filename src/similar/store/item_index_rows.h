#pragma once
// The rows that the index of items stores for an item and its group: schemas/store.md.

#include <optional>
#include <string>
#include <string_view>

#include "similar/groups/item_index_port.h"

namespace seen {

void EncodeStoredItem(const StoredItem& item, std::string& out);
/// nullopt: EncodeStoredItem didn't write it.
std::optional<StoredItem> DecodeStoredItem(std::string_view bytes);

void EncodeStoredGroup(const StoredGroup& group, std::string& out);
std::optional<StoredGroup> DecodeStoredGroup(std::string_view bytes);

/// In the default family.
inline constexpr std::string_view kIndexPositionKey{"\x00", 1};
void EncodeIndexPosition(const IndexPosition& position, std::string& out);
std::optional<IndexPosition> DecodeIndexPosition(std::string_view bytes);

/// In the default family. It repeats the next offset of each position, if the index's buckets have had rows
/// of presence since their first checkpoint. Older versions neither write nor change it.
inline constexpr std::string_view kIndexPresenceKey{"\x00\x01", 2};
std::string EncodePresenceMark(const IndexPosition& position);

}  // namespace seen
