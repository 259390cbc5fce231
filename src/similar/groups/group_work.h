#pragma once
// The state of taking one item: the rows that are loaded, and the changes for the index and the topic.
// GroupDecision (group_decision.h) and GroupTakingOut (group_taking_out.h) share one. Writer thread only.

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "similar/groups/group_rows.h"
#include "similar/groups/group_rules.h"
#include "similar/groups/item_index_port.h"
#include "similar/port/group_topic.h"
#include "similar/port/item_group.h"
#include "similar/port/similar_port.h"
#include "similar/text/item_features.h"

namespace seen {

/// A decoded item of the log. similar/groups/item_reading.h decodes it.
/// Views are valid while GroupFlow::Apply runs.
struct PreparedItem {
  int64_t offset = 0;
  TimeMs record_timestamp;
  std::string_view item_id;
  TimeMs created_at;                       // the record's timestamp if the item has none
  bool deleted = false;                    // then nothing below counts
  const ItemFeatures* features = nullptr;  // nullptr if deleted
};

/// Groups that wait to be sent to the topic, in order. Writer thread only.
class GroupOutbox {
 public:
  explicit GroupOutbox(GroupSink& sink) : sink_(sink) {}
  void Put(ItemGroup group) { waiting_.push_back({group.item_id, std::move(group)}); }
  void PutTombstone(std::string item_id) { waiting_.push_back({std::move(item_id), std::nullopt}); }
  /// Sends the waiting groups. kUnavailable: the sink's queue is full; the rest stays here.
  Status Send();
  /// Sends, and waits until all have arrived. kUnavailable: not within `patience`.
  Status AwaitAll(std::chrono::milliseconds patience);
  uint64_t sent_total() const { return sent_; }

 private:
  struct Record {
    std::string item_id;
    std::optional<ItemGroup> group;
  };
  GroupSink& sink_;
  std::deque<Record> waiting_;
  uint64_t sent_ = 0;
};

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
