#include "similar/groups/group_rows.h"

#include <algorithm>

#include "base/result.h"
#include "similar/groups/group_rules.h"

namespace seen {

void GroupRows::Clear() {
  rows_.clear();
  changed_.clear();
}

const GroupRows::Row* GroupRows::Find(ItemRef item) const {
  const auto found = rows_.find(item.number);
  return found == rows_.end() ? nullptr : &found->second;
}

void GroupRows::TakeItems(std::span<std::pair<ItemRef, std::optional<StoredItem>>> items) {
  for (auto& [item, stored] : items) {
    Row& row = rows_[item.number];
    if (!std::exchange(row.has_item, true)) row.item = std::move(stored);
  }
}

Status GroupRows::LoadItems(std::span<const ItemRef> items) {
  missing_.clear();
  for (const ItemRef& item : items) {
    Row& row = rows_[item.number];
    if (!std::exchange(row.has_item, true)) missing_.push_back(item);
  }
  if (missing_.empty()) return {};
  if (Status read = index_.Items(missing_, items_); !read) return read;
  for (size_t i = 0; i < missing_.size(); ++i) rows_[missing_[i].number].item = std::move(items_[i]);
  return {};
}

Status GroupRows::LoadGroups(std::span<const ItemRef> items) {
  missing_.clear();
  for (const ItemRef& item : items) {
    Row& row = rows_[item.number];
    if (!std::exchange(row.has_group, true)) missing_.push_back(item);
  }
  if (missing_.empty()) return {};
  if (Status read = index_.Groups(missing_, groups_); !read) return read;
  for (size_t i = 0; i < missing_.size(); ++i) rows_[missing_[i].number].group = std::move(groups_[i]);
  return {};
}

const StoredItem* GroupRows::Item(ItemRef item) const {
  const Row* row = Find(item);
  Check(row != nullptr && row->has_item, "an item's row is loaded before it is used");
  return row->item ? &*row->item : nullptr;
}

const StoredGroup* GroupRows::Group(ItemRef item) const {
  const Row* row = Find(item);
  Check(row != nullptr && row->has_group, "an item's group is loaded before it is used");
  return row->group ? &*row->group : nullptr;
}

ItemRef GroupRows::FirstOf(ItemRef item) const {
  const StoredGroup* group = Group(item);
  return group == nullptr ? item : group->first;
}

const std::string& GroupRows::GroupIdOf(ItemRef item) const {
  const StoredGroup* group = Group(item);
  return group == nullptr ? Item(item)->item_id : group->group_id;
}

StoredGroup& GroupRows::ChangeGroup(ItemRef item) {
  const StoredItem* stored = Item(item);
  Check(stored != nullptr, "a group is of an item that is there");
  Row& row = rows_[item.number];
  Check(row.has_group, "an item's group is loaded before it is changed");
  if (!row.group) {
    row.group.emplace();
    row.group->first = item;
    row.group->group_id = stored->item_id;
    row.group->similarity = 1;
  }
  if (!std::exchange(row.changed, true)) changed_.push_back(item);
  return *row.group;
}

ItemGroup ToItemGroup(const StoredItem& item, const StoredGroup* group) {
  ItemGroup out;
  out.item_id = item.item_id;
  out.created_at = item.created_at;
  if (group == nullptr) {
    out.group_id = item.item_id;
    out.found = FoundBy::kFirst;
    out.similarity = 1;
  } else {
    out.group_id = group->group_id;
    out.found = group->found;
    out.similarity = group->similarity;
    out.distance = group->distance;
    out.containment = group->containment;
    out.moved_from = group->moved_from;
    out.near.reserve(group->near.size());
    for (const StoredNear& near : group->near) out.near.push_back(near.near);
  }
  if (item.features.length == LengthClass::kEmpty) out.found = FoundBy::kNoText;
  return out;
}

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
