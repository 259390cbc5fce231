#pragma once
// One partition of the ordered topic of items. GroupFlow decides which older items each item is similar to,
// and which group it joins. The result depends on the log alone: a replay, a restart after a crash and
// another machine decide the same. GroupFlow takes items in order and calls GroupDecision and GroupTakingOut
// for the work. GroupLookup answers questions.
//
// Threads. Writer (one): Apply, Pass, Checkpoint. Any thread: the rest.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"
#include "similar/groups/group_decision.h"
#include "similar/groups/group_guard.h"
#include "similar/groups/group_rules.h"
#include "similar/groups/group_work.h"
#include "similar/groups/item_index_port.h"
#include "similar/groups/similar_finder.h"
#include "similar/port/group_topic.h"
#include "similar/port/item_group.h"
#include "similar/port/options.h"
#include "similar/port/similar_port.h"
#include "similar/text/item_features.h"

namespace seen {

/// After an error that leaves it broken(), open the flow, the index and the sink again, at the last
/// checkpoint. After any other error (the sink's, kUnavailable) repeat the same call.
class GroupFlow {
 public:
  /// Resumes at the index's last checkpoint.
  static Result<std::unique_ptr<GroupFlow>> Open(const GroupOptions& options, ItemIndex& index,
                                                 GroupSink& sink);

  /// Takes `items` in the order of their offsets, and skips those that were taken before a restart.
  /// kUnavailable: the sink is full; next_offset() says how many were taken.
  Status Apply(std::span<const PreparedItem> items);
  /// Skips the records below `offset` that Apply wasn't given, because they couldn't be decoded.
  void Pass(int64_t offset);
  /// The log's offset up to which all records are in the index (on disk once Checkpoint has returned).
  int64_t next_offset() const { return next_offset_.load(std::memory_order_relaxed); }
  /// Another writer has written the item's newest record. Sends the index's decision again, unless that
  /// record says the same. True: it was sent. Call it only when everything in the log is applied.
  Result<bool> Repair(const ForeignGroup& foreign);
  /// `groups`: by partition, the offset up to which the topic of groups is right once all sent records have
  /// arrived. The next checkpoint stores it.
  void SetVerified(std::vector<int64_t> groups) { work_.position.groups_verified = std::move(groups); }
  /// Waits until all sent records have arrived, then makes the index durable with the offset. kUnavailable:
  /// they haven't arrived within `patience`.
  Status Checkpoint(std::chrono::milliseconds patience = std::chrono::milliseconds(100));
  /// True: so much is unsaved that the next checkpoint shouldn't wait for its time.
  bool MuchIsUnsaved() const;
  bool broken() const { return broken_.has_value(); }  // the writer's
  SimilarMethod method() const { return rules_.options().method; }
  double containment_min() const { return rules_.options().containment_min; }

  /// The stored items that are similar to the text, nearest first. `except`: an id to leave out.
  Result<std::vector<NearItem>> Similar(const ItemFeatures& features, size_t limit,
                                        std::string_view except = {}) const {
    return lookup_.Similar(features, limit, except);
  }
  /// nullopt: not in the index.
  Result<std::optional<ItemGroup>> Group(std::string_view item_id) const { return lookup_.Group(item_id); }
  GroupFigures Figures() const;

 private:
  GroupFlow(const GroupOptions& options, ItemIndex& index, GroupSink& sink)
      : rules_(options),
        index_(index),
        lookup_(rules_, index),
        work_(rules_, index, sink),
        decision_(work_),
        taking_out_(work_) {}
  Status Resume();
  Status SinkAnswered(Status status);
  void CorrectIndexTime();
  Status Take(const PreparedItem& item);
  Status TakeDeleted(const PreparedItem& item);
  Result<std::optional<ItemRef>> FindStored(std::string_view item_id, std::optional<uint64_t> content_hash);
  void PublishFigures();

  const GroupRules rules_;
  ItemIndex& index_;
  GroupLookup lookup_;

  // The writer's.
  GroupWork work_;
  GroupDecision decision_;
  GroupTakingOut taking_out_;
  KnownItem known_;  // of the item being taken
  std::optional<Error> broken_;

  std::atomic<int64_t> next_offset_{0};  // the writer sets it
  mutable Mutex figures_mutex_;
  GroupFigures figures_ GUARDED_BY(figures_mutex_);
};

}  // namespace seen
