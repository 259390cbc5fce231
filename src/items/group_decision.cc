// Deciding an item: schemas/item_groups.md says what comes out.
#include <algorithm>

#include "items/group_flow_impl.h"
#include "items/near_list.h"

namespace seen {

Status GroupFlow::Impl::Decide(const PreparedItem& item, const std::string& moved_from) {
  rows_.Clear();
  const ItemFeatures& features = *item.features;
  const Status found = finder_.Find(features, now_, known_.copies, {}, kNearItemsMax, rows_);
  if (!found) return found;
  Count(finder_.counts());
  const ItemRef self{rules_.BucketOf(item.created_at), position_.next_number};
  StoredGroup group{self, std::string(item.item_id), FoundBy::kFirst, 1.0, 0, {}, {}};
  if (Status joined = JoinGroup(features, group); !joined) return joined;
  ListNear(group);
  if (!moved_from.empty() && moved_from != group.group_id) group.moved_from = moved_from;
  counts_.copies_total += finder_.copied().has_value();
  counts_.grouped_total += group.first != self;
  counts_.moved_total += !group.moved_from.empty();
  counts_.no_text_total += features.length == LengthClass::kEmpty;

  StoredItem stored{std::string(item.item_id), item.created_at, features};
  if (!rules_.options().verify) stored.features.sketch = {};
  outbox_.Put(ToItemGroup(stored, &group));
  if (rules_.IsGone(item.created_at, now_)) {
    ++counts_.too_old_total;
    return {};
  }
  if (Status told = TellNear(self, stored.item_id, group); !told) return told;
  const bool has_content = features.length != LengthClass::kEmpty;
  if (has_content && !HasListedCopy(self.bucket)) change_.listed.push_back({self, features});
  change_.added.push_back({self, std::move(stored), has_content});
  if (group.first != self) change_.memberships.push_back({group.first, self, true});
  if (!IsAlone(self, group)) change_.groups.push_back({self, std::move(group)});
  ++position_.next_number;
  ++position_.items[self.bucket];
  return WriteChange();
}

// A copy is where the oldest of its content is. Anything else goes to the oldest item that it is like and
// that is the first of its group: those of groups that it has something like itself in are tried too.
Status GroupFlow::Impl::JoinGroup(const ItemFeatures& features, StoredGroup& group) {
  if (const auto& copied = finder_.copied()) {
    const StoredGroup* of_copied = rows_.Group(*copied);
    group.first = rows_.FirstOf(*copied);
    group.group_id = rows_.GroupIdOf(*copied);
    const bool is_first = group.first == *copied;
    group.found = is_first ? FoundBy::kCopy : of_copied->found;
    group.similarity = is_first ? 1.0 : of_copied->similarity;
    group.distance = is_first ? 0 : of_copied->distance;
    return {};
  }
  refs_.clear();
  for (const SimilarItem& similar : finder_.similar()) refs_.push_back(similar.item);
  if (Status loaded = rows_.LoadGroups(refs_); !loaded) return loaded;
  for (ItemRef& ref : refs_) ref = rows_.FirstOf(ref);
  if (Status loaded = rows_.LoadItems(refs_); !loaded) return loaded;
  std::sort(refs_.begin(), refs_.end(), [](const auto& a, const auto& b) { return a.number < b.number; });
  refs_.erase(std::unique(refs_.begin(), refs_.end()), refs_.end());
  for (const ItemRef& ref : refs_) {
    const StoredItem* first = rows_.Item(ref);
    if (first == nullptr || rules_.IsGone(first->created_at, now_)) continue;
    const auto likeness = rules_.Compare(features, first->features);
    if (!likeness) continue;
    group.first = ref;
    group.group_id = first->item_id;
    group.found = likeness->found;
    group.similarity = likeness->similarity;
    group.distance = likeness->distance;
    break;
  }
  return {};
}

void GroupFlow::Impl::ListNear(StoredGroup& group) {
  for (const SimilarItem& similar : finder_.similar()) {
    if (group.near.size() == kNearItemsMax) break;
    const Likeness& likeness = similar.likeness;
    group.near.push_back(
        {similar.item,
         {rows_.Item(similar.item)->item_id, likeness.similarity, likeness.distance, likeness.found}});
  }
}

// Those that the item is near have it near them, unless they have enough that are nearer.
Status GroupFlow::Impl::TellNear(ItemRef item, const std::string& item_id, const StoredGroup& group) {
  refs_.clear();
  for (const StoredNear& near : group.near) refs_.push_back(near.item);
  if (Status loaded = rows_.LoadGroups(refs_); !loaded) return loaded;
  for (const StoredNear& near : group.near) {
    StoredNear back{item, near.near};
    back.near.item_id = item_id;
    const StoredGroup* other = rows_.Group(near.item);
    if (other == nullptr || TakesNear(back, other->near)) AddNear(back, rows_.ChangeGroup(near.item).near);
  }
  KeepChangedGroups();
  return {};
}

// Candidate lists name one item of a content in a bucket.
bool GroupFlow::Impl::HasListedCopy(int32_t bucket) const {
  return std::any_of(known_.copies.begin(), known_.copies.end(), [&](const Copy& copy) {
    return copy.item.bucket == bucket && !rules_.IsGone(copy.created_at, now_);
  });
}

bool GroupFlow::Impl::IsAlone(ItemRef item, const StoredGroup& group) {
  return group.first == item && group.near.empty() && group.moved_from.empty();
}

void GroupFlow::Impl::KeepChangedGroups() {
  for (const ItemRef& item : rows_.changed()) {
    const StoredGroup& group = *rows_.Group(item);
    outbox_.Put(ToItemGroup(*rows_.Item(item), &group));
    change_.groups.push_back({item, IsAlone(item, group) ? std::nullopt : std::optional(group)});
  }
}

void GroupFlow::Impl::Count(const FinderCounts& counts) {
  counts_.compared_total += counts.compared;
  counts_.candidates_total += counts.verified;
  counts_.lists_cut_total += counts.lists_cut;
  counts_.candidates_cut_total += counts.candidates_cut;
}

}  // namespace seen
