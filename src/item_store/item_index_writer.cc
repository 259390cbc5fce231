#include "item_store/item_index_writer.h"

#include <mutex>
#include <utility>

#include "base/log.h"
#include "item_store/item_index_rows.h"
#include "item_store/item_list_merge.h"

namespace seen {
namespace {

std::string_view ViewOf(const rocksdb::Slice& slice) { return {slice.data(), slice.size()}; }

rocksdb::Status NoList() { return rocksdb::Status::Corruption("a list of the index of items"); }

}  // namespace

rocksdb::Status ItemIndexWriter::WriteTaken(const IndexChange::Taken& taken) {
  const int32_t bucket = taken.item.bucket;
  const auto family = database_.families().Find(bucket);
  if (!family) return rocksdb::Status::OK();
  tail_.tail.Delete(bucket, IdKey(taken.stored.item_id));
  tail_.tail.Delete(bucket, NumberKey(ItemTable::kItems, taken.item.number));
  tail_.tail.Delete(bucket, NumberKey(ItemTable::kGroups, taken.item.number));
  StoredItem gone = taken.stored;
  gone.features.sketch = {};
  std::string row;
  EncodeStoredItem(gone, row);
  tail_.tail.Put(bucket, NumberKey(ItemTable::kGone, taken.item.number), row);
  const std::string key = ContentKey(gone.features.content_hash);
  const auto unsaved = tail_.tail.Find(bucket, key);
  if (unsaved.kind == ItemIndexTail::Kind::kDeleted) return rocksdb::Status::OK();
  std::string whole(unsaved.value);
  if (unsaved.kind != ItemIndexTail::Kind::kPut) {
    rocksdb::PinnableSlice stored;
    rocksdb::Status read = database_.db().Get(rocksdb::ReadOptions(), family->handle(), key, &stored);
    if (!read.ok() && !read.IsNotFound()) return read;
    std::vector<std::string_view> parts;
    if (read.ok()) parts.push_back(ViewOf(stored));
    if (unsaved.kind == ItemIndexTail::Kind::kMerged) parts.push_back(unsaved.value);
    if (parts.empty()) return rocksdb::Status::OK();
    if (!MergeLists(key, parts, whole)) return NoList();
  }
  const auto list = ListView::Of(whole, *ListShapeOf(key));
  if (!list) return NoList();
  std::string kept = whole.substr(0, kListHeadBytes);
  for (size_t i = 0; i < list->size(); ++i) {
    if (list->number(i) != taken.item.number) kept.append(list->entry(i));
  }
  if (kept.size() == kListHeadBytes) {
    tail_.tail.Delete(bucket, key);
  } else {
    tail_.tail.Put(bucket, key, kept);
  }
  return rocksdb::Status::OK();
}

rocksdb::Status ItemIndexWriter::WriteAdded(const IndexChange::Added& added) {
  const int32_t bucket = added.item.bucket;
  ItemIndexFamilies::Pointer family;
  if (rocksdb::Status made = database_.MakeFamily(bucket, family); !made.ok()) return made;
  std::string value;
  PutNumber(added.item.number, value);
  family->NotePresent(IdKey(added.stored.item_id));
  tail_.tail.Put(bucket, IdKey(added.stored.item_id), value);
  EncodeStoredItem(added.stored, value);
  tail_.tail.Put(bucket, NumberKey(ItemTable::kItems, added.item.number), value);
  if (!added.has_content) return rocksdb::Status::OK();
  const auto time = static_cast<uint64_t>(added.stored.created_at.value);
  const std::string key = ContentKey(added.stored.features.content_hash);
  family->NotePresent(key);
  const bool merged = tail_.tail.Merge(bucket, key, ListOperand(time, added.item.number));
  return merged ? rocksdb::Status::OK() : NoList();
}

rocksdb::Status ItemIndexWriter::WriteListed(const IndexChange::Listed& listed) {
  const int32_t bucket = listed.item.bucket;
  ItemIndexFamilies::Pointer family;
  if (rocksdb::Status made = database_.MakeFamily(bucket, family); !made.ok()) return made;
  const ItemFeatures& features = listed.features;
  bool merged = true;
  if (family->presence().full() && !std::exchange(warned_full_, true)) {
    log::Warning("the memory for items in the index is full: look-ups take longer",
                 {{"partition", database_.partition()}, {"remedy", "raise store.memory_mib"}});
  }
  const ItemPresence::ListHashes hashes = ItemPresence::HashesOf(features);
  family->NoteListed(ItemPresence::Listed(hashes, database_.lists_simhashes(), database_.lists_bands()));
  for (size_t table = 0; table < kSimHashTables && database_.lists_simhashes(); ++table) {
    merged &= tail_.tail.Merge(bucket, SimHashKey(features, table),
                               ListOperand(RestOf(features.simhash, table), listed.item.number));
  }
  const std::string operand = ListOperand(std::nullopt, listed.item.number);
  for (size_t band = 0; band < kBands && database_.lists_bands(); ++band) {
    merged &= tail_.tail.Merge(bucket, BandKey(features.bands[band], band), operand);
  }
  return merged ? rocksdb::Status::OK() : NoList();
}

void ItemIndexWriter::WriteGroups(const IndexChange& change) {
  std::string value;
  for (const auto& [item, group] : change.groups) {
    const auto family = database_.families().Find(item.bucket);
    if (!family) continue;
    const std::string key = NumberKey(ItemTable::kGroups, item.number);
    if (group) {
      family->NotePresent(key);
      EncodeStoredGroup(*group, value);
      tail_.tail.Put(item.bucket, key, value);
    } else {
      tail_.tail.Delete(item.bucket, key);
    }
  }
  for (const auto& [first, member, joins] : change.memberships) {
    if (!database_.families().Find(first.bucket)) continue;
    const std::string key = MemberKey(first, member);
    if (joins) {
      tail_.tail.Put(first.bucket, key, {});
    } else {
      tail_.tail.Delete(first.bucket, key);
    }
  }
}

rocksdb::Status ItemIndexWriter::Write(const IndexChange& change) {
  rocksdb::Status done;
  const std::unique_lock lock(tail_.mutex);
  for (const auto& taken : change.taken) {
    if (done.ok()) done = WriteTaken(taken);
  }
  for (const auto& added : change.added) {
    if (done.ok()) done = WriteAdded(added);
  }
  for (const auto& listed : change.listed) {
    if (done.ok()) done = WriteListed(listed);
  }
  if (done.ok()) WriteGroups(change);
  return done;
}

}  // namespace seen
