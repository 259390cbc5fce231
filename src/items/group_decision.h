#pragma once
// Deciding an item: which group it joins, and which items are near it. schemas/item_groups.md says what comes
// out. The writer's.

#include <string>
#include <vector>

#include "items/group_work.h"
#include "items/prepared_item.h"
#include "items/similar_finder.h"

namespace seen {

class GroupDecision {
 public:
  explicit GroupDecision(GroupWork& work) : work_(work), finder_(work.rules, work.index, lists_) {}

  /// An item whose id isn't stored. `copies`: of its content, as the index answers. `moved_from`: the group
  /// that the id was of with its former text; empty: none. Work is written when it returns.
  Status Decide(const PreparedItem& item, const std::vector<Copy>& copies, const std::string& moved_from);

 private:
  Status JoinGroup(const ItemFeatures& features, StoredGroup& group);
  void JoinCopied(ItemRef copied, StoredGroup& group) const;
  void ListNear(StoredGroup& group);
  Status AddToNearLists(ItemRef item, const std::string& item_id, const StoredGroup& group);
  bool HasListedCopy(const std::vector<Copy>& copies, int32_t bucket) const;
  void CountFound(const PreparedItem& item, bool is_first, const StoredGroup& group);

  GroupWork& work_;
  CandidateLists lists_;  // the finder's
  SimilarFinder finder_;
  std::vector<ItemRef> refs_;
};

}  // namespace seen
