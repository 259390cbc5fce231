#include "items/group_flow.h"

#include <algorithm>

#include "base/check.h"
#include "items/group_flow_impl.h"

namespace seen {
namespace {

constexpr uint64_t kUnsavedBytesMax = 64 << 20;
constexpr int kItemsBetweenLooks = 64;          // at how much is unsaved
constexpr int64_t kTimeMax = int64_t{1} << 47;  // as the index stores times

}  // namespace

Status GroupFlow::Impl::Open() {
  const auto position = index_.ReadPosition();
  if (!position) return Fail(position.error());
  if (*position) position_ = **position;
  if (position_.index_time > rules_.options().stored_time_max) CorrectIndexTime();
  next_offset_.store(position_.next_offset, std::memory_order_relaxed);
  index_time_.store(position_.index_time.value, std::memory_order_relaxed);
  PublishFigures();
  return {};
}

// To the newest bucket that has items and may be true: nothing that is in the window leaves it. Items ahead
// of index time don't count any more (GroupRules::IsGone). What the wrong time has dropped is in the log at
// best.
void GroupFlow::Impl::CorrectIndexTime() {
  const TimeMs time_max = rules_.options().stored_time_max;
  const auto next = position_.items.upper_bound(rules_.BucketOf(time_max));
  position_.index_time = {};
  if (next != position_.items.begin()) {
    position_.index_time = std::min(time_max, rules_.EndOf(std::prev(next)->first));
  }
  ++counts_.times_corrected_total;
}

Status GroupFlow::Impl::Apply(std::span<const PreparedItem> items) {
  int until_look = kItemsBetweenLooks;
  Status applied;
  for (const PreparedItem& item : items) {
    if (item.offset < position_.next_offset) continue;
    if (broken_) return Fail(*broken_);
    if (applied = outbox_.Send(); !applied) break;
    if (applied = Take(item); !applied) {
      broken_ = applied.error();
      break;
    }
    Pass(item.offset + 1);
    if (applied = outbox_.Send(); !applied) break;
    if (--until_look > 0) continue;
    until_look = kItemsBetweenLooks;
    if (index_.unsaved_bytes() < kUnsavedBytesMax) continue;
    if (applied = Checkpoint(); !applied) break;
  }
  PublishFigures();
  return applied;
}

void GroupFlow::Impl::Pass(int64_t offset) {
  position_.next_offset = std::max(position_.next_offset, offset);
  next_offset_.store(position_.next_offset, std::memory_order_relaxed);
}

Result<std::optional<ItemRef>> GroupFlow::Impl::FindStored(std::string_view item_id,
                                                           std::optional<uint64_t> content_hash) {
  rows_.Clear();
  if (Status found = index_.Find(item_id, content_hash, rules_.FirstBucket(now_), known_); !found) {
    return Fail(found.error());
  }
  if (!known_.item) return std::optional<ItemRef>{};
  if (Status loaded = rows_.LoadItems({&*known_.item, 1}); !loaded) return Fail(loaded.error());
  const StoredItem* stored = rows_.Item(*known_.item);
  Check(stored != nullptr, "an id leads to an item");
  if (rules_.IsGone(stored->created_at, now_)) return std::optional<ItemRef>{};
  if (Status loaded = rows_.LoadGroups({&*known_.item, 1}); !loaded) return Fail(loaded.error());
  return known_.item;
}

Status GroupFlow::Impl::Take(const PreparedItem& given) {
  if (given.deleted) return TakeDeleted(given);
  PreparedItem item = given;
  item.created_at.value = std::clamp<int64_t>(item.created_at.value, 0, kTimeMax);
  now_ = std::max(position_.index_time, item.created_at);
  ++counts_.items_total;
  const auto stored = FindStored(item.item_id, item.features->content_hash);
  if (!stored) return Fail(stored.error());
  std::string old_group;
  if (*stored) {
    if (rows_.Item(**stored)->features.content_hash == item.features->content_hash) {
      outbox_.Put(ToItemGroup(*rows_.Item(**stored), rows_.Group(**stored)));
    } else {
      old_group = rows_.GroupIdOf(**stored);
      if (Status taken = TakeOut(**stored); !taken) return taken;
    }
  }
  if (!*stored || !old_group.empty()) {
    if (Status decided = Decide(item, old_group); !decided) return decided;
  }
  position_.index_time = now_;
  index_time_.store(now_.value, std::memory_order_relaxed);
  return {};
}

Status GroupFlow::Impl::TakeDeleted(const PreparedItem& item) {
  now_ = position_.index_time;
  ++counts_.deleted_total;
  const auto stored = FindStored(item.item_id, std::nullopt);
  if (!stored) return Fail(stored.error());
  // Also of one that isn't known: the topic may still have its record.
  outbox_.PutTombstone(std::string(item.item_id));
  return *stored ? TakeOut(**stored) : Status();
}

Status GroupFlow::Impl::WriteChange() {
  if (change_.empty()) return {};
  const Status written = index_.Write(change_);
  change_ = {};
  return written;
}

Status GroupFlow::Impl::Checkpoint() {
  if (broken_) return Fail(*broken_);
  if (Status arrived = outbox_.AwaitAll(); !arrived) return arrived;
  const int32_t first_bucket = rules_.FirstBucket(position_.index_time);
  IndexPosition position = position_;
  position.items.erase(position.items.begin(), position.items.lower_bound(first_bucket));
  if (Status saved = index_.Checkpoint(position, first_bucket); !saved) {
    broken_ = saved.error();
    return saved;
  }
  position_ = std::move(position);
  PublishFigures();
  return {};
}

Result<std::vector<NearItem>> GroupFlow::Impl::Similar(const ItemFeatures& features, size_t limit,
                                                       std::string_view except) const {
  GroupRows rows(index_);
  thread_local CandidateLists lists;
  SimilarFinder finder(rules_, index_, lists);
  const TimeMs now{index_time_.load(std::memory_order_relaxed)};
  KnownItem known;
  Status done = index_.Find(std::nullopt, features.content_hash, rules_.FirstBucket(now), known);
  if (done) done = finder.Find(features, now, known.copies, except, limit, rows);
  if (!done) return Fail(done.error());
  std::vector<NearItem> near;
  for (const SimilarItem& similar : finder.similar()) {
    if (near.size() == limit) break;
    near.push_back({rows.Item(similar.item)->item_id, similar.likeness.similarity, similar.likeness.distance,
                    similar.likeness.found});
  }
  return near;
}

Result<std::optional<ItemGroup>> GroupFlow::Impl::Group(std::string_view item_id) const {
  const TimeMs now{index_time_.load(std::memory_order_relaxed)};
  KnownItem known;
  if (Status found = index_.Find(item_id, std::nullopt, rules_.FirstBucket(now), known); !found) {
    return Fail(found.error());
  }
  if (!known.item) return std::optional<ItemGroup>{};
  GroupRows rows(index_);
  Status loaded = rows.LoadItems({&*known.item, 1});
  if (loaded) loaded = rows.LoadGroups({&*known.item, 1});
  if (!loaded) return Fail(loaded.error());
  const StoredItem* item = rows.Item(*known.item);
  if (item == nullptr || rules_.IsGone(item->created_at, now)) return std::optional<ItemGroup>{};
  return std::optional<ItemGroup>(ToItemGroup(*item, rows.Group(*known.item)));
}

GroupFigures GroupFlow::Impl::Figures() const {
  GroupFigures figures;
  {
    const std::lock_guard lock(figures_mutex_);
    figures = figures_;
  }
  figures.bytes = index_.bytes();
  return figures;
}

void GroupFlow::Impl::PublishFigures() {
  counts_.items = 0;
  for (const auto& [bucket, items] : position_.items) counts_.items += items;
  const std::lock_guard lock(figures_mutex_);
  figures_ = counts_;
}

Result<std::unique_ptr<GroupFlow>> GroupFlow::Open(const GroupOptions& options, ItemIndex& index,
                                                   GroupSink& sink) {
  Check(options.list_max <= kListMax, "list_max is at most what lists keep");
  auto impl = std::make_unique<Impl>(options, index, sink);
  if (Status opened = impl->Open(); !opened) return Fail(opened.error());
  return std::unique_ptr<GroupFlow>(new GroupFlow(std::move(impl)));
}

GroupFlow::GroupFlow(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
GroupFlow::~GroupFlow() = default;
Status GroupFlow::Apply(std::span<const PreparedItem> items) { return impl_->Apply(items); }
void GroupFlow::Pass(int64_t offset) { impl_->Pass(offset); }
int64_t GroupFlow::next_offset() const { return impl_->next_offset(); }
Status GroupFlow::Checkpoint() { return impl_->Checkpoint(); }
Result<std::vector<NearItem>> GroupFlow::Similar(const ItemFeatures& features, size_t limit,
                                                 std::string_view except) const {
  return impl_->Similar(features, limit, except);
}
Result<std::optional<ItemGroup>> GroupFlow::Group(std::string_view item_id) const {
  return impl_->Group(item_id);
}
GroupFigures GroupFlow::Figures() const { return impl_->Figures(); }

}  // namespace seen
