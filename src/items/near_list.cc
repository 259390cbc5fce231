#include "items/near_list.h"

#include <algorithm>

#include "items/group_rules.h"

namespace seen {

bool TakesNear(const StoredNear& near, const std::vector<StoredNear>& list) {
  if (list.size() < kNearItemsMax || IsNearer(near, list.back())) return true;
  return std::any_of(list.begin(), list.end(),
                     [&](const auto& old) { return old.near.item_id == near.near.item_id; });
}

bool AddNear(const StoredNear& near, std::vector<StoredNear>& list) {
  const auto same = std::find_if(list.begin(), list.end(),
                                 [&](const auto& old) { return old.near.item_id == near.near.item_id; });
  const bool replaces = same != list.end();
  if (replaces && *same == near) return false;
  if (replaces) list.erase(same);
  const auto at =
      std::find_if(list.begin(), list.end(), [&](const auto& old) { return IsNearer(near, old); });
  if (at == list.end() && list.size() >= kNearItemsMax) return replaces;
  list.insert(at, near);
  if (list.size() > kNearItemsMax) list.pop_back();
  return true;
}

bool DropNear(ItemRef item, std::vector<StoredNear>& list) {
  return std::erase_if(list, [&](const auto& near) { return near.item == item; }) > 0;
}

}  // namespace seen
