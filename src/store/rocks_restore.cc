#include "store/rocks_restore.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/durable_file.h"
#include "rocks/listener.h"
#include "rocks/rocks_status.h"
#include "rows/keys.h"
#include "store/rocks_options.h"
#include "store/rocks_scans.h"
#include "store/store_directory.h"

namespace seen {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kFileBytes = 64 << 20;

}  // namespace

RocksRestore::RocksRestore(std::string directory, int32_t partition, const StoreResources& resources)
    : directory_(std::move(directory)),
      partition_(partition),
      folder_(fmt::format("{}/restore-{}", StoreDirectory::IncomingPath(directory_), partition)),
      place_(StoreDirectory::PartitionPath(directory_, partition)),
      rules_(std::make_shared<MergeRules>()),
      options_([&] {
        auto options = RocksOptions(resources, rocksdb::Env::Default(), rules_,
                                    std::make_shared<BackgroundErrors>(partition), partition);
        options.create_if_missing = true;
        options.disable_auto_compactions = true;  // the store is opened again later, with its rules
        return options;
      }()) {}

RocksRestore::~RocksRestore() {
  Close();
  if (!rules_->IsLoaded()) rules_->Load({});
  std::error_code ignored;  // if this fails, the directory's next opening removes the folder
  fs::remove_all(folder_, ignored);
}

Status RocksRestore::ToResult(const rocksdb::Status& status) const {
  return ToStatus(status, fmt::format("partition {}: restore", partition_));
}

void RocksRestore::Close() {
  file_.reset();
  files_.clear();
  db_.reset();
}

Status RocksRestore::Begin() {
  Close();
  std::error_code code;
  fs::remove_all(folder_, code);
  fs::create_directories(folder_, code);
  rocksdb::DB* opened = nullptr;
  const rocksdb::Status status = rocksdb::DB::Open(options_, folder_, &opened);
  db_.reset(opened);
  return ToResult(status);
}

Status RocksRestore::Continue() {
  Close();
  continues_ = true;
  std::error_code code;
  fs::create_directories(StoreDirectory::IncomingPath(directory_), code);  // the next step reports a failure
  rocksdb::Options options = options_;
  options.create_if_missing = false;
  std::vector<std::string> names;
  if (Status listed = ToResult(rocksdb::DB::ListColumnFamilies(options, place_, &names)); !listed)
    return listed;
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  families.reserve(names.size());
  for (std::string& name : names) families.emplace_back(std::move(name), options);
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::DB* opened = nullptr;
  const rocksdb::Status status = rocksdb::DB::Open(options, place_, families, &handles, &opened);
  db_.reset(opened);
  for (rocksdb::ColumnFamilyHandle* const handle : handles)
    db_->DestroyColumnFamilyHandle(handle).PermitUncheckedError();
  return ToResult(status);
}

Status RocksRestore::Write(const Row& row) {
  if (!file_) {
    files_.push_back(fmt::format("{}/restore-{}-{}.sst", StoreDirectory::IncomingPath(directory_), partition_,
                                 files_made_++));
    file_ = std::make_unique<rocksdb::SstFileWriter>(rocksdb::EnvOptions(options_), options_);
    if (Status opened = ToResult(file_->Open(files_.back())); !opened) return opened;
  }
  return ToResult(AddRow(*file_, row));
}

Status RocksRestore::EndFile() {
  if (!file_) return {};
  Status finished = ToResult(file_->Finish());
  file_.reset();
  return finished;
}

Status RocksRestore::Ingest() {
  if (Status ended = EndFile(); !ended) return ended;
  if (files_.empty()) return {};
  rocksdb::IngestExternalFileOptions ingest;
  ingest.move_files = true;
  ingest.write_global_seqno = false;
  ingest.allow_blocking_flush = false;
  Status ingested = ToResult(db_->IngestExternalFile(files_, ingest));
  for (const std::string& file : files_) {
    std::error_code ignored;
    fs::remove(file, ignored);
  }
  files_.clear();
  return ingested;
}

// The files don't overlap and are ingested at once, so RocksDB puts them into the lowest level.
Status RocksRestore::AddBase(const RowBatch& rows) {
  for (size_t i = 0; i < rows.rows(); ++i) {
    if (Status written = Write(rows.GetRow(i)); !written) return written;
    if (file_->FileSize() < kFileBytes) continue;
    if (Status ended = EndFile(); !ended) return ended;
  }
  return {};
}

// Writes one file: a range deletes what stood there before the file, and none of the file's own rows.
Status RocksRestore::Apply(const RowFold& changes, const StoredLimits& limits) {
  if (Status ingested = Ingest(); !ingested) return ingested;
  bool ends_journal = continues_;  // the journal doesn't travel, so it isn't complete from here on
  const auto write = [&](const Row& row) {
    Status written;
    if (ends_journal && row.op != RowOp::kDeleteRange && row.key > JournalStartKey()) {
      ends_journal = false;
      written = Write({RowOp::kDelete, JournalStartKey(), {}});
    }
    return written ? Write(row) : written;
  };
  Status written = changes.ForEach([&](FilterId filter) { return limits.Of(filter); }, write);
  if (written && ends_journal) written = Write({RowOp::kDelete, JournalStartKey(), {}});
  return written ? Ingest() : written;
}

Status RocksRestore::Finish() {
  if (Status ingested = Ingest(); !ingested) return ingested;
  if (Status closed = ToResult(db_->Close()); !closed) return closed;
  Close();
  if (continues_) return {};
  // The former state is removed with the folder of incoming files.
  const std::string replaced =
      fmt::format("{}/replaced-{}", StoreDirectory::IncomingPath(directory_), partition_);
  std::error_code code;
  if (fs::exists(place_, code)) fs::rename(place_, replaced, code);
  if (!code) fs::rename(folder_, place_, code);
  if (code) {
    return Fail(Code::kUnavailable,
                fmt::format("partition {}: restore: {}: {}", partition_, folder_, code.message()));
  }
  if (Status synced = SyncFolder(directory_); !synced) return synced;
  fs::remove_all(replaced, code);  // if this fails, the directory's next opening removes it
  return {};
}

}  // namespace seen
