#include "similar/port/similar_seen.h"

#include "model/hashes.h"

namespace seen {

void SimilarLists::Read(std::span<const Fingerprint> items, const ItemGroups& groups) {
  constexpr size_t kAhead = 16;  // look-ups whose memory is being prefetched
  items_.assign(items.begin(), items.end());
  all_.clear();
  starts_.resize(items.size() + 1);
  for (size_t i = 0; i < std::min(kAhead, items.size()); ++i) groups.Prefetch(items[i]);
  for (size_t i = 0; i < items.size(); ++i) {
    if (i + kAhead < items.size()) groups.Prefetch(items[i + kAhead]);
    starts_[i] = static_cast<uint32_t>(all_.size());
    groups.AppendGroupAndNear(items[i], all_);
  }
  starts_[items.size()] = static_cast<uint32_t>(all_.size());
}

Status SimilarSeen::Find(const ItemGroups& groups, const SeenSets& sets,
                         std::span<const std::string_view> ids, std::span<const uint32_t> asked,
                         const SimilarLists& lists, std::vector<uint8_t>& found,
                         std::vector<SimilarCandidate>& out) {
  ReadAlsoSeen(groups, sets.also_seen);
  found.assign(asked.size(), 0);
  FindInSimilarSet(sets, lists, found);
  FindByNear(sets, lists, found);
  groups_.Reset(asked.size());
  seen_members_.clear();
  for (size_t place = 0; place < asked.size(); ++place) {
    const std::string_view id = ids[asked[place]];
    if (found[place] == 0 && lists.HasSimilar(place)) {
      const auto by_member = HasSeenMember(groups, sets, id, lists, place);
      if (!by_member) return Fail(by_member.error());
      found[place] = *by_member ? 1 : 0;
    }
    if (found[place] == 0) continue;
    // The candidate's record decides, because ids in it don't collide as fingerprints may.
    auto to = Explain(groups, sets, id);
    if (!to) return Fail(to.error());
    if (*to) {
      out.push_back({asked[place], std::move(**to)});
    } else {
      found[place] = 0;
    }
  }
  return {};
}

void SimilarSeen::ReadAlsoSeen(const ItemGroups& groups, std::span<const std::string_view> also_seen) {
  also_seen_.Reset(also_seen.size());
  scratch_.clear();
  for (const std::string_view id : also_seen) {
    const Fingerprint item = FingerprintOf(id);
    also_seen_.Insert(item);
    groups.AppendSimilar(item, scratch_);
  }
  also_similar_.Reset(scratch_.size());
  for (const Fingerprint similar : scratch_) also_similar_.Insert(similar);
}

void SimilarSeen::Ask(FingerprintSet& one, FingerprintSet& other, std::span<const Fingerprint> fingerprints,
                      std::vector<uint8_t>& of_one, std::vector<uint8_t>& of_other) {
  of_one.assign(fingerprints.size(), 0);
  of_other.assign(fingerprints.size(), 0);
  if (one.size() > 0) one.ContainsEach(fingerprints, of_one);
  if (other.size() > 0) other.ContainsEach(fingerprints, of_other);
}

void SimilarSeen::FindInSimilarSet(const SeenSets& sets, const SimilarLists& lists,
                                   std::vector<uint8_t>& found) {
  if (sets.similar.size() == 0 && also_similar_.size() == 0) return;
  probes_.resize(lists.size() * 2);
  for (size_t place = 0; place < lists.size(); ++place) {
    probes_[place * 2] = NearFingerprintOf(lists.item(place));
    probes_[place * 2 + 1] = GroupFingerprintOf(lists.group(place));
  }
  Ask(sets.similar, also_similar_, probes_, answers_, more_answers_);
  const auto groups_count = static_cast<uint8_t>(sets.asks_groups_shown);
  for (size_t place = 0; place < lists.size(); ++place) {
    const auto shown = static_cast<uint8_t>(answers_[place * 2] | (answers_[place * 2 + 1] & groups_count));
    found[place] |= static_cast<uint8_t>(shown | more_answers_[place * 2] | more_answers_[place * 2 + 1]);
  }
}

// Finds candidates whose near items, or whose group's first item, were seen.
void SimilarSeen::FindByNear(const SeenSets& sets, const SimilarLists& lists, std::vector<uint8_t>& found) {
  if (lists.all().empty()) return;
  Ask(sets.seen, also_seen_, lists.all(), answers_, more_answers_);
  for (size_t place = 0; place < lists.size(); ++place) {
    for (size_t i = lists.start(place); i < lists.end(place); ++i) {
      found[place] |= static_cast<uint8_t>(answers_[i] | more_answers_[i]);
    }
  }
}

// All items of a group are near the group's first item. So the first item's near items are the group's
// members, as far as its list goes.
Result<bool> SimilarSeen::HasSeenMember(const ItemGroups& groups, const SeenSets& sets, std::string_view id,
                                        const SimilarLists& lists, size_t place) {
  const Fingerprint group = lists.group(place);
  if (const auto known = groups_.Find(group)) return *known != 0;
  const auto answer = [&](bool has) {
    groups_.Insert(group, has ? 1 : 0);
    return has;
  };
  bool all_known = false;
  if (group == lists.item(place)) {
    all_known = lists.near(place).size() < kNearItemsMax;  // and all of them were asked
  } else {
    scratch_.clear();
    if (groups.AppendGroupAndNear(group, scratch_) && scratch_.front() == group) {
      const size_t count = scratch_.size();
      all_known = count - 1 < kNearItemsMax;
      for (size_t i = 1; i < count; ++i) {
        const size_t at = scratch_.size();
        if (IsSeen(sets, scratch_[i]) && groups.AppendGroupAndNear(scratch_[i], scratch_) &&
            scratch_[at] == group) {
          return answer(true);
        }
      }
    }
  }
  if (all_known) return answer(false);
  const auto record = groups.Find(id);
  if (!record) return Fail(record.error());
  if (!*record) return false;
  const auto member = SeenMember(groups, sets, (*record)->group_id);
  if (!member) return Fail(member.error());
  return answer(!member->empty());
}

Result<std::optional<SimilarTo>> SimilarSeen::Explain(const ItemGroups& groups, const SeenSets& sets,
                                                      std::string_view id) {
  using Answer = std::optional<SimilarTo>;
  const auto found = groups.Find(id);
  if (!found) return Fail(found.error());
  const std::optional<ItemGroup>& record = *found;
  if (record) {
    for (const NearItem& near : record->near) {
      if (IsSeen(sets, near.item_id)) return Answer({near.item_id, SimilarReason::kNear, near.similarity});
    }
    if (record->group_id != id && IsSeen(sets, record->group_id)) {
      return Answer({record->group_id, SimilarReason::kGroup, record->similarity});
    }
    if (!record->IsAlone()) {
      auto member = SeenMember(groups, sets, record->group_id);
      if (!member) return Fail(member.error());
      if (!member->empty() && *member != id) return Answer({std::move(*member), SimilarReason::kGroup});
    }
  }
  const auto near = NearFingerprintOf(FingerprintOf(id));
  if (sets.similar.Contains(near) || also_similar_.Contains(near)) return Answer({{}, SimilarReason::kNear});
  const auto group = GroupFingerprintOf(FingerprintOf(record ? record->group_id : id));
  if ((sets.asks_groups_shown && sets.similar.Contains(group)) || also_similar_.Contains(group)) {
    return Answer({{}, SimilarReason::kGroup});
  }
  return Answer();
}

Result<std::string> SimilarSeen::SeenMember(const ItemGroups& groups, const SeenSets& sets,
                                            const std::string& group_id) {
  const auto [known, is_new] = seen_members_.try_emplace(group_id);
  if (!is_new) return known->second;
  const auto first = groups.Find(group_id);
  if (!first) return Fail(first.error());
  const bool is_first = *first && (*first)->group_id == group_id;
  if (is_first) {
    for (const NearItem& near : (*first)->near) {
      if (!IsSeen(sets, near.item_id)) continue;
      const auto member = groups.Find(near.item_id);
      if (!member) return Fail(member.error());
      if (*member && (*member)->group_id == group_id) return known->second = near.item_id;
    }
    if ((*first)->near.size() < kNearItemsMax) return std::string();
  }
  auto members = groups.Members(group_id, {}, kMembersMax);
  if (!members) return Fail(members.error());
  for (std::string& member : *members) {
    if (IsSeen(sets, member)) return known->second = std::move(member);
  }
  return std::string();
}

}  // namespace seen
