#pragma once
// What the index of items stores of an item and of its group: schemas/store.md.

#include <optional>
#include <string>
#include <string_view>

#include "items/item_index_port.h"

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

/// In the default family, with each position of an index whose buckets have rows of presence from their
/// first checkpoint on: its next offset once more. Older versions neither write nor change it.
inline constexpr std::string_view kIndexPresenceKey{"\x00\x01", 2};
std::string EncodePresenceMark(const IndexPosition& position);

}  // namespace seen
