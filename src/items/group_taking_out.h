#pragma once
// Takes an item out, and updates the lists of its near items and its group. Writer thread only.

#include <span>
#include <string>
#include <vector>

#include "items/group_work.h"

namespace seen {

class GroupTakingOut {
 public:
  explicit GroupTakingOut(GroupWork& work) : work_(work) {}

  /// `item`: stored, with its row and group loaded. On return the change in `work` is written.
  Status TakeOut(ItemRef item);

 private:
  struct NewFirst {
    ItemRef item;
    StoredItem stored;
  };
  Status LeaveNearLists(ItemRef item);
  Status HandOverLists(ItemRef item, const StoredItem& stored);
  Status Regroup(ItemRef first, const std::string& group_id);
  Status RegroupLot(ItemRef first, const std::string& group_id, std::span<const ItemRef> lot,
                    std::vector<NewFirst>& firsts);
  void JoinNewFirst(ItemRef member, const StoredItem& stored, StoredGroup& group,
                    std::vector<NewFirst>& firsts);

  GroupWork& work_;
  std::vector<ItemRef> refs_;
};

}  // namespace seen
