#pragma once
// The near items of one item: sorted, bounded, one of an id.

#include <vector>

#include "items/item_index_port.h"

namespace seen {

/// Whether AddNear would change the list.
bool TakesNear(const StoredNear& near, const std::vector<StoredNear>& list);
/// False where the list stays as it was: it is full of nearer ones. Another of the same id goes.
bool AddNear(const StoredNear& near, std::vector<StoredNear>& list);
/// False where it wasn't in it.
bool DropNear(ItemRef item, std::vector<StoredNear>& list);

}  // namespace seen
