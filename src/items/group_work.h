#pragma once
// What the taking of one item reads and changes: the rows it has loaded, and what goes into the index and to
// the topic. Deciding (group_decision.h) and taking out (group_taking_out.h) share one. The writer's.

#include "items/group_figures.h"
#include "items/group_outbox.h"
#include "items/group_rows.h"
#include "items/group_rules.h"
#include "items/item_index_port.h"

namespace seen {

struct GroupWork {
  GroupWork(const GroupRules& given_rules, ItemIndex& given_index, GroupSink& sink)
      : rules(given_rules), index(given_index), outbox(sink), rows(given_index) {}

  /// Into the change and the outbox: the groups that were changed in `rows`.
  void KeepChangedGroups();
  /// The change, into the index.
  Status WriteChange();
  bool IsGone(TimeMs created_at) const { return rules.IsGone(created_at, now); }
  int32_t FirstBucket() const { return rules.FirstBucket(now); }
  /// It needs no row: the first of its group, like nothing.
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
