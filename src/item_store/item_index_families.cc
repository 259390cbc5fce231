#include "item_store/item_index_families.h"

#include <algorithm>

namespace seen {

void BucketFamily::NotePresent(std::string_view key) const {
  const uint64_t hash = ItemPresence::HashOf(key);
  presence_.Add(hash);
  unsaved_.keys.push_back(hash);
}

void BucketFamily::NoteListed(std::span<const uint64_t> list_hashes) const {
  for (const uint64_t hash : list_hashes) presence_.AddListed(hash);
  unsaved_.listed.insert(unsaved_.listed.end(), list_hashes.begin(), list_hashes.end());
}

ItemIndexFamilies::Pointer ItemIndexFamilies::Find(int32_t bucket) const {
  for (const Pointer& family : *All()) {
    if (family->bucket() == bucket) return family;
  }
  return nullptr;
}

void ItemIndexFamilies::Adopt(List families) {
  std::sort(families.begin(), families.end(),
            [](const Pointer& a, const Pointer& b) { return a->bucket() > b->bucket(); });
  std::shared_ptr<const List> list = std::make_shared<List>(std::move(families));
  const MutexLock lock(mutex_);
  list_.swap(list);
}

rocksdb::Status ItemIndexFamilies::Make(rocksdb::DB& db, const rocksdb::ColumnFamilyOptions& options,
                                        int32_t bucket, uint64_t presence_bytes_max, Pointer& family) {
  family = Find(bucket);
  if (family) return rocksdb::Status::OK();
  rocksdb::ColumnFamilyHandle* handle = nullptr;
  rocksdb::Status made = db.CreateColumnFamily(options, BucketFamilyName(bucket), &handle);
  if (!made.ok()) return made;
  List list = *All();
  // The bucket will have about as many keys as the one before. A reserve of a quarter avoids a second part
  // for a few more.
  const size_t keys = list.empty() ? 0 : list.front()->presence().keys() / 4 * 5;
  family = std::make_shared<BucketFamily>(db, handle, bucket, ItemPresence(keys, presence_bytes_max));
  list.push_back(family);
  Adopt(std::move(list));
  return made;
}

rocksdb::Status ItemIndexFamilies::Drop(rocksdb::DB& db, int32_t first_bucket) {
  List kept;
  rocksdb::Status dropped;
  for (const Pointer& family : *All()) {
    const bool goes = family->bucket() < first_bucket && dropped.ok();
    if (goes) dropped = db.DropColumnFamily(family->handle());
    if (!goes || !dropped.ok()) kept.push_back(family);
  }
  Adopt(std::move(kept));
  return dropped;
}

}  // namespace seen
