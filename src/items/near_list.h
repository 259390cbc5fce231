#pragma once
// The near items of one item: sorted, bounded, with unique ids.

#include <vector>

#include "items/item_index_port.h"

namespace seen {

/// False: AddNear would not change the list.
bool TakesNear(const StoredNear& near, const std::vector<StoredNear>& list);
/// Replaces an entry with the same id. False: the list stays as it was, for example because it is full of
/// nearer items.
bool AddNear(const StoredNear& near, std::vector<StoredNear>& list);
/// False: the item wasn't in the list.
bool DropNear(ItemRef item, std::vector<StoredNear>& list);

}  // namespace seen
