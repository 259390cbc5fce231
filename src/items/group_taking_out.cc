// Taking an item out, and what becomes of those it was near and of its group.
#include <algorithm>

#include "items/group_flow_impl.h"
#include "items/near_list.h"

namespace seen {
namespace {
constexpr size_t kLot = 256;           // members decided anew with one write
constexpr size_t kNewFirstsMax = 128;  // new groups that a member may join; beyond them it is on its own
}  // namespace

Status GroupFlow::Impl::TakeOut(ItemRef item) {
  const StoredItem stored = *rows_.Item(item);
  const ItemRef first = rows_.FirstOf(item);
  const std::string group_id = rows_.GroupIdOf(item);
  if (Status left = LeaveNearLists(item); !left) return left;
  if (stored.features.length != LengthClass::kEmpty) {
    if (Status handed = HandOverLists(item, stored); !handed) return handed;
  }
  change_.taken.push_back({item, stored});
  if (first != item) change_.memberships.push_back({first, item, false});
  if (Status written = WriteChange(); !written) return written;
  if (uint64_t& items = position_.items[item.bucket]; items > 0) --items;
  return first == item ? Regroup(item, group_id) : Status();
}

Status GroupFlow::Impl::LeaveNearLists(ItemRef item) {
  const StoredGroup* group = rows_.Group(item);
  if (group == nullptr) return {};
  refs_.clear();
  for (const StoredNear& near : group->near) refs_.push_back(near.item);
  Status loaded = rows_.LoadItems(refs_);
  if (loaded) loaded = rows_.LoadGroups(refs_);
  if (!loaded) return loaded;
  for (const ItemRef& near : refs_) {
    const StoredItem* other = rows_.Item(near);
    const StoredGroup* others = rows_.Group(near);
    if (other == nullptr || others == nullptr || rules_.IsGone(other->created_at, now_)) continue;
    const auto is_it = [&](const StoredNear& one) { return one.item == item; };
    if (std::none_of(others->near.begin(), others->near.end(), is_it)) continue;
    DropNear(item, rows_.ChangeGroup(near).near);
  }
  KeepChangedGroups();
  return {};
}

// Where it stood in candidate lists for its content, the next of that content does so now.
Status GroupFlow::Impl::HandOverLists(ItemRef item, const StoredItem& stored) {
  KnownItem known;
  const Status found =
      index_.Find(std::nullopt, stored.features.content_hash, rules_.FirstBucket(now_), known);
  if (!found) return found;
  std::optional<ItemRef> next;
  for (const Copy& copy : known.copies) {
    if (copy.item.bucket != item.bucket || rules_.IsGone(copy.created_at, now_)) continue;
    if (copy.item.number < item.number) return {};
    if (copy.item.number > item.number && (!next || copy.item.number < next->number)) next = copy.item;
  }
  if (!next) return {};
  if (Status loaded = rows_.LoadItems({&*next, 1}); !loaded) return loaded;
  // As its row has them: of the same content, but read as of another language they may differ.
  if (const StoredItem* copy = rows_.Item(*next)) change_.listed.push_back({*next, copy->features});
  return {};
}

// Decided anew among themselves, in the order of age.
Status GroupFlow::Impl::Regroup(ItemRef first, const std::string& group_id) {
  std::vector<ItemRef> members;
  if (Status read = index_.Members(first, members); !read) return read;
  std::vector<NewFirst> firsts;
  for (size_t i = 0; i < members.size(); i += kLot) {
    const std::span<const ItemRef> lot = std::span(members).subspan(i, std::min(kLot, members.size() - i));
    if (Status done = RegroupLot(first, group_id, lot, firsts); !done) return done;
  }
  return {};
}

Status GroupFlow::Impl::RegroupLot(ItemRef first, const std::string& group_id, std::span<const ItemRef> lot,
                                   std::vector<NewFirst>& firsts) {
  rows_.Clear();
  Status loaded = rows_.LoadItems(lot);
  if (loaded) loaded = rows_.LoadGroups(lot);
  if (!loaded) return loaded;
  for (const ItemRef& member : lot) {
    const StoredItem* stored = rows_.Item(member);
    if (stored == nullptr || rules_.IsGone(stored->created_at, now_) || rows_.FirstOf(member) != first)
      continue;
    StoredGroup& group = rows_.ChangeGroup(member);
    group.moved_from = group_id;
    ++counts_.moved_total;
    change_.memberships.push_back({first, member, false});
    std::optional<Likeness> likeness;
    for (const NewFirst& candidate : firsts) {
      likeness = rules_.Compare(stored->features, candidate.stored.features);
      if (!likeness) continue;
      group.first = candidate.item;
      group.group_id = candidate.stored.item_id;
      change_.memberships.push_back({candidate.item, member, true});
      break;
    }
    if (!likeness) {
      likeness = {1.0, 0, FoundBy::kFirst};
      group.first = member;
      group.group_id = stored->item_id;
      if (firsts.size() < kNewFirstsMax) firsts.push_back({member, *stored});
    }
    group.found = likeness->found;
    group.similarity = likeness->similarity;
    group.distance = likeness->distance;
  }
  KeepChangedGroups();
  return WriteChange();
}

}  // namespace seen
