#include "similar/store/item_index_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <set>

#include "rocks/rocks_status.h"
#include "similar/store/item_index_families.h"
#include "similar/store/item_index_rows.h"

namespace seen {
namespace {

// Keeps its buffers.
ItemPointReads& ReadsOfThread() {
  thread_local ItemPointReads reads;
  return reads;
}

}  // namespace

// Reads the tail first, then the files for keys that the tail doesn't answer. Merges a list that is in both.
rocksdb::Status ItemIndexReader::ReadStored(const BucketFamily& family, ItemPointReads& reads) const {
  using Kind = ItemIndexTail::Kind;
  const size_t count = reads.keys.size();
  reads.LetGo();  // a pinned slice can't be moved
  reads.values.assign(count, std::nullopt);
  reads.kinds.assign(count, Kind::kNone);
  if (reads.unsaved.size() < count) reads.unsaved.resize(count);
  reads.asked.clear();
  reads.slices.clear();
  for (const uint32_t i : reads.wanted) {
    const auto found = tail_.tail.Find(family.bucket(), reads.keys[i]);
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
  database_.db().MultiGet(rocksdb::ReadOptions(), family.handle(), reads.asked.size(), reads.slices.data(),
                          reads.pinned.data(), reads.read.data(), /*sorted_input=*/true);
  for (size_t j = 0; j < reads.asked.size(); ++j) {
    const uint32_t i = reads.asked[j];
    const rocksdb::Status& read = reads.read[j];
    if (!read.ok() && !read.IsNotFound()) return read;
    if (read.ok()) reads.values[i] = reads.pinned[j].ToStringView();
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

Status ItemIndexReader::Read(const BucketFamily& family, ItemPointReads& reads) const {
  const rocksdb::Status read = ReadStored(family, reads);
  return read.ok() ? Status() : ToStatus(read, database_.What("can't read"));
}

// Wants only those keys that the bucket may have.
void ItemIndexReader::WantPresent(const BucketFamily& family, ItemPointReads& reads) {
  const ItemPresence& presence = family.presence();
  reads.hashes.clear();
  for (const std::string& key : reads.keys) {
    reads.hashes.push_back(ItemPresence::HashOf(key));
    presence.Prefetch(reads.hashes.back());
  }
  reads.wanted.clear();
  for (uint32_t i = 0; i < reads.keys.size(); ++i) {
    if (presence.Test(reads.hashes[i])) reads.wanted.push_back(i);
  }
}

Status ItemIndexReader::Find(std::optional<std::string_view> item_id, std::optional<uint64_t> content_hash,
                             int32_t first_bucket, KnownItem& out) const {
  out.item.reset();
  out.copies.clear();
  ItemPointReads& reads = ReadsOfThread();
  const ItemPointReads::Use use(reads);
  reads.Clear();
  if (item_id) reads.keys.push_back(IdKey(*item_id));
  if (content_hash) reads.keys.push_back(ContentKey(*content_hash));
  const auto families = database_.families().All();
  for (const auto& family : *families) {
    if (family->bucket() < first_bucket) break;
    const std::shared_lock lock(tail_.mutex);
    WantPresent(*family, reads);
    if (reads.wanted.empty()) continue;
    if (Status read = Read(*family, reads); !read) return read;
    for (size_t i = 0; i < reads.keys.size(); ++i) {
      if (!reads.values[i]) continue;
      const std::string_view value = *reads.values[i];
      if (item_id && i == 0) {
        if (value.size() != kNumberBytes) return Fail(database_.Corrupt("an item's number"));
        const ItemRef item{family->bucket(), GetNumber(value.data())};
        if (!out.item || item.number > out.item->number) out.item = item;
        continue;
      }
      const auto list = ListView::Of(value, *ListShapeOf(reads.keys[i]));
      if (!list) return Fail(database_.Corrupt("a list of copies"));
      for (size_t entry = 0; entry < list->size(); ++entry) {
        out.copies.push_back(
            {{family->bucket(), list->number(entry)}, TimeMs{static_cast<int64_t>(list->value(entry))}});
      }
    }
  }
  return {};
}

template <typename Decoded>
Status ItemIndexReader::ReadRows(ItemTable table, std::span<const ItemRef> items,
                                 std::optional<Decoded> (*decode)(std::string_view),
                                 std::vector<std::optional<Decoded>>& out) const {
  out.clear();
  out.resize(items.size());
  // Sorts by bucket and number, the order of the files.
  std::vector<uint32_t> order(items.size());
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    if (items[a].bucket != items[b].bucket) return items[a].bucket < items[b].bucket;
    return items[a].number < items[b].number;
  });
  ItemPointReads& reads = ReadsOfThread();
  const ItemPointReads::Use use(reads);
  for (size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    const int32_t bucket = items[order[begin]].bucket;
    while (end < order.size() && items[order[end]].bucket == bucket) ++end;
    const auto family = database_.families().Find(bucket);
    if (!family) continue;
    reads.Clear();
    for (size_t i = begin; i < end; ++i) reads.keys.push_back(NumberKey(table, items[order[i]].number));
    const std::shared_lock lock(tail_.mutex);
    if (table == ItemTable::kGroups) {
      WantPresent(*family, reads);
    } else {
      reads.WantAll();
    }
    if (Status read = Read(*family, reads); !read) return read;
    for (size_t i = begin; i < end; ++i) {
      const auto& value = reads.values[i - begin];
      if (!value) continue;
      out[order[i]] = decode(*value);
      if (!out[order[i]]) return Fail(database_.Corrupt(fmt::format("row {}", items[order[i]].number)));
    }
  }
  return {};
}

Status ItemIndexReader::Items(std::span<const ItemRef> items,
                              std::vector<std::optional<StoredItem>>& out) const {
  return ReadRows(ItemTable::kItems, items, &DecodeStoredItem, out);
}

Status ItemIndexReader::Groups(std::span<const ItemRef> items,
                               std::vector<std::optional<StoredGroup>>& out) const {
  return ReadRows(ItemTable::kGroups, items, &DecodeStoredGroup, out);
}

Status ItemIndexReader::Members(ItemRef first, std::vector<ItemRef>& out) const {
  out.clear();
  const auto family = database_.families().Find(first.bucket);
  if (!family) return {};
  const std::string from = MembersKey(first.number);
  const std::string to = MembersKey(first.number + 1);
  const rocksdb::Slice end(to);
  rocksdb::ReadOptions options;
  options.iterate_upper_bound = &end;
  const std::shared_lock lock(tail_.mutex);
  std::set<std::string, std::less<>> keys;
  const std::unique_ptr<rocksdb::Iterator> rows(database_.db().NewIterator(options, family->handle()));
  for (rows->Seek(from); rows->Valid(); rows->Next())
    keys.emplace_hint(keys.end(), rows->key().ToStringView());
  if (!rows->status().ok()) return ToStatus(rows->status(), database_.What("can't read a group's members"));
  if (const auto* unsaved = tail_.tail.MembersOf(first.bucket)) {
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
    if (!member) return Fail(database_.Corrupt("a member of a group"));
    out.push_back(*member);
  }
  return {};
}

}  // namespace seen
