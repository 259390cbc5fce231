#include "similar/store/item_index_checkpoint.h"

#include <fmt/format.h>
#include <rocksdb/sst_file_writer.h>

#include <mutex>
#include <utility>

#include "base/log.h"
#include "rocks/deferred_deletes.h"
#include "similar/store/item_index_families.h"
#include "similar/store/item_index_rows.h"
#include "similar/store/item_presence.h"

namespace seen {

namespace {

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
  gone.features.numbers = {};
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
    if (read.ok()) parts.push_back(stored.ToStringView());
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
  if (features.beginning != 0 && database_.lists_bands())
    merged &= tail_.tail.Merge(bucket, BandKey(features.beginning, kBands), operand);
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

namespace {

constexpr std::string_view kFilePrefix = "incoming-";

}  // namespace

struct ItemIndexCheckpoint::File {
  std::string path;
  ItemIndexFamilies::Pointer family;  // nullptr: the default one
};

std::string ItemIndexCheckpoint::FilePath(std::string_view family) const {
  return fmt::format("{}/{}{}.sst", database_.path(), kFilePrefix, family);
}

void ItemIndexCheckpoint::RemoveUnfinished() const {
  std::vector<std::string> names;
  database_.file_system()
      .GetChildren(database_.path(), rocksdb::IOOptions(), &names, nullptr)
      .PermitUncheckedError();
  for (const std::string& name : names) {
    if (!name.starts_with(kFilePrefix)) continue;
    // If the file can't be removed, the next checkpoint truncates it.
    database_.file_system()
        .DeleteFile(database_.path() + "/" + name, rocksdb::IOOptions(), nullptr)
        .PermitUncheckedError();
  }
}

// Writes one file per bucket, and one for the position.
rocksdb::Status ItemIndexCheckpoint::WriteFiles(const IndexPosition& position,
                                                std::vector<File>& files) const {
  const rocksdb::Options options = database_.FileOptions();
  std::string encoded;
  EncodeIndexPosition(position, encoded);
  {
    rocksdb::SstFileWriter file{rocksdb::EnvOptions(options), options};
    files.push_back({FilePath("position"), nullptr});
    rocksdb::Status done = file.Open(files.back().path);
    if (done.ok()) done = file.Put(rocksdb::Slice(kIndexPositionKey), encoded);
    if (done.ok() && database_.keeps_presence()) {
      done = file.Put(rocksdb::Slice(kIndexPresenceKey), EncodePresenceMark(position));
    }
    if (done.ok()) done = file.Finish();
    if (!done.ok()) return done;
  }
  for (const int32_t bucket : tail_.tail.Buckets()) {
    const auto family = database_.families().Find(bucket);
    const auto sorted = tail_.tail.Sorted(bucket);
    if (!family || sorted.empty()) continue;
    rocksdb::SstFileWriter file{rocksdb::EnvOptions(options), options};
    files.push_back({FilePath(BucketFamilyName(bucket)), family});
    rocksdb::Status done = file.Open(files.back().path);
    for (const ItemIndexTail::Entry* entry : sorted) {
      if (!done.ok()) return done;
      switch (entry->kind) {
        case ItemIndexTail::Kind::kNone:
          break;
        case ItemIndexTail::Kind::kPut:
          done = file.Put(entry->key, entry->value);
          break;
        case ItemIndexTail::Kind::kDeleted:
          done = file.Delete(entry->key);
          break;
        case ItemIndexTail::Kind::kMerged:
          done = file.Merge(entry->key, entry->value);
          break;
      }
    }
    if (done.ok()) done = file.Finish();
    if (!done.ok()) return done;
  }
  return rocksdb::Status::OK();
}

rocksdb::Status ItemIndexCheckpoint::Ingest(std::span<const File> files) {
  rocksdb::IngestExternalFileOptions ingest;
  ingest.move_files = true;
  ingest.allow_global_seqno = true;
  ingest.write_global_seqno = false;    // true would write to the file after its checksums
  ingest.allow_blocking_flush = false;  // nothing is ever in a memtable
  std::vector<rocksdb::IngestExternalFileArg> arguments(files.size());
  for (size_t i = 0; i < files.size(); ++i) {
    arguments[i].column_family =
        files[i].family ? files[i].family->handle() : database_.db().DefaultColumnFamily();
    arguments[i].external_files = {files[i].path};
    arguments[i].options = ingest;
  }
  DeferredDeletes deletes;
  const rocksdb::Status ingested = database_.db().IngestExternalFiles(arguments);
  if (!database_.HasStopped()) deletes.Perform(database_.file_system());
  return ingested;
}

// Puts the rows of presence into the tail, like all other rows that go into the files.
void ItemIndexCheckpoint::PutPresence() {
  const std::unique_lock lock(tail_.mutex);
  for (const auto& family : *database_.families().All()) {
    const PresenceHashes unsaved = family->TakeUnsaved();
    if (!database_.keeps_presence()) continue;
    for (const std::string& row : EncodePresence(unsaved)) {
      tail_.tail.Put(family->bucket(), NumberKey(ItemTable::kPresence, family->TakeRow()), row);
    }
  }
}

rocksdb::Status ItemIndexCheckpoint::Write(const IndexPosition& position) {
  PutPresence();
  std::vector<File> files;
  if (rocksdb::Status written = WriteFiles(position, files); !written.ok()) return written;
  const std::unique_lock lock(tail_.mutex);  // or a reader would find a list twice: in a file and in the tail
  const rocksdb::Status ingested = Ingest(files);
  if (ingested.ok()) tail_.tail.Clear();
  return ingested;
}

}  // namespace seen
