#include "similar/store/item_index_families.h"

#include <rocksdb/cache.h>
#include <rocksdb/merge_operator.h>
#include <rocksdb/table.h>

#include <algorithm>
#include <deque>
#include <limits>

#include "base/byte_codec.h"

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

namespace {

constexpr size_t kKiB = 1024;

// An operand that isn't a list fails the merge, and RocksDB reports corruption.
class ItemListMergeOperator final : public rocksdb::MergeOperator {
 public:
  const char* Name() const override { return "seen.ItemListMerge.1"; }

  bool FullMergeV2(const MergeOperationInput& in, MergeOperationOutput* out) const override {
    std::vector<std::string_view> parts;
    parts.reserve(in.operand_list.size() + 1);
    if (in.existing_value != nullptr) parts.push_back(in.existing_value->ToStringView());
    for (const rocksdb::Slice& operand : in.operand_list) parts.push_back(operand.ToStringView());
    return MergeLists(in.key.ToStringView(), parts, out->new_value);
  }

  bool PartialMergeMulti(const rocksdb::Slice& key, const std::deque<rocksdb::Slice>& operands,
                         std::string* new_value, rocksdb::Logger*) const override {
    std::vector<std::string_view> parts;
    parts.reserve(operands.size());
    for (const rocksdb::Slice& operand : operands) parts.push_back(operand.ToStringView());
    return MergeLists(key.ToStringView(), parts, *new_value);
  }
};

}  // namespace

rocksdb::Options ItemIndexRocksOptions(const StoreResources& resources, rocksdb::Env* env,
                                       std::shared_ptr<BackgroundErrors> errors, int32_t partition) {
  rocksdb::Options options(rocksdb::DBOptions(), BucketFamilyOptions(resources));
  SetDatabase(options, resources, partition);
  options.env = env;
  // Nothing is ever in a memtable: a checkpoint's files are ingested together, with the position.
  options.avoid_flush_during_shutdown = true;
  options.avoid_flush_during_recovery = true;
  options.allow_concurrent_memtable_write = false;
  options.max_open_files = 512;
  options.listeners.push_back(std::move(errors));
  return options;
}

rocksdb::ColumnFamilyOptions BucketFamilyOptions(const StoreResources& resources) {
  // ItemPresence (similar/store/item_presence.h) lets look-ups through only for keys that exist. Most of
  // these are in the last level, which needs no filter then. The remaining filters and the indexes are about
  // a hundredth of the data.
  rocksdb::BlockBasedTableOptions table = SmallTableOptions(resources);
  table.data_block_index_type = rocksdb::BlockBasedTableOptions::kDataBlockBinaryAndHash;

  rocksdb::ColumnFamilyOptions options;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  options.optimize_filters_for_hits = true;
  options.merge_operator = std::make_shared<ItemListMergeOperator>();
  options.write_buffer_size = 64 * kKiB;
  SetLevels(options);
  return options;
}

bool MergeLists(std::string_view key, const std::vector<std::string_view>& parts, std::string& out) {
  const auto shape = ListShapeOf(key);
  if (!shape) return false;
  uint64_t ever = 0;
  size_t bytes = 0;
  for (const std::string_view part : parts) {
    const auto list = ListView::Of(part, *shape);
    if (!list) return false;
    ever += list->ever();
    bytes += part.size() - kListHeadBytes;
  }
  out.clear();
  const size_t bytes_max = shape->entries_max * shape->entry_bytes;
  out.reserve(kListHeadBytes + std::min(bytes, bytes_max));
  PutLittleEndian(static_cast<uint32_t>(std::min<uint64_t>(ever, std::numeric_limits<uint32_t>::max())), out);
  size_t skipped = shape->keeps_newest && bytes > bytes_max ? bytes - bytes_max : 0;
  for (std::string_view part : parts) {
    part.remove_prefix(kListHeadBytes);
    const size_t skip = std::min(skipped, part.size());
    skipped -= skip;
    part.remove_prefix(skip);
    out.append(part.substr(0, kListHeadBytes + bytes_max - out.size()));
  }
  return true;
}

bool AppendToList(std::string_view key, std::string_view operand, std::string& list) {
  const auto shape = ListShapeOf(key);
  if (!shape) return false;
  const auto had = ListView::Of(list, *shape);
  const auto added = ListView::Of(operand, *shape);
  if (!had || !added) return false;
  const uint64_t ever = std::min<uint64_t>(uint64_t{had->ever()} + added->ever(), UINT32_MAX);
  for (size_t i = 0; i < kListHeadBytes; ++i) list[i] = static_cast<char>(ever >> (8 * i));
  list.append(operand.substr(kListHeadBytes));
  const size_t bytes_max = shape->entries_max * shape->entry_bytes;
  const size_t bytes = list.size() - kListHeadBytes;
  if (!shape->keeps_newest) {
    list.resize(kListHeadBytes + std::min(bytes, bytes_max));
  } else if (bytes > 2 * bytes_max) {  // not each time: it moves all entries that stay
    list.erase(kListHeadBytes, bytes - bytes_max);
  }
  return true;
}

}  // namespace seen
