#include "similar/store/item_index_database.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/durable_file.h"
#include "base/log.h"
#include "rocks/deferred_deletes.h"
#include "rocks/rocks_status.h"
#include "similar/groups/group_rules.h"
#include "similar/store/item_index_rows.h"
#include "similar/store/item_presence.h"

namespace seen {
namespace {

// Reads a bucket from end to end. The reads don't fill the cache, because nothing of it is needed again soon.
std::unique_ptr<rocksdb::Iterator> ReadOnce(rocksdb::DB& db, const BucketFamily& family) {
  rocksdb::ReadOptions options;
  options.fill_cache = false;
  options.readahead_size = 1 << 20;
  return std::unique_ptr<rocksdb::Iterator>(db.NewIterator(options, family.handle()));
}

}  // namespace

std::string ItemIndexDatabase::PathOf(const std::string& directory, int32_t partition) {
  return fmt::format("{}/item-index-{}", directory, partition);
}

ItemIndexDatabase::ItemIndexDatabase(ItemIndexOptions options)
    : options_(std::move(options)),
      path_(PathOf(options_.directory, options_.partition)),
      errors_(std::make_shared<BackgroundErrors>(options_.partition)),
      file_system_(std::make_shared<FileSystemWithDeferredDeletes>(
          options_.file_system ? options_.file_system : rocksdb::FileSystem::Default())),
      env_(rocksdb::NewCompositeEnv(file_system_)),
      rocks_options_(ItemIndexRocksOptions(options_.resources, env_.get(), errors_, options_.partition)),
      bucket_options_(BucketFamilyOptions(options_.resources)) {
  options_.generation.idf_version = options_.idf->version();
}

ItemIndexDatabase::~ItemIndexDatabase() { families_.Clear(); }

std::string ItemIndexDatabase::What(std::string_view action) const {
  return fmt::format("index of items {}: {}", options_.partition, action);
}

Error ItemIndexDatabase::Corrupt(std::string_view what) const {
  return {Code::kCorrupt,
          fmt::format("{} can't be read. Remedy: check the disk, then start with --rebuild", What(what))};
}

Status ItemIndexDatabase::Open() {
  if (Status prepared = Prepare(); !prepared) return prepared;
  return OpenRocks();
}

Status ItemIndexDatabase::Prepare() {
  const rocksdb::IOOptions io;
  rocksdb::IOStatus made = file_system_->CreateDirIfMissing(path_, io, nullptr);
  if (made.ok()) made = file_system_->CreateDirIfMissing(path_ + "/rocks", io, nullptr);
  std::unique_ptr<rocksdb::FSDirectory> parent;
  if (made.ok()) made = file_system_->NewDirectory(options_.directory, io, &parent, nullptr);
  if (made.ok()) made = parent->Fsync(io, nullptr);
  if (!made.ok()) return Fail(ToError(made, What("can't create " + path_)));
  const auto stored = ReadGeneration(*file_system_, path_);
  if (!stored) return Fail(stored.error().code, What(stored.error().message));
  if (!*stored) {
    return ToStatus(WriteGeneration(*file_system_, path_, options_.generation, options_.idf_text),
                    What("can't write what it is built with"));
  }
  options_.generation = Adapted(**stored, options_.generation, options_.kept);
  if (Status fits = CheckGeneration(**stored, options_.generation); !fits) {
    return Fail(fits.error().code, What(fits.error().message));
  }
  return (*stored)->idf_version == options_.generation.idf_version ? Status() : TakeOwnIdf(**stored);
}

Status ItemIndexDatabase::TakeOwnIdf(const IndexGeneration& stored) {
  const auto text = ReadIdfText(*file_system_, path_);
  if (!text) return Fail(text.error());
  auto own = IdfTable::Parse(*text);
  if (!own || (*own)->version() != stored.idf_version) {
    return Fail(Code::kCorrupt, What(fmt::format("{}/idf.txt isn't the table that the index was built with. "
                                                 "Remedy: check the disk, then start with --rebuild",
                                                 path_)));
  }
  log::Warning(
      "items.idf_file: the index continues with the table that it was built with. To use the configured "
      "table, start with --rebuild, which builds the index again from the log",
      {{"partition", options_.partition}, {"copy", path_ + "/idf.txt"}});
  options_.idf = std::move(*own);
  options_.generation = stored;
  return {};
}

Status ItemIndexDatabase::OpenRocks() {
  const std::string rocks = path_ + "/rocks";
  std::vector<std::string> names{rocksdb::kDefaultColumnFamilyName};
  rocksdb::Status opened = HasDatabase(*file_system_, rocks);
  if (opened.IsNotFound()) {
    opened = rocksdb::Status::OK();
  } else if (opened.ok()) {
    opened = rocksdb::DB::ListColumnFamilies(rocks_options_, rocks, &names);
  }
  std::vector<rocksdb::ColumnFamilyDescriptor> described;
  described.reserve(names.size());
  for (const std::string& name : names) described.emplace_back(name, bucket_options_);
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::DB* db = nullptr;
  if (opened.ok()) opened = rocksdb::DB::Open(rocks_options_, rocks, described, &handles, &db);
  if (!opened.ok()) return ToStatus(opened, What("can't open " + rocks));
  db_.reset(db);
  const auto position = ReadPosition();
  Status found = position ? ReadKeepsPresence(*position) : Status(Fail(position.error()));
  ItemIndexFamilies::List families;
  for (size_t i = 0; i < handles.size(); ++i) {
    if (const auto bucket = BucketOfFamily(names[i]); bucket && found) {
      const size_t hashes = HashesExpected(*bucket, position->value_or(IndexPosition()));
      families.push_back(std::make_shared<BucketFamily>(*db_, handles[i], *bucket,
                                                        ItemPresence(hashes, PresenceBytesMax())));
    } else {
      db_->DestroyColumnFamilyHandle(handles[i]).PermitUncheckedError();
    }
  }
  if (found) found = FindPresent(families);
  families_.Adopt(std::move(families));
  return found;
}

// If an older version has written to the index since, some keys are in no row of presence. The index would
// deny them.
Status ItemIndexDatabase::ReadKeepsPresence(const std::optional<IndexPosition>& position) {
  if (!position) return {};
  std::string mark;
  const rocksdb::Status read = db_->Get(rocksdb::ReadOptions(), rocksdb::Slice(kIndexPresenceKey), &mark);
  if (!read.ok() && !read.IsNotFound()) return Fail(ToError(read, What("can't read its position")));
  keeps_presence_ = read.ok() && mark == EncodePresenceMark(*position);
  if (keeps_presence_) return {};
  log::Warning("the index of items was written by an older version: each start reads all of its items",
               {{"partition", options_.partition}, {"remedy", "start with --rebuild at a suitable time"}});
  return {};
}

// The newest bucket still grows: it may get as many items as any other one.
size_t ItemIndexDatabase::HashesExpected(int32_t bucket, const IndexPosition& position) const {
  const size_t an_item =
      2 + (lists_simhashes() ? ItemPresence::kNearHashes : 0) + (lists_bands() ? kBands + 1 : 0);
  uint64_t items = 0;
  for (const auto& [of, count] : position.items) {
    if (of == bucket || position.items.rbegin()->first == bucket) items = std::max(items, count);
  }
  return items * an_item / 8 * 9;
}

// Uses several threads: one thread takes a third of a second for a bucket with ten million hashes.
Status ItemIndexDatabase::FindPresent(std::span<const ItemIndexFamilies::Pointer> families) const {
  std::vector<Status> found(families.size());
  options_.resources.readers().Run(families.size(), [&](size_t i) {
    found[i] = keeps_presence_ ? ReadPresence(*families[i]) : ReadItems(*families[i]);
  });
  for (Status& status : found) {
    if (!status) return std::move(status);
  }
  return {};
}

Status ItemIndexDatabase::ReadPresence(const BucketFamily& family) const {
  const std::string from = NumberKey(ItemTable::kPresence, 0);
  uint64_t rows = 0;
  const auto row = ReadOnce(*db_, family);
  for (row->Seek(from); row->Valid() && row->key()[0] == from[0]; row->Next(), ++rows) {
    if (!AddPresence(row->value().ToStringView(), family.presence()))
      return Fail(Corrupt("a row of presence"));
  }
  family.SetNextRow(rows);
  return ToStatus(row->status(), What("can't read which keys it has"));
}

// An item's row says in which lists the item is, also if it was taken out (kGone). To read all lists would
// take ten times as long.
Status ItemIndexDatabase::ReadItems(const BucketFamily& family) const {
  ItemPresence& presence = family.presence();
  const std::string from = NumberKey(ItemTable::kItems, 0);
  const auto row = ReadOnce(*db_, family);
  for (row->Seek(from); row->Valid(); row->Next()) {
    const std::string_view key = row->key().ToStringView();
    const auto table = static_cast<ItemTable>(key[0]);
    if (table > ItemTable::kGone) break;
    if (table == ItemTable::kGroups) presence.Add(ItemPresence::HashOf(key));
    if (table != ItemTable::kItems && table != ItemTable::kGone) continue;
    const auto item = DecodeStoredItem(row->value().ToStringView());
    if (!item) return Fail(Code::kCorrupt, What("a row can't be read. Remedy: start with --rebuild"));
    presence.Add(ItemPresence::HashOf(IdKey(item->item_id)));
    presence.Add(ItemPresence::HashOf(ContentKey(item->features.content_hash)));
    if (!IsListed(item->features)) continue;
    const ItemPresence::ListHashes hashes = ItemPresence::HashesOf(item->features);
    for (const uint64_t hash : ItemPresence::Listed(hashes, lists_simhashes(), lists_bands())) {
      presence.AddListed(hash);
    }
  }
  return ToStatus(row->status(), What("can't read its items"));
}

// If a crash leaves the renamed folder behind, the store's directory removes it when it is opened.
Status ItemIndexDatabase::Remove(const std::string& directory, int32_t partition) {
  return RemoveFolder(PathOf(directory, partition),
                      fmt::format("{}/removed-item-index-{}", directory, partition));
}

Result<std::optional<IndexPosition>> ItemIndexDatabase::ReadPosition() const {
  std::string encoded;
  const rocksdb::Status read = db_->Get(rocksdb::ReadOptions(), rocksdb::Slice(kIndexPositionKey), &encoded);
  if (read.IsNotFound()) return std::optional<IndexPosition>{};
  if (!read.ok()) return Fail(ToError(read, What("can't read its position")));
  auto position = DecodeIndexPosition(encoded);
  if (!position) {
    return Fail(Code::kCorrupt, What("its position can't be read. Remedy: start with --rebuild"));
  }
  return position;
}

rocksdb::Status ItemIndexDatabase::MakeFamily(int32_t bucket, ItemIndexFamilies::Pointer& family) {
  return families_.Make(*db_, bucket_options_, bucket, PresenceBytesMax(), family);
}

uint64_t ItemIndexDatabase::presence_bytes() const {
  uint64_t bytes = 0;
  for (const auto& family : *families_.All()) bytes += family->presence().bytes();
  return bytes;
}

uint64_t ItemIndexDatabase::bytes() const {
  uint64_t bytes = 0;
  db_->GetAggregatedIntProperty(rocksdb::DB::Properties::kLiveSstFilesSize, &bytes);
  return bytes;
}

Status ItemIndexDatabase::CompactAll() {
  for (const auto& family : *families_.All()) {
    const rocksdb::Status done =
        db_->CompactRange(rocksdb::CompactRangeOptions(), family->handle(), nullptr, nullptr);
    if (!done.ok()) return Fail(ToError(done, What("compaction")));
  }
  return {};
}

}  // namespace seen
