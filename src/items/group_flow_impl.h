#pragma once
// GroupFlow's parts, for its own files: taking an item (group_flow.cc), deciding one (group_decision.cc),
// taking one out and what becomes of its group (group_taking_out.cc), what goes out (group_outbox.cc).

#include <atomic>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

#include "items/group_flow.h"
#include "items/group_rows.h"
#include "items/group_rules.h"
#include "items/similar_finder.h"

namespace seen {

/// Groups on their way to the topic, in order.
class GroupOutbox {
 public:
  explicit GroupOutbox(GroupSink& sink) : sink_(sink) {}
  void Put(ItemGroup group) { waiting_.push_back({group.item_id, std::move(group)}); }
  void PutTombstone(std::string item_id) { waiting_.push_back({std::move(item_id), std::nullopt}); }
  /// Sends what waits. kUnavailable: the sink's queue stays full; the rest goes on waiting.
  Status Send();
  /// Sends, and waits until all has arrived.
  Status AwaitAll();

 private:
  struct Record {
    std::string item_id;
    std::optional<ItemGroup> group;
  };
  GroupSink& sink_;
  std::deque<Record> waiting_;
};

class GroupFlow::Impl {
 public:
  Impl(const GroupOptions& options, ItemIndex& index, GroupSink& sink)
      : rules_(options), index_(index), outbox_(sink), rows_(index), finder_(rules_, index, lists_) {}

  Status Open();
  Status Apply(std::span<const PreparedItem> items);
  void Pass(int64_t offset);
  int64_t next_offset() const { return next_offset_.load(std::memory_order_relaxed); }
  Status Checkpoint();

  Result<std::vector<NearItem>> Similar(const ItemFeatures& features, size_t limit,
                                        std::string_view except) const;
  Result<std::optional<ItemGroup>> Group(std::string_view item_id) const;
  GroupFigures Figures() const;

 private:
  void CorrectIndexTime();
  Status Take(const PreparedItem& item);
  Status TakeDeleted(const PreparedItem& item);
  /// What is stored of the id and in the window, with its row and group loaded; nullopt: nothing.
  Result<std::optional<ItemRef>> FindStored(std::string_view item_id, std::optional<uint64_t> content_hash);

  // Deciding
  Status Decide(const PreparedItem& item, const std::string& moved_from);
  Status JoinGroup(const ItemFeatures& features, StoredGroup& group);
  void ListNear(StoredGroup& group);
  Status TellNear(ItemRef item, const std::string& item_id, const StoredGroup& group);
  bool HasListedCopy(int32_t bucket) const;

  // Taking out
  Status TakeOut(ItemRef item);
  Status LeaveNearLists(ItemRef item);
  Status HandOverLists(ItemRef item, const StoredItem& stored);
  Status Regroup(ItemRef first, const std::string& group_id);
  struct NewFirst {
    ItemRef item;
    StoredItem stored;
  };
  Status RegroupLot(ItemRef first, const std::string& group_id, std::span<const ItemRef> lot,
                    std::vector<NewFirst>& firsts);

  Status WriteChange();
  void KeepChangedGroups();  // for the index and for the topic
  void Count(const FinderCounts& counts);
  static bool IsAlone(ItemRef item, const StoredGroup& group);
  void PublishFigures();

  const GroupRules rules_;
  ItemIndex& index_;
  GroupOutbox outbox_;

  // The writer's.
  IndexPosition position_;
  TimeMs now_;  // index time of the item being taken
  std::optional<Error> broken_;
  GroupRows rows_;
  CandidateLists lists_;  // the finder's
  SimilarFinder finder_;
  KnownItem known_;
  IndexChange change_;
  std::vector<ItemRef> refs_;
  GroupFigures counts_;

  std::atomic<int64_t> next_offset_{0};
  std::atomic<int64_t> index_time_{0};
  mutable std::mutex figures_mutex_;
  GroupFigures figures_;  // under figures_mutex_
};

}  // namespace seen
