#pragma once
// Decides an item: which group it joins, and which items are near it. schemas/item_groups.md describes the
// result. Writer thread only.

#include <span>
#include <string>
#include <vector>

#include "similar/groups/group_work.h"
#include "similar/groups/similar_finder.h"

namespace seen {

class GroupDecision {
 public:
  explicit GroupDecision(GroupWork& work) : work_(work), finder_(work.rules, work.index, lists_) {}

  /// `item`: its id isn't stored. `copies`: the items with its content, as the index returns them.
  /// `moved_from`: the group that the id had with its former text; empty: none. On return the change in
  /// `work` is written.
  Status Decide(const PreparedItem& item, const std::vector<Copy>& copies, const std::string& moved_from);

 private:
  Status JoinGroup(const ItemFeatures& features, StoredGroup& group);
  void JoinCopied(ItemRef copied, StoredGroup& group) const;
  void ListNear(StoredGroup& group);
  Status AddToNearLists(ItemRef item, const std::string& item_id, const StoredGroup& group);
  bool HasListedCopy(const std::vector<Copy>& copies, int32_t bucket) const;
  void CountFound(const PreparedItem& item, bool is_first, const StoredGroup& group);

  GroupWork& work_;
  CandidateLists lists_;  // the finder's buffer
  SimilarFinder finder_;
  std::vector<ItemRef> refs_;
};

/// Takes an item out, and updates the lists of its near items and its group. Writer thread only.
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
