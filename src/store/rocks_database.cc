#include "store/rocks_database.h"

#include <fmt/format.h>
#include <rocksdb/file_system.h>
#include <rocksdb/sst_file_writer.h>

#include "store/keys.h"
#include "store/rocks_options.h"
#include "store/rocks_status.h"
#include "store/store_directory.h"

namespace seen {
namespace {

std::shared_ptr<rocksdb::FileSystem> FileSystemOf(const StoreOptions& options) {
  return options.file_system ? options.file_system : rocksdb::FileSystem::Default();
}

}  // namespace

RocksPartitionStore::Database::Database(StoreOptions options)
    : options_(std::move(options)),
      path_(StoreDirectory::PartitionPath(options_.directory, options_.identity.partition)),
      incoming_file_(fmt::format("{}/partition-{}.sst", StoreDirectory::IncomingPath(options_.directory),
                                 options_.identity.partition)),
      rules_(std::make_shared<MergeRules>()),
      errors_(std::make_shared<BackgroundErrors>(options_.identity.partition)),
      env_(rocksdb::NewCompositeEnv(FileSystemOf(options_))),
      rocks_options_(
          RocksOptions(options_.resources, env_.get(), rules_, errors_, options_.identity.partition)) {}

RocksPartitionStore::Database::~Database() {
  // Closing waits for compactions, which may be waiting for rules.
  if (!rules_->IsLoaded()) rules_->Load({});
}

std::string RocksPartitionStore::Database::What(std::string_view action) const {
  return fmt::format("partition {}: {}", options_.identity.partition, action);
}

Status RocksPartitionStore::Database::Open() {
  if (Status made = MakeFolders(); !made) return made;
  RemoveIncomingFile();
  if (Status opened = OpenRocks(); !opened) return opened;
  auto stored = ReadDescriptor();
  if (!stored) return Fail(Error{stored.error().code, What(stored.error().message)});
  if (*stored) {
    if (Status fits = CheckIdentity((*stored)->identity, options_.identity); !fits) {
      return Fail(Error{fits.error().code, What(fits.error().message)});
    }
  }
  StoreDescriptor descriptor = *stored ? **stored : StoreDescriptor{options_.identity, {}};
  filter_ids_ = RegisterFilters(descriptor, options_.filters);
  rules_->Load(descriptor.filters);
  if (*stored == descriptor) return {};
  return WriteDescriptor(descriptor);
}

Status RocksPartitionStore::Database::MakeFolders() const {
  const auto file_system = FileSystemOf(options_);
  const rocksdb::IOOptions io;
  for (const std::string& folder : {StoreDirectory::IncomingPath(options_.directory), path_}) {
    const rocksdb::Status made = file_system->CreateDirIfMissing(folder, io, nullptr);
    if (!made.ok()) return Fail(ToError(made, What("can't create " + folder)));
  }
  // RocksDB syncs what is in its folder, not the folder's own entry.
  std::unique_ptr<rocksdb::FSDirectory> parent;
  rocksdb::Status synced = file_system->NewDirectory(options_.directory, io, &parent, nullptr);
  if (synced.ok()) synced = parent->Fsync(io, nullptr);
  return ToStatus(synced, What("can't sync " + options_.directory));
}

Status RocksPartitionStore::Database::OpenRocks() {
  rocksdb::DB* db = nullptr;
  const rocksdb::Status opened = rocksdb::DB::Open(rocks_options_, path_, &db);
  db_.reset(db);
  return ToStatus(opened, What("can't open " + path_));
}

Result<std::optional<StoreDescriptor>> RocksPartitionStore::Database::ReadDescriptor() const {
  std::string value;
  const rocksdb::Status read = db_->Get(rocksdb::ReadOptions(), rocksdb::Slice(DescriptorKey()), &value);
  if (!read.ok() && !read.IsNotFound()) return Fail(ToError(read, "can't read the descriptor"));
  if (read.ok()) {
    auto descriptor = DecodeDescriptor(value);
    if (!descriptor) return Fail(descriptor.error());
    return std::optional(std::move(*descriptor));
  }
  // The descriptor goes in first: without it there can be nothing else.
  const std::unique_ptr<rocksdb::Iterator> first(db_->NewIterator(rocksdb::ReadOptions()));
  first->SeekToFirst();
  if (first->Valid())
    return Fail(Code::kCorrupt, "the state has no descriptor. Remedy: start with --rebuild");
  if (!first->status().ok()) return Fail(ToError(first->status(), "can't read"));
  return std::optional<StoreDescriptor>();
}

Status RocksPartitionStore::Database::WriteDescriptor(const StoreDescriptor& descriptor) {
  rocksdb::SstFileWriter file(rocksdb::EnvOptions(rocks_options_), rocks_options_);
  rocksdb::Status written = file.Open(incoming_file_);
  if (written.ok()) written = file.Put(rocksdb::Slice(DescriptorKey()), EncodeDescriptor(descriptor));
  if (written.ok()) written = file.Finish();
  Status done = ToStatus(written, What("can't write the descriptor"));
  if (done) done = Ingest(incoming_file_);
  if (!done) RemoveIncomingFile();
  return done;
}

Status RocksPartitionStore::Database::Resume() {
  if (!errors_->Pending()) return {};
  const rocksdb::Status resumed = db_->Resume();
  if (!resumed.ok()) return Fail(ToError(resumed, What("the store can't write yet")));
  errors_->Clear();
  return {};
}

Status RocksPartitionStore::Database::Ingest(const std::string& file) {
  rocksdb::IngestExternalFileOptions ingest;
  ingest.move_files = true;
  ingest.allow_global_seqno = true;
  ingest.write_global_seqno = false;    // or the file would be written to after its checksums were
  ingest.allow_blocking_flush = false;  // nothing is ever in a memtable
  return ToStatus(db_->IngestExternalFile({file}, ingest), What("checkpoint"));
}

void RocksPartitionStore::Database::RemoveIncomingFile() const {
  // Where it can't be removed, the next writer truncates it.
  FileSystemOf(options_)->DeleteFile(incoming_file_, rocksdb::IOOptions(), nullptr).PermitUncheckedError();
}

}  // namespace seen
