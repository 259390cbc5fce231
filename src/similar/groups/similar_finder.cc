#include "similar/groups/similar_finder.h"

#include <algorithm>
#include <array>
#include <bit>

namespace seen {

namespace {

constexpr int kDistanceUnknown = 65;
constexpr size_t kVerifiedTogether = 32;
// Candidates whose rows are gone cost little. With them, up to this many times candidates_max are looked at.
constexpr size_t kPassedOver = 4;

bool IsNearerMatch(const ItemMatch& a, const ItemMatch& b) {
  return IsNearer(a.match.similarity, a.match.distance, a.item.number, b.match.similarity, b.match.distance,
                  b.item.number);
}

// Greater for a newer bucket, and within a bucket for a newer item; above 0.
uint64_t PlaceOf(const ItemRef& item) { return static_cast<uint64_t>(item.bucket + 1) << 40 | item.number; }
ItemRef ItemAt(uint64_t place) {
  return {static_cast<int32_t>(place >> 40) - 1, place & ((uint64_t{1} << 40) - 1)};
}

bool IsOlder(const ItemRef& a, const ItemRef& b) { return a.number < b.number; }

}  // namespace

Status SimilarFinder::Find(const ItemFeatures& features, TimeMs index_time, const std::vector<Copy>& copies,
                           std::string_view except, size_t enough, GroupRows& rows) {
  index_time_ = index_time;
  except_ = except;
  copied_.reset();
  similar_.clear();
  counts_ = {};
  if (features.length == LengthClass::kEmpty) return {};
  if (Status found = FindAsCopy(copies, rows); !found || copied_) return found;
  if (!IsListed(features)) return {};
  return FindInLists(features, enough, rows);
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
  // One of the copies may be `except_`, which doesn't count.
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
        Add(near.item, {near.near.similarity, near.near.distance, near.near.found, near.near.containment});
    }
  }
  std::sort(similar_.begin(), similar_.end(), IsNearerMatch);
  return {};
}

// Merges the lists by place, newest first. No other candidate ranks before one that is in the lists of all
// bands: with enough of these the rest needn't be read.
void SimilarFinder::GatherCandidates(const ItemFeatures& features, size_t enough) {
  candidates_.clear();
  const int distance_max = rules_.DistanceMax(features);
  for (size_t table = 0; table < kSimHashTables && distance_max < kNearBits; ++table) {
    lists_.simhash[table].erase_if([&](const ListedSimHash& listed) {
      return std::popcount(listed.simhash ^ features.simhash) > distance_max;
    });
  }
  std::array<size_t, kCandidateLists> at{};
  std::array<uint64_t, kCandidateLists> places;  // of each list's next entry; 0: the list has ended
  const auto find_place = [&](size_t list) {
    const size_t i = at[list];
    if (list < kSimHashTables) {
      const auto& from = lists_.simhash[list];
      places[list] = i < from.size() ? PlaceOf(from[i].item) : 0;
    } else {
      const auto& from = lists_.bands[list - kSimHashTables];
      places[list] = i < from.size() ? PlaceOf(from[i]) : 0;
    }
  };
  for (size_t list = 0; list < kCandidateLists; ++list) find_place(list);
  for (size_t in_all_bands = 0; in_all_bands < enough;) {
    const uint64_t next = *std::max_element(places.begin(), places.end());
    if (next == 0) return;
    Candidate candidate{ItemAt(next), 0, kDistanceUnknown};
    for (size_t list = 0; list < kCandidateLists; ++list) {
      if (places[list] != next) continue;
      if (list < kSimHashTables) {
        candidate.distance = std::popcount(lists_.simhash[list][at[list]].simhash ^ features.simhash);
      } else if (list < kSimHashTables + kBands) {
        ++candidate.bands;
      }
      ++at[list];
      find_place(list);
    }
    candidates_.push_back(candidate);
    in_all_bands += candidate.bands == kBands ? 1u : 0u;
  }
}

Status SimilarFinder::FindInLists(const ItemFeatures& features, size_t enough, GroupRows& rows) {
  const GroupOptions& options = rules_.options();
  const CandidateQuery query{&features, UsesSimHash(options.method) && rules_.DistanceMax(features) >= 0,
                             UsesMinHash(options.method), rules_.FirstBucket(index_time_)};
  if (Status read = index_.Candidates(query, options.list_max, lists_); !read) return read;
  counts_.compared = lists_.compared;
  counts_.lists_cut = lists_.cut;
  rows.TakeItems(lists_.items);
  GatherCandidates(features, enough);
  if (Status verified = Verify(features, enough, rows); !verified) return verified;
  std::sort(similar_candidates_.begin(), similar_candidates_.end(), IsNearerMatch);
  return AddCopies(enough, rows);
}

// Verifies candidates until enough are similar: most bands in common first, then the least distance, then the
// oldest.
Status SimilarFinder::Verify(const ItemFeatures& features, size_t enough, GroupRows& rows) {
  similar_candidates_.clear();
  const size_t verified_max = rules_.options().candidates_max;
  const size_t end = std::min(candidates_.size(), kPassedOver * verified_max);
  size_t begin = 0, found = 0;
  while (begin < end && counts_.verified < verified_max && found < enough) {
    const size_t size = std::min({kVerifiedTogether, end - begin, verified_max - counts_.verified});
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
      const auto match = rules_.Compare(features, stored->features);
      if (!match) continue;
      similar_candidates_.push_back({ref, *match});
      found += Counts(ref, rows) ? 1u : 0u;
    }
    begin += size;
  }
  if (found < enough) counts_.candidates_cut = candidates_.size() - begin;
  return {};
}

void SimilarFinder::Add(ItemRef item, const Match& match) {
  const auto is_it = [&](const ItemMatch& similar) { return similar.item == item; };
  if (std::none_of(similar_.begin(), similar_.end(), is_it)) similar_.push_back({item, match});
}

// Candidate lists name one item per content and bucket. That item may have left the window, and other items
// of its content are as near. If there aren't enough items, adds these copies, nearest content first.
Status SimilarFinder::AddCopies(size_t enough, GroupRows& rows) {
  for (const ItemMatch& candidate : similar_candidates_) {
    if (Counts(candidate.item, rows)) Add(candidate.item, candidate.match);
  }
  const size_t wanted = std::min(enough, kNearItemsMax);
  for (size_t i = 0; i < similar_candidates_.size() && similar_.size() < wanted; ++i) {
    if (i % kNearItemsMax == 0) {
      refs_.clear();
      for (size_t j = i; j < std::min(i + kNearItemsMax, similar_candidates_.size()); ++j)
        refs_.push_back(similar_candidates_[j].item);
      if (Status loaded = rows.LoadGroups(refs_); !loaded) return loaded;
    }
    const StoredGroup* group = rows.Group(similar_candidates_[i].item);
    const auto is_copy = [](const StoredNear& near) { return near.near.found == FoundBy::kCopy; };
    const bool has_copies = group != nullptr && std::any_of(group->near.begin(), group->near.end(), is_copy);
    if (!has_copies && Counts(similar_candidates_[i].item, rows)) continue;
    if (Status added = AddCopiesOf(similar_candidates_[i], rows); !added) return added;
  }
  std::sort(similar_.begin(), similar_.end(), IsNearerMatch);
  return {};
}

Status SimilarFinder::AddCopiesOf(const ItemMatch& candidate, GroupRows& rows) {
  const uint64_t content_hash = rows.Item(candidate.item)->features.content_hash;
  Status found = index_.Find(std::nullopt, content_hash, rules_.FirstBucket(index_time_), known_);
  if (!found) return found;
  refs_.clear();
  for (const Copy& copy : known_.copies) {
    if (!rules_.IsGone(copy.created_at, index_time_)) refs_.push_back(copy.item);
  }
  std::sort(refs_.begin(), refs_.end(), IsOlder);
  if (refs_.size() > kNearItemsMax) refs_.resize(kNearItemsMax);
  if (Status loaded = rows.LoadItems(refs_); !loaded) return loaded;
  for (const ItemRef& ref : refs_) {
    if (Counts(ref, rows)) Add(ref, candidate.match);
  }
  return {};
}

Result<std::vector<NearItem>> GroupLookup::Similar(const ItemFeatures& features, size_t limit,
                                                   std::string_view except) const {
  GroupRows rows(index_);
  thread_local CandidateLists lists;
  SimilarFinder finder(rules_, index_, lists);
  const TimeMs now = Now();
  KnownItem known;
  Status done = index_.Find(std::nullopt, features.content_hash, rules_.FirstBucket(now), known);
  if (done) done = finder.Find(features, now, known.copies, except, limit, rows);
  if (!done) return Fail(done.error());
  std::vector<NearItem> near;
  for (const ItemMatch& similar : finder.similar()) {
    if (near.size() == limit) break;
    near.push_back({rows.Item(similar.item)->item_id, similar.match.similarity, similar.match.distance,
                    similar.match.found, similar.match.containment});
  }
  return near;
}

Result<std::optional<ItemGroup>> GroupLookup::Group(std::string_view item_id) const {
  const TimeMs now = Now();
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

}  // namespace seen
