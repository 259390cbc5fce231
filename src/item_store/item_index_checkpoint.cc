#include "item_store/item_index_checkpoint.h"

#include <fmt/format.h>
#include <rocksdb/sst_file_writer.h>

#include <mutex>

#include "item_store/item_index_keys.h"
#include "item_store/item_index_rows.h"
#include "item_store/presence_rows.h"
#include "rocks/deferred_deletes.h"

namespace seen {
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
