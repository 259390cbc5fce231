#include "flow/similar_finder.h"

#include <algorithm>
#include <bit>

namespace seen {
namespace {

constexpr int kDistanceUnknown = 65;
// Candidates whose rows are gone cost little; so many lots of them are passed over.
constexpr size_t kLotsMax = 4;

bool IsNearerItem(const SimilarItem& a, const SimilarItem& b) {
  return IsNearer(a.likeness.similarity, a.likeness.distance, a.item.number, b.likeness.similarity,
                  b.likeness.distance, b.item.number);
}

bool IsOlder(const ItemRef& a, const ItemRef& b) { return a.number < b.number; }

}  // namespace

Status SimilarFinder::Find(const ItemFeatures& features, TimeMs index_time, const std::vector<Copy>& copies,
                           std::string_view except, GroupRows& rows) {
  index_time_ = index_time;
  except_ = except;
  copied_.reset();
  similar_.clear();
  counts_ = {};
  if (features.length == LengthClass::kEmpty) return {};
  if (Status found = FindAsCopy(copies, rows); !found || copied_) return found;
  return FindInLists(features, rows);
}

bool SimilarFinder::Counts(ItemRef item, const GroupRows& rows) const {
  const StoredItem* stored = rows.Item(item);
  return stored != nullptr && !rules_.IsGone(stored->created_at, index_time_) &&
         (except_.empty() || stored->item_id != except_);
}

Status SimilarFinder::FindAsCopy(const std::vector<Copy>& copies, GroupRows& rows) {
  refs_.clear();
  for (const Copy& copy : copies) {
    if (!rules_.IsGone(copy.created_at, index_time_)) refs_.push_back(copy.item);
  }
  // One of them may be the one that doesn't count.
  const size_t asked = std::min<size_t>(refs_.size(), except_.empty() ? 1 : 2);
  std::partial_sort(refs_.begin(), refs_.begin() + static_cast<ptrdiff_t>(asked), refs_.end(), IsOlder);
  refs_.resize(asked);
  if (Status loaded = rows.LoadItems(refs_); !loaded) return loaded;
  for (const ItemRef& ref : refs_) {
    if (!copied_ && Counts(ref, rows)) copied_ = ref;
  }
  if (!copied_) return {};
  if (Status loaded = rows.LoadGroups({&*copied_, 1}); !loaded) return loaded;
  similar_.push_back({*copied_, {1.0, 0, FoundBy::kCopy}});
  if (const StoredGroup* group = rows.Group(*copied_)) {
    refs_.clear();
    for (const StoredNear& near : group->near) refs_.push_back(near.item);
    if (Status loaded = rows.LoadItems(refs_); !loaded) return loaded;
    for (const StoredNear& near : group->near) {
      if (Counts(near.item, rows))
        Add(near.item, {near.near.similarity, near.near.distance, near.near.found});
    }
  }
  std::sort(similar_.begin(), similar_.end(), IsNearerItem);
  return {};
}

SimilarFinder::Candidate& SimilarFinder::At(ItemRef item) {
  const size_t mask = slots_.size() - 1;
  for (size_t slot = item.number * 0x9e3779b97f4a7c15u >> 40 & mask;; slot = (slot + 1) & mask) {
    if (slots_[slot] == 0) {
      candidates_.push_back({item, 0, kDistanceUnknown});
      slots_[slot] = static_cast<uint32_t>(candidates_.size());
    }
    Candidate& candidate = candidates_[slots_[slot] - 1];
    if (candidate.item == item) return candidate;
  }
}

void SimilarFinder::GatherCandidates(const ItemFeatures& features) {
  candidates_.clear();
  size_t within = 0;
  const int distance_max = rules_.DistanceMax(features);
  for (auto& list : lists_.simhash) {
    counts_.compared += list.size();
    std::erase_if(list, [&](const ListedSimHash& listed) {
      return std::popcount(listed.simhash ^ features.simhash) > distance_max;
    });
    within += list.size();
  }
  for (const auto& list : lists_.bands) within += list.size();
  slots_.assign(std::bit_ceil(2 * within + 1), 0);
  for (const auto& list : lists_.simhash) {
    for (const ListedSimHash& listed : list) {
      At(listed.item).distance = std::popcount(listed.simhash ^ features.simhash);
    }
  }
  for (const auto& list : lists_.bands) {
    for (const ItemRef& item : list) ++At(item).bands;
  }
}

Status SimilarFinder::FindInLists(const ItemFeatures& features, GroupRows& rows) {
  const GroupOptions& options = rules_.options();
  const CandidateQuery query{&features, options.by_simhash && rules_.DistanceMax(features) >= 0,
                             options.by_minhash, rules_.FirstBucket(index_time_)};
  if (Status read = index_.Candidates(query, options.list_max, lists_); !read) return read;
  counts_.lists_cut = lists_.cut;
  GatherCandidates(features);
  if (Status verified = Verify(features, rows); !verified) return verified;
  std::sort(alike_.begin(), alike_.end(), IsNearerItem);
  return AddCopies(rows);
}

// Most bands in common first, then the least distance, then the oldest.
Status SimilarFinder::Verify(const ItemFeatures& features, GroupRows& rows) {
  alike_.clear();
  const size_t lot_size = rules_.options().candidates_max;
  size_t begin = 0;
  for (size_t lot = 0; lot < kLotsMax && begin < candidates_.size() && counts_.verified < lot_size; ++lot) {
    const size_t size = std::min(candidates_.size() - begin, lot_size - counts_.verified);
    const auto from = candidates_.begin() + static_cast<ptrdiff_t>(begin);
    std::partial_sort(from, from + static_cast<ptrdiff_t>(size), candidates_.end(),
                      [](const Candidate& a, const Candidate& b) {
                        if (a.bands != b.bands) return a.bands > b.bands;
                        if (a.distance != b.distance) return a.distance < b.distance;
                        return a.item.number < b.item.number;
                      });
    refs_.clear();
    for (size_t i = begin; i < begin + size; ++i) refs_.push_back(candidates_[i].item);
    if (Status loaded = rows.LoadItems(refs_); !loaded) return loaded;
    for (const ItemRef& ref : refs_) {
      const StoredItem* stored = rows.Item(ref);
      if (stored == nullptr) continue;
      ++counts_.verified;
      if (const auto likeness = rules_.Compare(features, stored->features))
        alike_.push_back({ref, *likeness});
    }
    begin += size;
  }
  counts_.candidates_cut = candidates_.size() - begin;
  return {};
}

void SimilarFinder::Add(ItemRef item, const Likeness& likeness) {
  const auto is_it = [&](const SimilarItem& similar) { return similar.item == item; };
  if (std::none_of(similar_.begin(), similar_.end(), is_it)) similar_.push_back({item, likeness});
}

// Candidate lists name one item of a content. That one may have left the window; others of its content may be
// near as well as it. Contents are asked for in the order of nearness until there are enough items.
Status SimilarFinder::AddCopies(GroupRows& rows) {
  for (size_t i = 0; i < alike_.size(); ++i) {
    const SimilarItem& alike = alike_[i];
    const bool counts = Counts(alike.item, rows);
    if (counts) Add(alike.item, alike.likeness);
    if (similar_.size() >= kNearItemsMax) continue;
    if (i % kNearItemsMax == 0) {
      refs_.clear();
      for (size_t j = i; j < std::min(i + kNearItemsMax, alike_.size()); ++j) refs_.push_back(alike_[j].item);
      if (Status loaded = rows.LoadGroups(refs_); !loaded) return loaded;
    }
    const StoredGroup* group = rows.Group(alike.item);
    const auto is_copy = [](const StoredNear& near) { return near.near.found == FoundBy::kCopy; };
    if (counts && (group == nullptr || std::none_of(group->near.begin(), group->near.end(), is_copy)))
      continue;
    if (Status added = AddCopiesOf(alike, rows); !added) return added;
  }
  std::sort(similar_.begin(), similar_.end(), IsNearerItem);
  return {};
}

Status SimilarFinder::AddCopiesOf(const SimilarItem& alike, GroupRows& rows) {
  const uint64_t content_hash = rows.Item(alike.item)->features.content_hash;
  const Status found = index_.Find(std::nullopt, content_hash, rules_.FirstBucket(index_time_), known_);
  if (!found) return found;
  refs_.clear();
  for (const Copy& copy : known_.copies) {
    if (!rules_.IsGone(copy.created_at, index_time_)) refs_.push_back(copy.item);
  }
  std::sort(refs_.begin(), refs_.end(), IsOlder);
  if (refs_.size() > kNearItemsMax) refs_.resize(kNearItemsMax);
  if (Status loaded = rows.LoadItems(refs_); !loaded) return loaded;
  for (const ItemRef& ref : refs_) {
    if (Counts(ref, rows)) Add(ref, alike.likeness);
  }
  return {};
}

}  // namespace seen
