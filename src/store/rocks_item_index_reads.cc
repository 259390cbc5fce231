#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <set>

#include "store/item_index_rows.h"
#include "store/item_list_merge.h"
#include "store/rocks_item_index.h"
#include "store/rocks_status.h"

namespace seen {
namespace {

std::string_view ViewOf(const rocksdb::Slice& slice) { return {slice.data(), slice.size()}; }

Error Corrupt(std::string what) {
  return {Code::kCorrupt,
          std::move(what) + " can't be read. Remedy: check the disk, then start with --rebuild"};
}

}  // namespace

// Point reads of one family, together. One a thread: they keep their buffers.
struct RocksItemIndex::PointReads {
  std::vector<std::string> keys;
  // By place in `keys`:
  std::vector<uint32_t> hash_ends;                      // none: they are all there
  std::vector<bool> full;                               // enough of it is known: it isn't looked for
  std::vector<std::optional<std::string_view>> values;  // nullopt: there is none

  void Clear() {
    keys.clear();
    hashes.clear();
    hash_ends.clear();
    full.clear();
  }
  /// A key that is looked for only where the bucket's presence has one of `of_it`.
  void Add(std::string key, std::span<const uint64_t> of_it) {
    keys.push_back(std::move(key));
    hashes.insert(hashes.end(), of_it.begin(), of_it.end());
    hash_ends.push_back(static_cast<uint32_t>(hashes.size()));
    full.push_back(false);
  }
  void Add(std::string key) {
    const uint64_t hash = ItemPresence::HashOf(key);
    Add(std::move(key), {&hash, 1});
  }
  bool MayBeIn(const ItemPresence& presence, size_t key) const {
    if (hash_ends.empty()) return true;
    if (full[key]) return false;
    for (size_t i = key == 0 ? 0 : hash_ends[key - 1]; i < hash_ends[key]; ++i) {
      if (presence.Test(hashes[i])) return true;
    }
    return false;
  }
  /// What was pinned may be let go.
  void LetGo() {
    for (rocksdb::PinnableSlice& value : pinned) value.Reset();
  }

  std::vector<uint64_t> hashes;
  std::vector<uint32_t> asked;  // of the files: places in `keys`
  std::vector<rocksdb::Slice> slices;
  std::vector<rocksdb::PinnableSlice> pinned;
  std::vector<rocksdb::Status> read;
  std::vector<std::string> unsaved;  // by place in `keys`, what the tail had
  std::vector<ItemIndexTail::Kind> kinds;
};

RocksItemIndex::PointReads& RocksItemIndex::Reads() {
  thread_local PointReads reads;
  return reads;
}

// The tail first, then the files for what it doesn't say. A list of both is put together.
rocksdb::Status RocksItemIndex::Read(const BucketFamily& family, PointReads& reads) const {
  using Kind = ItemIndexTail::Kind;
  const size_t count = reads.keys.size();
  reads.LetGo();  // one that is pinned can't be moved
  reads.values.assign(count, std::nullopt);
  reads.kinds.assign(count, Kind::kNone);
  if (reads.unsaved.size() < count) reads.unsaved.resize(count);
  reads.asked.clear();
  reads.slices.clear();
  const std::shared_lock lock(mutex_);
  const ItemPresence& presence = family.presence();
  for (const uint64_t hash : reads.hashes) presence.Prefetch(hash);
  for (uint32_t i = 0; i < count; ++i) {
    if (!reads.MayBeIn(presence, i)) continue;
    const auto found = tail_.Find(family.bucket(), reads.keys[i]);
    reads.kinds[i] = found.kind;
    if (found.kind == Kind::kPut || found.kind == Kind::kMerged) reads.unsaved[i].assign(found.value);
    if (found.kind == Kind::kNone || found.kind == Kind::kMerged) {
      reads.asked.push_back(i);
      reads.slices.emplace_back(reads.keys[i]);
    } else if (found.kind == Kind::kPut) {
      reads.values[i] = reads.unsaved[i];
    }
  }
  if (reads.asked.empty()) return rocksdb::Status::OK();
  if (reads.pinned.size() < reads.asked.size()) reads.pinned.resize(reads.asked.size());
  reads.read.resize(reads.asked.size());
  db_->MultiGet(rocksdb::ReadOptions(), family.handle(), reads.asked.size(), reads.slices.data(),
                reads.pinned.data(), reads.read.data(), /*sorted_input=*/true);
  for (size_t j = 0; j < reads.asked.size(); ++j) {
    const uint32_t i = reads.asked[j];
    const rocksdb::Status& read = reads.read[j];
    if (!read.ok() && !read.IsNotFound()) return read;
    if (read.ok()) reads.values[i] = ViewOf(reads.pinned[j]);
    if (reads.kinds[i] != Kind::kMerged) continue;
    if (read.ok()) {
      std::string whole;
      if (!MergeLists(reads.keys[i], {*reads.values[i], reads.unsaved[i]}, whole)) {
        return rocksdb::Status::Corruption("a list of the index of items");
      }
      reads.unsaved[i] = std::move(whole);
    }
    reads.values[i] = reads.unsaved[i];
  }
  return rocksdb::Status::OK();
}

Status RocksItemIndex::Find(std::optional<std::string_view> item_id, std::optional<uint64_t> content_hash,
                            int32_t first_bucket, KnownItem& out) const {
  out.item.reset();
  out.copies.clear();
  PointReads& reads = Reads();
  reads.Clear();
  if (item_id) reads.Add(IdKey(*item_id));
  if (content_hash) reads.Add(ContentKey(*content_hash));
  const auto families = families_.All();
  for (const auto& family : *families) {
    if (family->bucket() < first_bucket) break;
    if (const rocksdb::Status read = Read(*family, reads); !read.ok()) {
      return Fail(ToError(read, What("can't read")));
    }
    for (size_t i = 0; i < reads.keys.size(); ++i) {
      if (!reads.values[i]) continue;
      const std::string_view value = *reads.values[i];
      if (item_id && i == 0) {
        if (value.size() != kNumberBytes) return Fail(Corrupt(What("an item's number")));
        const ItemRef item{family->bucket(), GetNumber(value.data())};
        if (!out.item || item.number > out.item->number) out.item = item;
        continue;
      }
      const auto list = ListView::Of(value, *ListShapeOf(reads.keys[i]));
      if (!list) return Fail(Corrupt(What("a list of copies")));
      for (size_t entry = 0; entry < list->size(); ++entry) {
        out.copies.push_back(
            {{family->bucket(), list->number(entry)}, TimeMs{static_cast<int64_t>(list->value(entry))}});
      }
    }
  }
  reads.LetGo();
  return {};
}

Status RocksItemIndex::Candidates(const CandidateQuery& query, uint32_t entries_max,
                                  CandidateLists& out) const {
  for (auto& list : out.simhash) list.clear();
  for (auto& list : out.bands) list.clear();
  out.cut = 0;
  const ItemFeatures& features = *query.features;
  PointReads& reads = Reads();
  reads.Clear();
  const size_t tables = query.by_simhash ? kSimHashTables : 0;
  for (size_t table = 0; table < tables; ++table) {
    reads.Add(SimHashKey(features, table), ItemPresence::NearHashesOf(features, table));
  }
  for (size_t band = 0; band < kBands && query.by_minhash; ++band) {
    reads.Add(BandKey(features.bands[band], band));
  }
  const auto families = families_.All();
  for (const auto& family : *families) {
    if (family->bucket() < query.first_bucket) break;
    if (const rocksdb::Status read = Read(*family, reads); !read.ok()) {
      return Fail(ToError(read, What("can't read")));
    }
    for (size_t i = 0; i < reads.keys.size(); ++i) {
      if (reads.full[i]) {
        ++out.cut;
        continue;
      }
      if (!reads.values[i]) continue;
      const auto list = ListView::Of(*reads.values[i], *ListShapeOf(reads.keys[i]));
      if (!list) return Fail(Corrupt(What("a list of candidates")));
      const bool is_simhash = i < tables;
      const size_t has = is_simhash ? out.simhash[i].size() : out.bands[i - tables].size();
      const size_t taken = std::min<size_t>(list->size(), entries_max - has);
      out.cut += list->ever() - taken;
      reads.full[i] = has + taken == entries_max;
      const size_t last = list->size() - 1;
      if (is_simhash) {
        auto& listed = out.simhash[i];
        listed.resize(has + taken);
        for (size_t j = 0; j < taken; ++j) {
          const uint64_t simhash = WithBlock(list->value(last - j), BlockOf(features.simhash, i), i);
          listed[has + j] = {simhash, {family->bucket(), list->number(last - j)}};
        }
      } else {
        auto& listed = out.bands[i - tables];
        listed.resize(has + taken);
        for (size_t j = 0; j < taken; ++j) listed[has + j] = {family->bucket(), list->number(last - j)};
      }
    }
  }
  reads.LetGo();
  return {};
}

template <typename Decoded>
Status RocksItemIndex::ReadRows(ItemTable table, std::span<const ItemRef> items,
                                std::optional<Decoded> (*decode)(std::string_view),
                                std::vector<std::optional<Decoded>>& out) const {
  out.clear();
  out.resize(items.size());
  // By bucket and number, as the files have them.
  std::vector<uint32_t> order(items.size());
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    if (items[a].bucket != items[b].bucket) return items[a].bucket < items[b].bucket;
    return items[a].number < items[b].number;
  });
  PointReads& reads = Reads();
  for (size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    const int32_t bucket = items[order[begin]].bucket;
    while (end < order.size() && items[order[end]].bucket == bucket) ++end;
    const auto family = families_.Find(bucket);
    if (!family) continue;
    reads.Clear();
    for (size_t i = begin; i < end; ++i) {
      std::string key = NumberKey(table, items[order[i]].number);
      if (table == ItemTable::kGroups) {
        reads.Add(std::move(key));
      } else {
        reads.keys.push_back(std::move(key));
      }
    }
    if (const rocksdb::Status read = Read(*family, reads); !read.ok()) {
      return Fail(ToError(read, What("can't read")));
    }
    for (size_t i = begin; i < end; ++i) {
      const auto& value = reads.values[i - begin];
      if (!value) continue;
      out[order[i]] = decode(*value);
      if (!out[order[i]]) return Fail(Corrupt(What(fmt::format("row {}", items[order[i]].number))));
    }
  }
  reads.LetGo();
  return {};
}

Status RocksItemIndex::Items(std::span<const ItemRef> items,
                             std::vector<std::optional<StoredItem>>& out) const {
  return ReadRows(ItemTable::kItems, items, &DecodeStoredItem, out);
}

Status RocksItemIndex::Groups(std::span<const ItemRef> items,
                              std::vector<std::optional<StoredGroup>>& out) const {
  return ReadRows(ItemTable::kGroups, items, &DecodeStoredGroup, out);
}

Status RocksItemIndex::Members(ItemRef first, std::vector<ItemRef>& out) const {
  out.clear();
  const auto family = families_.Find(first.bucket);
  if (!family) return {};
  const std::string from = MembersKey(first.number);
  const std::string to = MembersKey(first.number + 1);
  const rocksdb::Slice end(to);
  rocksdb::ReadOptions options;
  options.iterate_upper_bound = &end;
  const std::shared_lock lock(mutex_);
  std::set<std::string, std::less<>> keys;
  const std::unique_ptr<rocksdb::Iterator> rows(db_->NewIterator(options, family->handle()));
  for (rows->Seek(from); rows->Valid(); rows->Next()) keys.emplace_hint(keys.end(), ViewOf(rows->key()));
  if (!rows->status().ok()) return ToStatus(rows->status(), What("can't read a group's members"));
  if (const auto* unsaved = tail_.MembersOf(first.bucket)) {
    for (auto at = unsaved->lower_bound(from); at != unsaved->end() && at->first < to; ++at) {
      if (at->second->kind == ItemIndexTail::Kind::kPut) {
        keys.emplace(at->first);
      } else {
        keys.erase(std::string(at->first));
      }
    }
  }
  for (const std::string& key : keys) {
    const auto member = MemberOf(key);
    if (!member) return Fail(Corrupt(What("a member of a group")));
    out.push_back(*member);
  }
  return {};
}

}  // namespace seen
