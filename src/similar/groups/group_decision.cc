#include "similar/groups/group_decision.h"

#include <algorithm>

#include "similar/groups/group_rows.h"

namespace seen {

Status GroupDecision::Decide(const PreparedItem& item, const std::vector<Copy>& copies,
                             const std::string& moved_from) {
  work_.rows.Clear();
  const ItemFeatures& features = *item.features;
  Status found = finder_.Find(features, work_.now, copies, {}, kNearItemsMax, work_.rows);
  if (!found) return found;
  const ItemRef self{work_.rules.BucketOf(item.created_at), work_.position.next_number};
  StoredGroup group{self, std::string(item.item_id), FoundBy::kFirst, 1.0, 0, {}, {}};
  if (Status joined = JoinGroup(features, group); !joined) return joined;
  ListNear(group);
  if (!moved_from.empty() && moved_from != group.group_id) group.moved_from = moved_from;
  CountFound(item, group.first == self, group);

  StoredItem stored{std::string(item.item_id), item.created_at, features};
  if (!work_.rules.options().verify) stored.features.sketch = {};
  work_.outbox.Put(ToItemGroup(stored, &group));
  if (work_.IsGone(item.created_at)) {
    ++work_.counts.too_old_total;
    return {};
  }
  if (Status added = AddToNearLists(self, stored.item_id, group); !added) return added;
  const bool has_content = features.length != LengthClass::kEmpty;
  IndexChange& change = work_.change;
  if (IsListed(features) && !HasListedCopy(copies, self.bucket)) change.listed.push_back({self, features});
  change.added.push_back({self, std::move(stored), has_content});
  if (group.first != self) change.memberships.push_back({group.first, self, true});
  if (!GroupWork::IsAlone(self, group)) change.groups.push_back({self, std::move(group)});
  ++work_.position.next_number;
  ++work_.position.items[self.bucket];
  return work_.WriteChange();
}

// A copy joins the group of the oldest item with its content. Any other item joins the oldest first item that
// it is similar to. The first items of the groups of all similar items are tried.
Status GroupDecision::JoinGroup(const ItemFeatures& features, StoredGroup& group) {
  if (const auto& copied = finder_.copied()) {
    JoinCopied(*copied, group);
    return {};
  }
  GroupRows& rows = work_.rows;
  refs_.clear();
  for (const ItemMatch& similar : finder_.similar()) refs_.push_back(similar.item);
  if (Status loaded = rows.LoadGroups(refs_); !loaded) return loaded;
  for (ItemRef& ref : refs_) ref = rows.FirstOf(ref);
  if (Status loaded = rows.LoadItems(refs_); !loaded) return loaded;
  std::sort(refs_.begin(), refs_.end(), [](const auto& a, const auto& b) { return a.number < b.number; });
  refs_.erase(std::unique(refs_.begin(), refs_.end()), refs_.end());
  for (const ItemRef& ref : refs_) {
    const StoredItem* first = rows.Item(ref);
    if (first == nullptr || work_.IsGone(first->created_at)) continue;
    const auto match = work_.rules.Compare(features, first->features);
    if (!match) continue;
    group.first = ref;
    group.group_id = first->item_id;
    group.found = match->found;
    group.similarity = match->similarity;
    group.distance = match->distance;
    group.containment = match->containment;
    break;
  }
  return {};
}

void GroupDecision::JoinCopied(ItemRef copied, StoredGroup& group) const {
  const StoredGroup* of_copied = work_.rows.Group(copied);
  group.first = work_.rows.FirstOf(copied);
  group.group_id = work_.rows.GroupIdOf(copied);
  const bool is_first = group.first == copied;
  group.found = is_first ? FoundBy::kCopy : of_copied->found;
  group.similarity = is_first ? 1.0 : of_copied->similarity;
  group.distance = is_first ? 0 : of_copied->distance;
  group.containment = is_first ? std::nullopt : of_copied->containment;
}

void GroupDecision::ListNear(StoredGroup& group) {
  for (const ItemMatch& similar : finder_.similar()) {
    if (group.near.size() == kNearItemsMax) break;
    const Match& match = similar.match;
    group.near.push_back({similar.item,
                          {work_.rows.Item(similar.item)->item_id, match.similarity, match.distance,
                           match.found, match.containment}});
  }
}

// Adds the item to the near lists of its near items, unless these lists are full of nearer items.
Status GroupDecision::AddToNearLists(ItemRef item, const std::string& item_id, const StoredGroup& group) {
  GroupRows& rows = work_.rows;
  refs_.clear();
  for (const StoredNear& near : group.near) refs_.push_back(near.item);
  if (Status loaded = rows.LoadGroups(refs_); !loaded) return loaded;
  for (const StoredNear& near : group.near) {
    StoredNear back{item, near.near};
    back.near.item_id = item_id;
    const StoredGroup* other = rows.Group(near.item);
    if (other == nullptr || TakesNear(back, other->near)) AddNear(back, rows.ChangeGroup(near.item).near);
  }
  work_.KeepChangedGroups();
  return {};
}

// Candidate lists name only one item per content and bucket.
bool GroupDecision::HasListedCopy(const std::vector<Copy>& copies, int32_t bucket) const {
  return std::any_of(copies.begin(), copies.end(), [&](const Copy& copy) {
    return copy.item.bucket == bucket && !work_.IsGone(copy.created_at);
  });
}

void GroupDecision::CountFound(const PreparedItem& item, bool is_first, const StoredGroup& group) {
  GroupFigures& counts = work_.counts;
  counts.compared_total += finder_.counts().compared;
  counts.candidates_total += finder_.counts().verified;
  counts.lists_cut_total += finder_.counts().lists_cut;
  counts.candidates_cut_total += finder_.counts().candidates_cut;
  counts.copies_total += finder_.copied().has_value();
  counts.grouped_total += !is_first;
  counts.moved_total += !group.moved_from.empty();
  counts.no_text_total += item.features->length == LengthClass::kEmpty;
}

namespace {
constexpr size_t kMembersAWrite = 256;  // members that one write decides again
constexpr size_t kNewFirstsMax = 128;   // new groups that a member may join; no member joins a later one
}  // namespace

Status GroupTakingOut::TakeOut(ItemRef item) {
  const StoredItem stored = *work_.rows.Item(item);
  const ItemRef first = work_.rows.FirstOf(item);
  const std::string group_id = work_.rows.GroupIdOf(item);
  if (Status left = LeaveNearLists(item); !left) return left;
  if (IsListed(stored.features)) {
    if (Status handed = HandOverLists(item, stored); !handed) return handed;
  }
  work_.change.taken.push_back({item, stored});
  if (first != item) work_.change.memberships.push_back({first, item, false});
  if (Status written = work_.WriteChange(); !written) return written;
  if (uint64_t& items = work_.position.items[item.bucket]; items > 0) --items;
  return first == item ? Regroup(item, group_id) : Status();
}

Status GroupTakingOut::LeaveNearLists(ItemRef item) {
  GroupRows& rows = work_.rows;
  const StoredGroup* group = rows.Group(item);
  if (group == nullptr) return {};
  refs_.clear();
  for (const StoredNear& near : group->near) refs_.push_back(near.item);
  Status loaded = rows.LoadItems(refs_);
  if (loaded) loaded = rows.LoadGroups(refs_);
  if (!loaded) return loaded;
  for (const ItemRef& near : refs_) {
    const StoredItem* other = rows.Item(near);
    const StoredGroup* others = rows.Group(near);
    if (other == nullptr || others == nullptr || work_.IsGone(other->created_at)) continue;
    const auto is_it = [&](const StoredNear& one) { return one.item == item; };
    if (std::none_of(others->near.begin(), others->near.end(), is_it)) continue;
    DropNear(item, rows.ChangeGroup(near).near);
  }
  work_.KeepChangedGroups();
  return {};
}

// If the item was in candidate lists for its content, the next item of that content takes its place.
Status GroupTakingOut::HandOverLists(ItemRef item, const StoredItem& stored) {
  KnownItem known;
  Status found = work_.index.Find(std::nullopt, stored.features.content_hash, work_.FirstBucket(), known);
  if (!found) return found;
  std::optional<ItemRef> next;
  for (const Copy& copy : known.copies) {
    if (copy.item.bucket != item.bucket || work_.IsGone(copy.created_at)) continue;
    if (copy.item.number < item.number) return {};
    if (copy.item.number > item.number && (!next || copy.item.number < next->number)) next = copy.item;
  }
  if (!next) return {};
  if (Status loaded = work_.rows.LoadItems({&*next, 1}); !loaded) return loaded;
  // Takes the features of that item's row. They may differ, because it may have been read as another
  // language.
  if (const StoredItem* copy = work_.rows.Item(*next)) work_.change.listed.push_back({*next, copy->features});
  return {};
}

// Decides the members of its group again, among themselves, oldest first.
Status GroupTakingOut::Regroup(ItemRef first, const std::string& group_id) {
  std::vector<ItemRef> members;
  if (Status read = work_.index.Members(first, members); !read) return read;
  std::vector<NewFirst> firsts;
  for (size_t i = 0; i < members.size(); i += kMembersAWrite) {
    const std::span<const ItemRef> lot =
        std::span(members).subspan(i, std::min(kMembersAWrite, members.size() - i));
    if (Status done = RegroupLot(first, group_id, lot, firsts); !done) return done;
  }
  return {};
}

Status GroupTakingOut::RegroupLot(ItemRef first, const std::string& group_id, std::span<const ItemRef> lot,
                                  std::vector<NewFirst>& firsts) {
  GroupRows& rows = work_.rows;
  rows.Clear();
  Status loaded = rows.LoadItems(lot);
  if (loaded) loaded = rows.LoadGroups(lot);
  if (!loaded) return loaded;
  for (const ItemRef& member : lot) {
    const StoredItem* stored = rows.Item(member);
    if (stored == nullptr || work_.IsGone(stored->created_at) || rows.FirstOf(member) != first) continue;
    StoredGroup& group = rows.ChangeGroup(member);
    group.moved_from = group_id;
    ++work_.counts.moved_total;
    work_.change.memberships.push_back({first, member, false});
    JoinNewFirst(member, *stored, group, firsts);
  }
  work_.KeepChangedGroups();
  return work_.WriteChange();
}

// The member joins the oldest new first item that it is similar to, or becomes a new first item.
void GroupTakingOut::JoinNewFirst(ItemRef member, const StoredItem& stored, StoredGroup& group,
                                  std::vector<NewFirst>& firsts) {
  std::optional<Match> match;
  for (const NewFirst& candidate : firsts) {
    match = work_.rules.Compare(stored.features, candidate.stored.features);
    if (!match) continue;
    group.first = candidate.item;
    group.group_id = candidate.stored.item_id;
    work_.change.memberships.push_back({candidate.item, member, true});
    break;
  }
  if (!match) {
    match = {1.0, 0, FoundBy::kFirst, std::nullopt};
    group.first = member;
    group.group_id = stored.item_id;
    if (firsts.size() < kNewFirstsMax) firsts.push_back({member, stored});
  }
  group.found = match->found;
  group.similarity = match->similarity;
  group.distance = match->distance;
  group.containment = match->containment;
}

}  // namespace seen
