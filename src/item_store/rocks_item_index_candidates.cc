// Which items stand in the lists of a text. Lists lie scattered over the files, a read each; so a list isn't
// read where all items that stand in it are known from another one: what an item stands in is told by its
// row, which is needed anyway.
#include <algorithm>
#include <mutex>

#include "item_store/item_index_rows.h"
#include "item_store/rocks_item_index.h"
#include "rocks/status.h"

namespace seen {
namespace {

using ListHashes = ItemPresence::ListHashes;
constexpr size_t kHashes = std::tuple_size_v<ListHashes>;
constexpr unsigned kMany = ItemPresence::kCountMax;

bool IsOfSimHash(size_t list) { return list < kSimHashTables; }

bool IsNear(uint64_t differing) {
  for (int bit = 0; bit < kNearBits && differing != 0; ++bit) differing &= differing - 1;
  return differing == 0;
}

uint64_t NumberOf(const ItemRef& item) { return item.number; }
uint64_t NumberOfListed(const ListedSimHash& listed) { return listed.item.number; }

// A bucket's entries, which begin there. They were listed in order but for what took the place of another
// that was taken out.
template <typename List, typename Number>
void SortFrom(size_t begin, List& list, Number number_of) {
  std::sort(list.begin() + begin, list.end(),
            [&](const auto& a, const auto& b) { return number_of(a) > number_of(b); });
}

}  // namespace

// One look-up, bucket by bucket. One a thread: it keeps its buffers.
class RocksItemIndex::Lister {
 public:
  Status List(const RocksItemIndex& index, const CandidateQuery& query, uint32_t entries_max,
              CandidateLists& out);

 private:
  struct Known {
    ItemRef item;
    uint64_t simhash = 0;
    ListHashes hashes;
  };
  void Begin(const CandidateQuery& query);
  Status ListBucket(const RocksItemIndex& index, const BucketFamily& family);
  void Count(const ItemPresence& presence);
  bool IsNeeded(size_t list) const;
  bool HasMany(size_t list) const;
  void Want();
  std::optional<size_t> WantOneOfFew();
  Status ReadWanted(const RocksItemIndex& index, const BucketFamily& family);
  bool Append(size_t list, const ListView& view);
  Status Meet(const RocksItemIndex& index, const BucketFamily& family, size_t list);
  void AppendKnown(size_t list);
  size_t SizeOf(size_t list) const {
    return IsOfSimHash(list) ? out_->simhash[list].size() : out_->bands[list - kSimHashTables].size();
  }

  CandidateLists* out_ = nullptr;
  size_t entries_max_ = 0;
  uint64_t simhash_ = 0;
  ListHashes hashes_{};
  size_t begin_ = 0, end_ = 0;  // the lists that are asked for
  ItemPointReads lists_, rows_;

  // Of the bucket:
  int32_t bucket_ = 0;
  std::array<unsigned, kHashes> unknown_{};  // items of a hash that aren't known; kMany: any number
  std::array<bool, kCandidateLists> done_{};
  std::vector<Known> known_;
};

Status RocksItemIndex::Lister::List(const RocksItemIndex& index, const CandidateQuery& query,
                                    uint32_t entries_max, CandidateLists& out) {
  out_ = &out;
  entries_max_ = entries_max;
  out.Clear();
  Begin(query);
  const ItemPointReads::Use lists(lists_), rows(rows_);
  const auto families = index.families_.All();
  for (const auto& family : *families) {
    if (family->bucket() < query.first_bucket) break;
    if (Status listed = ListBucket(index, *family); !listed) return listed;
  }
  return {};
}

void RocksItemIndex::Lister::Begin(const CandidateQuery& query) {
  const ItemFeatures& features = *query.features;
  begin_ = query.by_simhash ? 0 : kSimHashTables;
  end_ = query.by_minhash ? kCandidateLists : kSimHashTables;
  simhash_ = features.simhash;
  hashes_ = ItemPresence::HashesOf(features);
  lists_.Clear();
  for (size_t table = 0; table < kSimHashTables; ++table) lists_.keys.push_back(SimHashKey(features, table));
  for (size_t band = 0; band < kBands; ++band) lists_.keys.push_back(BandKey(features.bands[band], band));
}

Status RocksItemIndex::Lister::ListBucket(const RocksItemIndex& index, const BucketFamily& family) {
  bucket_ = family.bucket();
  known_.clear();
  const std::shared_lock lock(index.mutex_);
  Count(family.presence());
  for (bool pays = true;;) {
    Want();
    const size_t needed = lists_.wanted.size();
    if (needed == 0) break;
    const auto few = pays ? WantOneOfFew() : std::nullopt;
    if (Status read = ReadWanted(index, family); !read) return read;
    if (!few) break;
    if (Status met = Meet(index, family, *few); !met) return met;
    const size_t read = lists_.wanted.size();
    Want();
    pays = lists_.wanted.size() < needed - read;
  }
  for (size_t list = begin_; list < end_; ++list) {
    if (!done_[list]) AppendKnown(list);
  }
  return {};
}

void RocksItemIndex::Lister::Count(const ItemPresence& presence) {
  const size_t begin = begin_ == 0 ? 0 : ItemPresence::kNearHashes;
  const size_t end = end_ == kCandidateLists ? kHashes : ItemPresence::kNearHashes;
  for (size_t hash = begin; hash < end; ++hash) presence.Prefetch(hashes_[hash]);
  for (size_t hash = begin; hash < end; ++hash) unknown_[hash] = presence.Count(hashes_[hash]);
  for (size_t list = begin_; list < end_; ++list) {
    const size_t room = entries_max_ - SizeOf(list);
    done_[list] = room == 0;
    if (room == 0) ++out_->cut;
    for (const uint8_t hash : ItemPresence::HashesOfList(list)) {
      // Which of them are the newest only the list says.
      if (unknown_[hash] > 0 && room < kMany) unknown_[hash] = kMany;
    }
  }
}

bool RocksItemIndex::Lister::IsNeeded(size_t list) const {
  const auto hashes = ItemPresence::HashesOfList(list);
  return !done_[list] &&
         std::any_of(hashes.begin(), hashes.end(), [&](uint8_t hash) { return unknown_[hash] > 0; });
}

bool RocksItemIndex::Lister::HasMany(size_t list) const {
  const auto hashes = ItemPresence::HashesOfList(list);
  return std::any_of(hashes.begin(), hashes.end(), [&](uint8_t hash) { return unknown_[hash] == kMany; });
}

void RocksItemIndex::Lister::Want() {
  lists_.wanted.clear();
  for (size_t list = begin_; list < end_; ++list) {
    if (IsNeeded(list)) lists_.wanted.push_back(static_cast<uint32_t>(list));
  }
}

// Of those that are needed: the ones that no known items can spare, and of the others the one band that makes
// most items known. nullopt: there is none, and all are wanted.
std::optional<size_t> RocksItemIndex::Lister::WantOneOfFew() {
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

Status RocksItemIndex::Lister::ReadWanted(const RocksItemIndex& index, const BucketFamily& family) {
  if (const rocksdb::Status read = index.Read(family, lists_); !read.ok()) {
    return Fail(ToError(read, index.What("can't read")));
  }
  for (const uint32_t list : lists_.wanted) {
    done_[list] = true;
    if (!lists_.values[list]) continue;
    const auto view = ListView::Of(*lists_.values[list], *ListShapeOf(lists_.keys[list]));
    if (!view) return Fail(index.Corrupt("a list of candidates"));
    out_->cut += view->ever() - view->size();
    if (!Append(list, *view)) ++out_->cut;
  }
  return {};
}

// False: not all had room.
bool RocksItemIndex::Lister::Append(size_t list, const ListView& view) {
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

// The items of a list that was read, and with them all they stand in.
Status RocksItemIndex::Lister::Meet(const RocksItemIndex& index, const BucketFamily& family, size_t list) {
  rows_.Clear();
  const auto& listed = out_->bands[list - kSimHashTables];
  const auto is_known = [&](const ItemRef& item) {
    return std::any_of(known_.begin(), known_.end(), [&](const Known& known) { return known.item == item; });
  };
  size_t first_row = out_->items.size();
  for (size_t i = listed.size(); i-- > 0;) {  // ascending: as keys are read
    const ItemRef& item = listed[i];
    if (item.bucket != bucket_ || is_known(item)) continue;
    rows_.keys.push_back(NumberKey(ItemTable::kItems, item.number));
    out_->items.push_back({item, std::nullopt});
  }
  rows_.WantAll();
  if (const rocksdb::Status read = index.Read(family, rows_); !read.ok()) {
    return Fail(ToError(read, index.What("can't read")));
  }
  for (const auto& value : rows_.values) {
    auto& [item, stored] = out_->items[first_row++];
    if (!value) continue;  // it was taken out
    stored = DecodeStoredItem(*value);
    if (!stored) return Fail(index.Corrupt("an item's row"));
    const ItemFeatures& features = stored->features;
    const Known& known = known_.emplace_back(Known{item, features.simhash, ItemPresence::HashesOf(features)});
    for (size_t i = 0; i < kHashes; ++i) {
      if (known.hashes[i] == hashes_[i] && unknown_[i] > 0 && unknown_[i] < kMany) --unknown_[i];
    }
  }
  return {};
}

// As if the list had been read.
void RocksItemIndex::Lister::AppendKnown(size_t list) {
  const size_t has = SizeOf(list);
  const auto hashes = ItemPresence::HashesOfList(list);
  for (const Known& known : known_) {
    const bool stands_in_it = std::any_of(hashes.begin(), hashes.end(),
                                          [&](uint8_t hash) { return known.hashes[hash] == hashes_[hash]; });
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

Status RocksItemIndex::Candidates(const CandidateQuery& query, uint32_t entries_max,
                                  CandidateLists& out) const {
  thread_local Lister lister;
  return lister.List(*this, query, entries_max, out);
}

}  // namespace seen
