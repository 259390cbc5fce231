#include <fmt/format.h>
#include <rocksdb/sst_file_writer.h>

#include <mutex>

#include "item_store/item_index_rows.h"
#include "item_store/rocks_item_index.h"
#include "rocks/deferred_deletes.h"
#include "rocks/status.h"

namespace seen {
namespace {

constexpr std::string_view kFilePrefix = "incoming-";

}  // namespace

struct RocksItemIndex::File {
  std::string path;
  ItemIndexFamilies::Pointer family;  // nullptr: the default one
};

std::string RocksItemIndex::FilePath(std::string_view family) const {
  return fmt::format("{}/{}{}.sst", path_, kFilePrefix, family);
}

void RocksItemIndex::RemoveFiles() const {
  std::vector<std::string> names;
  file_system_->GetChildren(path_, rocksdb::IOOptions(), &names, nullptr).PermitUncheckedError();
  for (const std::string& name : names) {
    if (!name.starts_with(kFilePrefix)) continue;
    // Where it can't be removed, the next checkpoint truncates it.
    file_system_->DeleteFile(path_ + "/" + name, rocksdb::IOOptions(), nullptr).PermitUncheckedError();
  }
}

// A file a bucket, and one for the position.
rocksdb::Status RocksItemIndex::WriteFiles(const IndexPosition& position, std::vector<File>& files) const {
  const rocksdb::Options options(rocks_options_, bucket_options_);
  std::string encoded;
  EncodeIndexPosition(position, encoded);
  {
    rocksdb::SstFileWriter file{rocksdb::EnvOptions(options), options};
    files.push_back({FilePath("position"), nullptr});
    rocksdb::Status done = file.Open(files.back().path);
    if (done.ok()) done = file.Put(rocksdb::Slice(kIndexPositionKey), encoded);
    if (done.ok()) done = file.Finish();
    if (!done.ok()) return done;
  }
  for (const int32_t bucket : tail_.Buckets()) {
    const auto family = families_.Find(bucket);
    const auto sorted = tail_.Sorted(bucket);
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

rocksdb::Status RocksItemIndex::Ingest(std::span<const File> files) {
  rocksdb::IngestExternalFileOptions ingest;
  ingest.move_files = true;
  ingest.allow_global_seqno = true;
  ingest.write_global_seqno = false;    // or the file would be written to after its checksums were
  ingest.allow_blocking_flush = false;  // nothing is ever in a memtable
  std::vector<rocksdb::IngestExternalFileArg> arguments(files.size());
  for (size_t i = 0; i < files.size(); ++i) {
    arguments[i].column_family = files[i].family ? files[i].family->handle() : db_->DefaultColumnFamily();
    arguments[i].external_files = {files[i].path};
    arguments[i].options = ingest;
  }
  DeferredDeletes deletes;
  const rocksdb::Status ingested = db_->IngestExternalFiles(arguments);
  if (errors_->Stopped().ok()) deletes.Perform(*file_system_);
  return ingested;
}

Status RocksItemIndex::Checkpoint(const IndexPosition& position, int32_t first_bucket) {
  if (stopped_) return Fail(*stopped_);
  std::vector<File> files;
  rocksdb::Status done = WriteFiles(position, files);
  if (done.ok()) {
    const std::unique_lock lock(mutex_);  // a list would be read twice, from the file and from the tail
    done = Ingest(files);
    if (done.ok()) tail_.Clear();
    unsaved_bytes_.store(tail_.bytes(), std::memory_order_relaxed);
  }
  // Only now: from the last checkpoint on, a replay needed them.
  if (done.ok()) done = families_.Drop(*db_, first_bucket);
  return Stop(done, "checkpoint");
}

}  // namespace seen
