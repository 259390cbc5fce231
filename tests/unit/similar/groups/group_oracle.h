#pragma once
// Which items are similar, and in which groups they are: the rules of docs/SIMILAR.md and
// schemas/item_groups.md over plain values. Every live item is a candidate. There are no lists, and no limit
// except the number of near items.

#include <map>
#include <string>
#include <vector>

#include "group_fixture.h"
#include "similar/groups/group_rules.h"

namespace seen::test {

class GroupOracle {
 public:
  explicit GroupOracle(const GroupOptions& options) : rules_(options) {}

  /// The topic of groups as it should be.
  const std::map<std::string, ItemGroup>& topic() const { return topic_; }
  /// The items that are stored and in the window.
  std::vector<std::string> Live() const {
    std::vector<std::string> ids;
    for (const One& one : items_) {
      if (Counts(one)) ids.push_back(one.given.id);
    }
    return ids;
  }
  const ItemFeatures& FeaturesOf(const std::string& id) const { return Find(id)->given.features; }
  /// The features of the first item of its group; nullptr if that item is gone.
  const ItemFeatures* FirstOf(const std::string& id) const {
    const uint64_t first = Find(id)->first;
    for (const One& one : items_) {
      if (one.number == first && Counts(one)) return &one.given.features;
    }
    return nullptr;
  }
  /// Whether `near` is still the item that `id` was near to. Another item may have the name by now.
  bool IsStillNear(const std::string& id, const std::string& near) const {
    const One* other = Find(near);
    return other != nullptr && other->number == Find(id)->near_numbers.at(near);
  }

  void Take(const GivenItem& given) {
    if (given.deleted) {
      if (const One* one = Find(given.id)) TakeOut(one->number);
      topic_.erase(given.id);
      return;
    }
    now_ = std::max(now_, given.created_at);
    const One* old = Find(given.id);
    if (old != nullptr && old->given.features.content_hash == given.features.content_hash) {
      topic_[given.id] = old->group;
      return;
    }
    std::string moved_from;
    if (old != nullptr) {
      moved_from = old->group.group_id;
      TakeOut(old->number);
    }
    Decide(given, moved_from);
  }

 private:
  struct One {
    uint64_t number = 0;
    uint64_t first = 0;  // number of its group's first item
    GivenItem given;
    ItemGroup group;
    std::map<std::string, uint64_t> near_numbers;
  };

  bool Counts(const One& one) const { return now_.value - one.given.created_at.value <= Window(); }
  int64_t Window() const { return rules_.options().window_days * kMsPerDay; }
  const One* Find(const std::string& id) const {
    const One* found = nullptr;
    for (const One& one : items_) {
      if (one.given.id == id && Counts(one)) found = &one;
    }
    return found;
  }
  One* ByNumber(uint64_t number) {
    for (One& one : items_) {
      if (one.number == number && Counts(one)) return &one;
    }
    return nullptr;
  }

  void TakeOut(uint64_t number) {
    const One gone = *ByNumber(number);
    std::erase_if(items_, [&](const One& one) { return one.number == number; });
    for (One& one : items_) {
      const auto near = one.near_numbers.find(gone.given.id);
      if (!Counts(one) || near == one.near_numbers.end() || near->second != number) continue;
      one.near_numbers.erase(near);
      std::erase_if(one.group.near, [&](const NearItem& item) { return item.item_id == gone.given.id; });
      topic_[one.given.id] = one.group;
    }
    if (gone.first != number) return;
    std::vector<const One*> firsts;
    for (One& member : items_) {
      if (member.first != number || !Counts(member)) continue;
      member.group.moved_from = gone.given.id;
      std::optional<Match> match;
      for (const One* first : firsts) {
        match = rules_.Compare(member.given.features, first->given.features);
        if (!match) continue;
        Join(member, *first, *match);
        break;
      }
      if (!match) {
        BeFirst(member);
        firsts.push_back(&member);
      }
      topic_[member.given.id] = member.group;
    }
  }

  static void BeFirst(One& one) {
    one.first = one.number;
    one.group.group_id = one.given.id;
    one.group.found = FoundBy::kFirst;
    one.group.similarity = 1;
    one.group.distance = 0;
  }
  static void Join(One& one, const One& first, const Match& match) {
    one.first = first.number;
    one.group.group_id = first.given.id;
    one.group.found = match.found;
    one.group.similarity = match.similarity;
    one.group.distance = match.distance;
  }

  void Decide(const GivenItem& given, const std::string& moved_from) {
    One one;
    one.number = next_number_++;
    one.given = given;
    one.group.item_id = given.id;
    one.group.created_at = given.created_at;
    BeFirst(one);
    if (given.features.length == LengthClass::kEmpty) one.group.found = FoundBy::kNoText;
    One* copied = nullptr;
    for (One& other : items_) {
      const bool is_copy = Counts(other) && given.features.length != LengthClass::kEmpty &&
                           other.given.features.content_hash == given.features.content_hash;
      if (is_copy && copied == nullptr) copied = &other;
    }
    if (copied != nullptr) {
      one.first = copied->first;
      one.group.group_id = copied->group.group_id;
      one.group.found = copied->first == copied->number ? FoundBy::kCopy : copied->group.found;
      one.group.similarity = copied->group.similarity;
      one.group.distance = copied->group.distance;
      AddNear(one, *copied, {1.0, 0, FoundBy::kCopy});
      for (const NearItem& near : copied->group.near) {
        One* other = ByNumber(copied->near_numbers.at(near.item_id));
        if (other != nullptr) AddNear(one, *other, {near.similarity, near.distance, near.found});
      }
    } else {
      const One* first = nullptr;
      for (One& other : items_) {
        const auto match = rules_.Compare(given.features, other.given.features);
        if (!Counts(other) || !match) continue;
        AddNear(one, other, *match);
        const One* leader = ByNumber(other.first);
        if (leader == nullptr || (first != nullptr && first->number <= leader->number)) continue;
        const auto to_leader = rules_.Compare(given.features, leader->given.features);
        if (!to_leader) continue;
        first = leader;
        Join(one, *leader, *to_leader);
      }
    }
    if (!moved_from.empty() && moved_from != one.group.group_id) one.group.moved_from = moved_from;
    topic_[given.id] = one.group;
    if (!Counts(one)) return;
    for (const auto& [id, number] : one.near_numbers) {
      One& other = *ByNumber(number);
      const NearItem& near = NearOf(one, id);
      AddNear(other, one, {near.similarity, near.distance, near.found});
      topic_[id] = other.group;
    }
    items_.push_back(std::move(one));
  }

  static const NearItem& NearOf(const One& one, const std::string& id) {
    for (const NearItem& near : one.group.near) {
      if (near.item_id == id) return near;
    }
    std::abort();
  }

  static void AddNear(One& to, const One& other, const Match& match) {
    auto& near = to.group.near;
    std::erase_if(near, [&](const NearItem& item) { return item.item_id == other.given.id; });
    to.near_numbers[other.given.id] = other.number;
    near.push_back({other.given.id, match.similarity, match.distance, match.found});
    std::stable_sort(near.begin(), near.end(), [&](const NearItem& a, const NearItem& b) {
      return IsNearer(a.similarity, a.distance, to.near_numbers.at(a.item_id), b.similarity, b.distance,
                      to.near_numbers.at(b.item_id));
    });
    if (near.size() <= kNearItemsMax) return;
    to.near_numbers.erase(near.back().item_id);
    near.pop_back();
  }

  const GroupRules rules_;
  TimeMs now_;
  uint64_t next_number_ = 0;
  std::vector<One> items_;  // by number
  std::map<std::string, ItemGroup> topic_;
};

}  // namespace seen::test
