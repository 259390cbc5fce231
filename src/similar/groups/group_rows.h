#pragma once
// The rows that one decision reads and changes. Each is read once.

#include <span>
#include <unordered_map>
#include <vector>

#include "similar/groups/item_index_port.h"

namespace seen {

class GroupRows {
 public:
  explicit GroupRows(const ItemIndex& index) : index_(index) {}

  void Clear();
  /// Takes over rows that are loaded already.
  void TakeItems(std::span<std::pair<ItemRef, std::optional<StoredItem>>> items);
  Status LoadItems(std::span<const ItemRef> items);
  Status LoadGroups(std::span<const ItemRef> items);
  /// The row must be loaded. nullptr: there is none.
  const StoredItem* Item(ItemRef item) const;
  const StoredGroup* Group(ItemRef item) const;
  /// The first item of the item's group: the item itself if it is the first.
  ItemRef FirstOf(ItemRef item) const;
  const std::string& GroupIdOf(ItemRef item) const;
  /// The group, to be changed. The item must be stored.
  StoredGroup& ChangeGroup(ItemRef item);
  /// In the order of their first ChangeGroup.
  std::span<const ItemRef> changed() const { return changed_; }

 private:
  struct Row {
    std::optional<StoredItem> item;
    std::optional<StoredGroup> group;
    bool has_item = false, has_group = false, changed = false;  // has_: loaded
  };
  const Row* Find(ItemRef item) const;

  const ItemIndex& index_;
  std::unordered_map<uint64_t, Row> rows_;  // by number
  std::vector<ItemRef> changed_;
  std::vector<ItemRef> missing_;
  std::vector<std::optional<StoredItem>> items_;
  std::vector<std::optional<StoredGroup>> groups_;
};

/// The group as the topic has it.
ItemGroup ToItemGroup(const StoredItem& item, const StoredGroup* group);

// The near items of one item: sorted, bounded, with unique ids.

/// False: AddNear would not change the list.
bool TakesNear(const StoredNear& near, const std::vector<StoredNear>& list);
/// Replaces an entry with the same id. False: the list stays as it was, for example because it is full of
/// nearer items.
bool AddNear(const StoredNear& near, std::vector<StoredNear>& list);
/// False: the item wasn't in the list.
bool DropNear(ItemRef item, std::vector<StoredNear>& list);

}  // namespace seen
