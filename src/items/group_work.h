#pragma once
// The state of taking one item: the rows that are loaded, and the changes for the index and the topic.
// GroupDecision (group_decision.h) and GroupTakingOut (group_taking_out.h) share one. Writer thread only.

#include "items/group_figures.h"
#include "items/group_outbox.h"
#include "items/group_rows.h"
#include "items/group_rules.h"
#include "items/item_index_port.h"

namespace seen {

struct GroupWork {
  GroupWork(const GroupRules& given_rules, ItemIndex& given_index, GroupSink& sink)
      : rules(given_rules), index(given_index), outbox(sink), rows(given_index) {}

  /// Puts the groups that were changed in `rows` into `change` and `outbox`.
  void KeepChangedGroups();
  /// Writes `change` to the index.
  Status WriteChange();
  bool IsGone(TimeMs created_at) const { return rules.IsGone(created_at, now); }
  int32_t FirstBucket() const { return rules.FirstBucket(now); }
  /// True: the item needs no group row. It is the first of its group, has no near items and didn't move.
  static bool IsAlone(ItemRef item, const StoredGroup& group) {
    return group.first == item && group.near.empty() && group.moved_from.empty();
  }

  const GroupRules& rules;
  ItemIndex& index;
  GroupOutbox outbox;
  IndexPosition position;  // of what is in the index, saved or not
  TimeMs now;              // index time of the item being taken
  GroupRows rows;
  IndexChange change;  // empty between two items
  GroupFigures counts;
};

}  // namespace seen
