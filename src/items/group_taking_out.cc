#include "items/group_taking_out.h"

#include <algorithm>

#include "items/near_list.h"

namespace seen {
namespace {
constexpr size_t kLot = 256;           // members that one write decides again
constexpr size_t kNewFirstsMax = 128;  // new groups that a member may join; no member joins a later one
}  // namespace

Status GroupTakingOut::TakeOut(ItemRef item) {
  const StoredItem stored = *work_.rows.Item(item);
  const ItemRef first = work_.rows.FirstOf(item);
  const std::string group_id = work_.rows.GroupIdOf(item);
  if (Status left = LeaveNearLists(item); !left) return left;
  if (stored.features.length != LengthClass::kEmpty) {
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
  for (size_t i = 0; i < members.size(); i += kLot) {
    const std::span<const ItemRef> lot = std::span(members).subspan(i, std::min(kLot, members.size() - i));
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
  std::optional<Likeness> likeness;
  for (const NewFirst& candidate : firsts) {
    likeness = work_.rules.Compare(stored.features, candidate.stored.features);
    if (!likeness) continue;
    group.first = candidate.item;
    group.group_id = candidate.stored.item_id;
    work_.change.memberships.push_back({candidate.item, member, true});
    break;
  }
  if (!likeness) {
    likeness = {1.0, 0, FoundBy::kFirst};
    group.first = member;
    group.group_id = stored.item_id;
    if (firsts.size() < kNewFirstsMax) firsts.push_back({member, stored});
  }
  group.found = likeness->found;
  group.similarity = likeness->similarity;
  group.distance = likeness->distance;
}

}  // namespace seen
