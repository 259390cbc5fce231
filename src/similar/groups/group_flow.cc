#include "similar/groups/group_flow.h"

#include <algorithm>

namespace seen {

namespace {

constexpr uint64_t kUnsavedBytesMax = 64 << 20;
constexpr int64_t kTimeMax = int64_t{1} << 47;  // as the index stores times

}  // namespace

Result<std::unique_ptr<GroupFlow>> GroupFlow::Open(const GroupOptions& options, ItemIndex& index,
                                                   GroupSink& sink) {
  Check(options.list_max <= kListMax, "list_max is at most what lists keep");
  std::unique_ptr<GroupFlow> flow(new GroupFlow(options, index, sink));
  if (Status resumed = flow->Resume(); !resumed) return Fail(resumed.error());
  return flow;
}

Status GroupFlow::Resume() {
  const auto position = index_.ReadPosition();
  if (!position) return Fail(position.error());
  if (*position) work_.position = **position;
  if (work_.position.index_time > rules_.options().stored_time_max) CorrectIndexTime();
  next_offset_.store(work_.position.next_offset, std::memory_order_relaxed);
  lookup_.SetIndexTime(work_.position.index_time);
  PublishFigures();
  return {};
}

// Sets index time to the end of the newest bucket that has items and isn't beyond stored_time_max. So nothing
// that is in the window leaves it. Items ahead of index time no longer count (GroupRules::IsGone). What the
// wrong time has dropped can only be read again from the log, if the log still has it.
void GroupFlow::CorrectIndexTime() {
  const TimeMs time_max = rules_.options().stored_time_max;
  IndexPosition& position = work_.position;
  const auto next = position.items.upper_bound(rules_.BucketOf(time_max));
  position.index_time = {};
  if (next != position.items.begin()) {
    position.index_time = std::min(time_max, rules_.EndOf(std::prev(next)->first));
  }
  ++work_.counts.times_corrected_total;
}

Status GroupFlow::Apply(std::span<const PreparedItem> items) {
  Status applied;
  for (const PreparedItem& item : items) {
    if (item.offset < work_.position.next_offset) continue;
    if (broken_) return Fail(*broken_);
    if (applied = SinkAnswered(work_.outbox.Send()); !applied) break;
    if (applied = Take(item); !applied) {
      broken_ = applied.error();
      break;
    }
    Pass(item.offset + 1);
    if (applied = SinkAnswered(work_.outbox.Send()); !applied) break;
  }
  PublishFigures();
  return applied;
}

// A record that the sink gave up on must be read again, so the flow breaks. The code is kUnavailable: the
// index has no fault.
Status GroupFlow::SinkAnswered(Status status) {
  if (status || status.error().code == Code::kUnavailable) return status;
  broken_ = Error{Code::kUnavailable, status.error().message};
  return Fail(*broken_);
}

bool GroupFlow::MuchIsUnsaved() const { return index_.unsaved_bytes() >= kUnsavedBytesMax; }

void GroupFlow::Pass(int64_t offset) {
  work_.position.next_offset = std::max(work_.position.next_offset, offset);
  next_offset_.store(work_.position.next_offset, std::memory_order_relaxed);
}

// The stored item of this id, if it is in the window. Its row and group are then loaded. nullopt: there is
// none.
Result<std::optional<ItemRef>> GroupFlow::FindStored(std::string_view item_id,
                                                     std::optional<uint64_t> content_hash) {
  GroupRows& rows = work_.rows;
  rows.Clear();
  if (Status found = index_.Find(item_id, content_hash, work_.FirstBucket(), known_); !found) {
    return Fail(found.error());
  }
  if (!known_.item) return std::optional<ItemRef>{};
  if (Status loaded = rows.LoadItems({&*known_.item, 1}); !loaded) return Fail(loaded.error());
  const StoredItem* stored = rows.Item(*known_.item);
  Check(stored != nullptr, "an id leads to an item");
  if (work_.IsGone(stored->created_at)) return std::optional<ItemRef>{};
  if (Status loaded = rows.LoadGroups({&*known_.item, 1}); !loaded) return Fail(loaded.error());
  return known_.item;
}

Status GroupFlow::Take(const PreparedItem& given) {
  if (given.deleted) return TakeDeleted(given);
  PreparedItem item = given;
  item.created_at.value = std::clamp<int64_t>(item.created_at.value, 0, kTimeMax);
  work_.now = std::max(work_.position.index_time, item.created_at);
  ++work_.counts.items_total;
  const auto stored = FindStored(item.item_id, item.features->content_hash);
  if (!stored) return Fail(stored.error());
  std::string old_group;
  if (*stored) {
    const GroupRows& rows = work_.rows;
    if (rows.Item(**stored)->features.content_hash == item.features->content_hash) {
      work_.outbox.Put(ToItemGroup(*rows.Item(**stored), rows.Group(**stored)));
    } else {
      old_group = rows.GroupIdOf(**stored);
      if (Status taken = taking_out_.TakeOut(**stored); !taken) return taken;
    }
  }
  if (!*stored || !old_group.empty()) {
    if (Status decided = decision_.Decide(item, known_.copies, old_group); !decided) return decided;
  }
  work_.position.index_time = work_.now;
  lookup_.SetIndexTime(work_.now);
  return {};
}

Status GroupFlow::TakeDeleted(const PreparedItem& item) {
  work_.now = work_.position.index_time;
  ++work_.counts.deleted_total;
  const auto stored = FindStored(item.item_id, std::nullopt);
  if (!stored) return Fail(stored.error());
  // Also for an unknown item: the topic may still have its record.
  work_.outbox.PutTombstone(std::string(item.item_id));
  return *stored ? taking_out_.TakeOut(**stored) : Status();
}

Result<bool> GroupFlow::Repair(const ForeignGroup& foreign) {
  if (broken_) return Fail(*broken_);
  auto decided = lookup_.Group(foreign.item_id);
  if (!decided) {
    broken_ = decided.error();
    return Fail(*broken_);
  }
  if (*decided) {
    std::string value;
    WriteItemGroup(**decided, value);
    if (foreign.value_hash == GroupHash(foreign.item_id, value)) return false;
    work_.outbox.Put(std::move(**decided));
  } else {
    // The index doesn't have the item. It was deleted, unless it has left the window or is another index's.
    const bool is_group = foreign.value_hash && foreign.is_of_index && foreign.created_at;
    if (!is_group || rules_.IsGone(*foreign.created_at, work_.position.index_time)) return false;
    work_.outbox.PutTombstone(foreign.item_id);
  }
  const Status sent = SinkAnswered(work_.outbox.Send());
  PublishFigures();
  if (!sent && broken_) return Fail(*broken_);
  return true;
}

Status GroupFlow::Checkpoint(std::chrono::milliseconds patience) {
  if (broken_) return Fail(*broken_);
  if (Status arrived = SinkAnswered(work_.outbox.AwaitAll(patience)); !arrived) return arrived;
  const int32_t first_bucket = rules_.FirstBucket(work_.position.index_time);
  IndexPosition position = work_.position;
  position.items.erase(position.items.begin(), position.items.lower_bound(first_bucket));
  if (Status saved = index_.Checkpoint(position, first_bucket); !saved) {
    broken_ = saved.error();
    return saved;
  }
  work_.position = std::move(position);
  PublishFigures();
  return {};
}

GroupFigures GroupFlow::Figures() const {
  GroupFigures figures;
  {
    const MutexLock lock(figures_mutex_);
    figures = figures_;
  }
  figures.bytes = index_.bytes();
  return figures;
}

void GroupFlow::PublishFigures() {
  work_.counts.items = 0;
  for (const auto& [bucket, items] : work_.position.items) work_.counts.items += items;
  work_.counts.sent_total = work_.outbox.sent_total();
  const MutexLock lock(figures_mutex_);
  figures_ = work_.counts;
}

}  // namespace seen
