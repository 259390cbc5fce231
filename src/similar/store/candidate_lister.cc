#include "similar/store/candidate_lister.h"

#include <algorithm>
#include <mutex>

#include "rocks/rocks_status.h"
#include "similar/store/item_index_rows.h"

namespace seen {
namespace {

constexpr unsigned kMany = ItemPresence::kCountMax;

bool IsOfSimHash(size_t list) { return list < kSimHashTables; }

bool IsNear(uint64_t differing) {
  for (int bit = 0; bit < kNearBits && differing != 0; ++bit) differing &= differing - 1;
  return differing == 0;
}

uint64_t NumberOf(const ItemRef& item) { return item.number; }
uint64_t NumberOfListed(const ListedSimHash& listed) { return listed.item.number; }

// Sorts a bucket's entries, which begin at `begin`. They were listed in order, except for an entry that took
// the place of a removed entry.
template <typename List, typename Number>
void SortFrom(size_t begin, List& list, Number number_of) {
  std::sort(list.begin() + begin, list.end(),
            [&](const auto& a, const auto& b) { return number_of(a) > number_of(b); });
}

}  // namespace

Status CandidateLister::List(const ItemIndexReader& reader, const CandidateQuery& query, uint32_t entries_max,
                             CandidateLists& out) {
  out_ = &out;
  entries_max_ = entries_max;
  out.Clear();
  Begin(query);
  const ItemPointReads::Use lists(lists_), rows(rows_);
  const auto families = reader.database().families().All();
  for (const auto& family : *families) {
    if (family->bucket() < query.first_bucket) break;
    if (Status listed = ListBucket(reader, *family); !listed) return listed;
  }
  return {};
}

void CandidateLister::Begin(const CandidateQuery& query) {
  const ItemFeatures& features = *query.features;
  begin_ = query.by_simhash ? 0 : kSimHashTables;
  end_ = query.by_minhash ? kCandidateLists : kSimHashTables;
  simhash_ = features.simhash;
  hashes_ = ItemPresence::HashesOf(features);
  lists_.Clear();
  for (size_t table = 0; table < kSimHashTables; ++table) lists_.keys.push_back(SimHashKey(features, table));
  for (size_t band = 0; band < kBands; ++band) lists_.keys.push_back(BandKey(features.bands[band], band));
  std::array<uint64_t, kBandLists - kBands> beginnings = {features.beginning, features.other_beginnings[0],
                                                          features.other_beginnings[1]};
  std::sort(beginnings.begin(), beginnings.end());  // RocksDB reads keys in order
  for (size_t i = 0; i < beginnings.size(); ++i) {
    hashes_[ItemPresence::kNearHashes + kBands + i] = ItemPresence::HashOfBeginning(beginnings[i]);
    lists_.keys.push_back(BandKey(beginnings[i], kBands));
  }
}

Status CandidateLister::ListBucket(const ItemIndexReader& reader, const BucketFamily& family) {
  bucket_ = family.bucket();
  known_.clear();
  const std::shared_lock lock(reader.mutex());
  Count(family.presence());
  for (bool pays = true;;) {
    Request();
    const size_t needed = lists_.wanted.size();
    if (needed == 0) break;
    const auto few = pays ? WantOneOfFew() : std::nullopt;
    if (Status read = ReadWanted(reader, family); !read) return read;
    if (!few) break;
    if (Status read = ReadItemsOf(reader, family, *few); !read) return read;
    const size_t lists_read = lists_.wanted.size();
    Request();
    pays = lists_.wanted.size() < needed - lists_read;
  }
  for (size_t list = begin_; list < end_; ++list) {
    if (!done_[list]) AppendKnown(list);
  }
  return {};
}

void CandidateLister::Count(const ItemPresence& presence) {
  const size_t begin = begin_ == 0 ? 0 : ItemPresence::kNearHashes;
  const size_t end = end_ == kCandidateLists ? kHashes : ItemPresence::kNearHashes;
  for (size_t hash = begin; hash < end; ++hash) presence.Prefetch(hashes_[hash]);
  for (size_t hash = begin; hash < end; ++hash)
    unknown_[hash] = hashes_[hash] != 0 ? presence.Count(hashes_[hash]) : 0;
  for (size_t list = begin_; list < end_; ++list) {
    const size_t room = entries_max_ - SizeOf(list);
    done_[list] = room == 0;
    if (room == 0) ++out_->cut;
    for (const uint8_t hash : ItemPresence::HashesOfList(list)) {
      // Only the list says which of its items are the newest.
      if (unknown_[hash] > 0 && room < kMany) unknown_[hash] = kMany;
    }
  }
}

bool CandidateLister::IsNeeded(size_t list) const {
  const auto hashes = ItemPresence::HashesOfList(list);
  return !done_[list] &&
         std::any_of(hashes.begin(), hashes.end(), [&](uint8_t hash) { return unknown_[hash] > 0; });
}

bool CandidateLister::HasMany(size_t list) const {
  const auto hashes = ItemPresence::HashesOfList(list);
  return std::any_of(hashes.begin(), hashes.end(), [&](uint8_t hash) { return unknown_[hash] == kMany; });
}

void CandidateLister::Request() {
  lists_.wanted.clear();
  for (size_t list = begin_; list < end_; ++list) {
    if (IsNeeded(list)) lists_.wanted.push_back(static_cast<uint32_t>(list));
  }
}

// Reduces the wanted lists to those that must be read in any case, and one band. The band is the one with the
// most unknown items among the others. Returns that band. nullopt: there is none, and all needed lists stay
// wanted.
std::optional<size_t> CandidateLister::WantOneOfFew() {
  std::optional<size_t> few;
  unsigned most = 0;
  for (const uint32_t list : lists_.wanted) {
    if (IsOfSimHash(list) || HasMany(list)) continue;
    const unsigned unknown = unknown_[ItemPresence::HashesOfList(list).front()];
    if (unknown > most) few = list;
    most = std::max(most, unknown);
  }
  if (few) std::erase_if(lists_.wanted, [&](uint32_t list) { return list != *few && !HasMany(list); });
  return few;
}

Status CandidateLister::ReadWanted(const ItemIndexReader& reader, const BucketFamily& family) {
  if (Status read = reader.Read(family, lists_); !read) return read;
  for (const uint32_t list : lists_.wanted) {
    done_[list] = true;
    if (!lists_.values[list]) continue;
    const auto view = ListView::Of(*lists_.values[list], *ListShapeOf(lists_.keys[list]));
    if (!view) return Fail(reader.database().Corrupt("a list of candidates"));
    out_->cut += view->ever() - view->size();
    if (!Append(list, *view)) ++out_->cut;
  }
  return {};
}

// False: there was no space for all entries.
bool CandidateLister::Append(size_t list, const ListView& view) {
  const size_t has = SizeOf(list);
  bool in_order = true;
  uint64_t last = UINT64_MAX;
  const auto item = [&](size_t i) {
    const uint64_t number = view.number(i);
    in_order &= number < last;
    last = number;
    return ItemRef{bucket_, number};
  };
  if (!IsOfSimHash(list)) {
    const size_t taken = std::min(view.size(), entries_max_ - has);
    auto& listed = out_->bands[list - kSimHashTables];
    for (size_t i = view.size(); i-- > view.size() - taken;) listed.push_back(item(i));
    if (!in_order) SortFrom(has, listed, NumberOf);
    return taken == view.size();
  }
  auto& listed = out_->simhash[list];
  const uint64_t rest = RestOf(simhash_, list);
  bool has_room = true;
  out_->compared += view.size();
  for (size_t i = view.size(); i-- > 0;) {
    const uint64_t value = view.value(i);
    if (!IsNear(value ^ rest)) continue;
    has_room = listed.size() < entries_max_;
    if (!has_room) break;
    listed.push_back({WithBlock(value, BlockOf(simhash_, list), list), item(i)});
  }
  if (!in_order) SortFrom(has, listed, NumberOfListed);
  return has_room;
}

// Reads the items of a list that was read. Their rows say in which other lists they are.
Status CandidateLister::ReadItemsOf(const ItemIndexReader& reader, const BucketFamily& family, size_t list) {
  rows_.Clear();
  const auto& listed = out_->bands[list - kSimHashTables];
  const auto is_known = [&](const ItemRef& item) {
    return std::any_of(known_.begin(), known_.end(), [&](const Known& known) { return known.item == item; });
  };
  size_t first_row = out_->items.size();
  for (size_t i = listed.size(); i-- > 0;) {  // ascending: the order in which keys are read
    const ItemRef& item = listed[i];
    if (item.bucket != bucket_ || is_known(item)) continue;
    rows_.keys.push_back(NumberKey(ItemTable::kItems, item.number));
    out_->items.push_back({item, std::nullopt});
  }
  rows_.WantAll();
  if (Status read = reader.Read(family, rows_); !read) return read;
  for (const auto& value : rows_.values) {
    auto& [item, stored] = out_->items[first_row++];
    if (!value) continue;  // the item was taken out
    stored = DecodeStoredItem(*value);
    if (!stored) return Fail(reader.database().Corrupt("an item's row"));
    const ItemFeatures& features = stored->features;
    const Known& known = known_.emplace_back(Known{item, features.simhash, ItemPresence::HashesOf(features)});
    for (size_t i = 0; i < kHashes; ++i) {
      if (IsIn(known, i) && unknown_[i] > 0 && unknown_[i] < kMany) --unknown_[i];
    }
  }
  return {};
}

// Appends the known items of a list that isn't read: the result is as if it had been read.
void CandidateLister::AppendKnown(size_t list) {
  const size_t has = SizeOf(list);
  const auto hashes = ItemPresence::HashesOfList(list);
  for (const Known& known : known_) {
    const bool stands_in_it =
        std::any_of(hashes.begin(), hashes.end(), [&](uint8_t hash) { return IsIn(known, hash); });
    if (!stands_in_it) continue;
    if (!IsOfSimHash(list)) {
      out_->bands[list - kSimHashTables].push_back(known.item);
    } else if (IsNear(known.simhash ^ simhash_)) {
      out_->simhash[list].push_back({known.simhash, known.item});
    }
  }
  if (IsOfSimHash(list)) {
    SortFrom(has, out_->simhash[list], NumberOfListed);
  } else {
    SortFrom(has, out_->bands[list - kSimHashTables], NumberOf);
  }
}

}  // namespace seen
