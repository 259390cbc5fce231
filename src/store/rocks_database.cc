#include "store/rocks_database.h"

#include <fmt/format.h>
#include <rocksdb/convenience.h>
#include <rocksdb/file_system.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/log.h"
#include "rocks/deferred_deletes.h"
#include "rocks/rocks_status.h"
#include "rows/keys.h"
#include "store/rocks_options.h"
#include "store/rocks_scans.h"
#include "store/store_directory.h"

namespace seen {
namespace {

// A database that is closed must open again, which takes a manifest and a few small files.
constexpr uint64_t kReopenBytesMin = 4 * 1024 * 1024;

}  // namespace

RocksPartitionStore::Database::Database(StoreOptions options)
    : options_(std::move(options)),
      path_(StoreDirectory::PartitionPath(options_.directory, options_.identity.partition)),
      incoming_file_(fmt::format("{}/partition-{}.sst", StoreDirectory::IncomingPath(options_.directory),
                                 options_.identity.partition)),
      rules_(std::make_shared<MergeRules>()),
      errors_(std::make_shared<BackgroundErrors>(options_.identity.partition)),
      file_system_(std::make_shared<FileSystemWithDeferredDeletes>(
          options_.file_system ? options_.file_system : rocksdb::FileSystem::Default())),
      env_(rocksdb::NewCompositeEnv(file_system_)),
      rocks_options_([this] {
        auto options =
            RocksOptions(options_.resources, env_.get(), rules_, errors_, options_.identity.partition);
        options.max_open_files = OpenFilesMax(options_.identity.partition_count);
        return options;
      }()),
      families_(std::make_shared<JournalFamilies>(JournalOptions(options_.resources))) {}

RocksPartitionStore::Database::~Database() {
  // Closing waits for compactions, and they may wait for the rules.
  if (!rules_->IsLoaded()) rules_->Load({});
}

std::string RocksPartitionStore::Database::What(std::string_view action) const {
  return fmt::format("partition {}: {}", options_.identity.partition, action);
}

Error RocksPartitionStore::Database::About(Error error, std::string_view action) const {
  if (!action.empty()) error.message = fmt::format("{}: {}", action, error.message);
  return WithRemedy({error.code, What(error.message)});
}

Status RocksPartitionStore::Database::Open() {
  if (Status made = MakeFolders(); !made) return made;
  RemoveIncomingFile();
  if (Status opened = OpenRocks(); !opened) return opened;
  auto stored = ReadDescriptor();
  if (!stored) return Fail(About(stored.error()));
  if (*stored) {
    if (Status fits = CheckIdentity((*stored)->identity, options_.identity); !fits) {
      return Fail(About(fits.error()));
    }
  }
  StoreDescriptor descriptor = *stored ? **stored : StoreDescriptor{options_.identity, {}};
  descriptor.version = kStoreVersion;
  auto kinds = RegisterKinds(descriptor, options_.kinds);
  if (!kinds) return Fail(Code::kRefused, What(kinds.error().message));
  kind_numbers_ = std::move(*kinds);
  filter_ids_ = RegisterFilters(descriptor, options_.filters);
  past_kinds_.clear();
  for (size_t i = 0; i < filter_ids_.size(); ++i) {
    past_kinds_.push_back(PastKinds(descriptor, filter_ids_[i], options_.filters[i]));
  }
  retired_filters_.clear();
  for (size_t i = 0; i < descriptor.filters.size(); ++i) {
    const auto id = static_cast<FilterId>(i);
    if (std::find(filter_ids_.begin(), filter_ids_.end(), id) == filter_ids_.end())
      retired_filters_.push_back(id);
  }
  auto retired_topics = RegisterTopics(descriptor, options_.topics);
  if (!retired_topics) return Fail(Code::kRefused, What(retired_topics.error().message));
  retired_topics_ = std::move(*retired_topics);
  rules_->Load(descriptor.filters);
  encoded_descriptor_ = EncodeDescriptor(descriptor);
  if (*stored != descriptor) {
    if (Status written = WriteDescriptor(descriptor); !written) return written;
  }
  return options_.journal ? Status() : DropJournal();
}

Status RocksPartitionStore::Database::MakeFolders() const {
  const rocksdb::IOOptions io;
  for (const std::string& folder : {StoreDirectory::IncomingPath(options_.directory), path_}) {
    const rocksdb::Status made = file_system_->CreateDirIfMissing(folder, io, nullptr);
    if (!made.ok()) return Fail(ToError(made, What("can't create " + folder)));
  }
  // RocksDB syncs what is in its folder, not the folder's own entry.
  std::unique_ptr<rocksdb::FSDirectory> parent;
  rocksdb::Status synced = file_system_->NewDirectory(options_.directory, io, &parent, nullptr);
  if (synced.ok()) synced = parent->Fsync(io, nullptr);
  return ToStatus(synced, What("can't sync " + options_.directory));
}

Status RocksPartitionStore::Database::OpenRocks() {
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  rocksdb::Status opened = ListFamilies(families);
  rocksdb::DB* db = nullptr;
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  if (opened.ok()) opened = rocksdb::DB::Open(rocks_options_, path_, families, &handles, &db);
  if (opened.IsPathNotFound()) opened = rocksdb::Status::Corruption("a file is missing", opened.ToString());
  if (!opened.ok()) return ToStatus(opened, What("can't open " + path_));
  std::vector<JournalFamilies::Pointer> journal;
  for (size_t i = 0; i < handles.size(); ++i) {
    if (const auto day = DayOfJournalFamily(families[i].name)) {
      journal.push_back(std::make_shared<JournalFamily>(*db, handles[i], *day));
    } else {
      db->DestroyColumnFamilyHandle(handles[i]).PermitUncheckedError();
    }
  }
  families_->Adopt(std::move(journal));
  const MutexLock lock(db_mutex_);
  db_.reset(db, [of = families_](rocksdb::DB* closing) {
    of->Clear();
    delete closing;
  });
  return {};
}

// RocksDB opens only if all families of the database are named. No version of this program has left families
// of other names.
rocksdb::Status RocksPartitionStore::Database::ListFamilies(
    std::vector<rocksdb::ColumnFamilyDescriptor>& families) const {
  std::vector<std::string> names{rocksdb::kDefaultColumnFamilyName};
  rocksdb::Status exists = HasDatabase(*file_system_, path_);
  if (!exists.ok() && !exists.IsNotFound()) return exists;
  if (exists.ok()) {
    rocksdb::Status listed = rocksdb::DB::ListColumnFamilies(rocks_options_, path_, &names);
    if (!listed.ok()) return listed;
  }
  for (std::string& name : names) {
    const bool is_state = name == rocksdb::kDefaultColumnFamilyName;
    families.emplace_back(std::move(name),
                          is_state ? rocksdb::ColumnFamilyOptions(rocks_options_) : families_->options());
  }
  return rocksdb::Status::OK();
}

// Drops a journal that isn't kept any longer. The note that the journal is complete goes first, then the
// days. In the other order, a crash in between would leave a journal that claims to be complete.
Status RocksPartitionStore::Database::DropJournal() {
  std::string ignored;
  const auto db = Use();
  const rocksdb::Status read = db->Get(rocksdb::ReadOptions(), rocksdb::Slice(JournalStartKey()), &ignored);
  if (!read.ok() && !read.IsNotFound()) return Fail(ToError(read, What("can't read the journal's start")));
  if (read.ok()) {
    if (Status gone = WriteRecord("can't drop the journal", JournalStartKey(), std::nullopt); !gone)
      return gone;
  }
  for (const auto& family : families_->All()) {
    const rocksdb::Status dropped = families_->Drop(*db, family);
    if (!dropped.ok()) return Fail(ToError(dropped, What("can't drop the journal")));
  }
  return {};
}

std::shared_ptr<rocksdb::DB> RocksPartitionStore::Database::Use() const {
  const MutexLock lock(db_mutex_);
  while (reopening_) reopened_.Wait(db_mutex_);
  return db_;
}

Result<std::shared_ptr<rocksdb::DB>> RocksPartitionStore::Database::UseOrFail(std::string_view action) const {
  auto db = Use();
  if (!db)
    return Fail(Code::kUnavailable, What(fmt::format("{}: the disk failed; the daemon tries again", action)));
  return db;
}

Result<std::optional<StoreDescriptor>> RocksPartitionStore::Database::ReadDescriptor() const {
  std::string value;
  const auto db = Use();
  const rocksdb::Status read = db->Get(rocksdb::ReadOptions(), rocksdb::Slice(DescriptorKey()), &value);
  if (!read.ok() && !read.IsNotFound()) return Fail(ToError(read, "can't read the descriptor"));
  if (read.ok()) {
    auto descriptor = DecodeDescriptor(value);
    if (!descriptor) return Fail(descriptor.error());
    return std::optional(std::move(*descriptor));
  }
  // The descriptor is written first: a store without it must be empty.
  const std::unique_ptr<rocksdb::Iterator> first(db->NewIterator(rocksdb::ReadOptions()));
  first->SeekToFirst();
  if (first->Valid()) return Fail(Code::kCorrupt, "the state has no descriptor");
  if (!first->status().ok()) return Fail(ToError(first->status(), "can't read"));
  return std::optional<StoreDescriptor>();
}

Status RocksPartitionStore::Database::WriteDescriptor(const StoreDescriptor& descriptor) {
  return WriteRecord("can't write the descriptor", DescriptorKey(), EncodeDescriptor(descriptor));
}

Result<std::optional<std::string>> RocksPartitionStore::Database::Read(std::string_view action,
                                                                       std::string_view key) const {
  const auto db = UseOrFail(action);
  if (!db) return Fail(db.error());
  std::string value;
  const rocksdb::Status read = (*db)->Get(rocksdb::ReadOptions(), rocksdb::Slice(key), &value);
  if (read.IsNotFound()) return std::optional<std::string>();
  if (!read.ok()) return Fail(ToError(read, What(action)));
  return std::optional(std::move(value));
}

// nullopt: deletes the record.
Status RocksPartitionStore::Database::WriteRecord(std::string_view what, std::string_view key,
                                                  std::optional<std::string_view> value) {
  return WriteFile(what, incoming_file_, [&](rocksdb::SstFileWriter& file) {
    return AddRow(file, {value ? RowOp::kPut : RowOp::kDelete, key, value.value_or("")});
  });
}

Status RocksPartitionStore::Database::WriteFile(
    std::string_view what, const std::string& path,
    const std::function<rocksdb::Status(rocksdb::SstFileWriter& file)>& add) {
  rocksdb::SstFileWriter file(rocksdb::EnvOptions(rocks_options_), rocks_options_);
  rocksdb::Status written = file.Open(path);
  if (written.ok()) written = add(file);
  if (written.ok()) written = file.Finish();
  Status done = ToStatus(written, What(what));
  const FinishedFile files[] = {{path, nullptr}};
  if (done) done = Ingest(files);
  if (!done) RemoveIncoming(path);
  return done;
}

Status RocksPartitionStore::Database::Resume() {
  const rocksdb::Status stopped = errors_->Stopped();
  auto db = Use();
  if (stopped.ok() && db) return {};
  if (stopped.IsCorruption()) return ToStatus(stopped, What("the store is stopped"));
  if (db) {
    // Resume rewrites the manifest if its end is in doubt. After an error that Resume can't mend (other than
    // a full disk), opening the database again may still work.
    const rocksdb::Status resumed = db->Resume();
    if (IsNoSpace(resumed) || resumed.IsBusy()) return ToStatus(resumed, What("the store can't write yet"));
  }
  db.reset();  // Reopen waits until nobody else uses the database
  // A resumed database is opened again as well. RocksDB before 8.9 clears the error, but not its note that
  // writes are stopped. So it goes on refusing files or, worse, takes the next file without a number.
  uint64_t free_bytes = 0;
  const rocksdb::Status asked =
      file_system_->GetFreeSpace(options_.directory, rocksdb::IOOptions(), &free_bytes, nullptr);
  if (asked.ok() && free_bytes < kReopenBytesMin) {
    return Fail(Code::kNoSpace,
                What(fmt::format("{} bytes are free on the disk of store.directory", free_bytes)));
  }
  return Reopen();
}

Status RocksPartitionStore::Database::Reopen() {
  std::shared_ptr<rocksdb::DB> old;
  {
    const MutexLock lock(db_mutex_);
    reopening_ = true;
    old.swap(db_);
  }
  if (old) {
    rocksdb::CancelAllBackgroundWork(old.get(), /*wait=*/false);
    // Running reads end by themselves, new reads wait.
    while (old.use_count() > 1) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    old.reset();
  }
  errors_->Clear();
  const Status opened = OpenRocks();
  {
    const MutexLock lock(db_mutex_);
    reopening_ = false;
  }
  reopened_.NotifyAll();
  if (opened)
    log::Info("the store was opened again after an error", {{"partition", options_.identity.partition}});
  return opened;
}

Status RocksPartitionStore::Database::Ingest(std::span<const FinishedFile> files) {
  rocksdb::IngestExternalFileOptions ingest;
  ingest.move_files = true;
  ingest.allow_global_seqno = true;
  ingest.write_global_seqno = false;    // else it writes to the file after the checksums were made
  ingest.allow_blocking_flush = false;  // nothing is ever in a memtable
  const auto db = UseOrFail("checkpoint");
  if (!db) return Fail(db.error());
  std::vector<rocksdb::IngestExternalFileArg> arguments(files.size());
  for (size_t i = 0; i < files.size(); ++i) {
    arguments[i].column_family = files[i].family ? files[i].family->handle() : (*db)->DefaultColumnFamily();
    arguments[i].external_files = {files[i].path};
    arguments[i].options = ingest;
  }
  DeferredDeletes deletes;
  const rocksdb::Status ingested = (*db)->IngestExternalFiles(arguments);
  if (errors_->Stopped().ok()) deletes.Perform(*file_system_);
  return ToStatus(ingested, What("checkpoint"));
}

void RocksPartitionStore::Database::RemoveIncoming(const std::string& path) const {
  // If the file can't be removed, the next writer truncates it.
  file_system_->DeleteFile(path, rocksdb::IOOptions(), nullptr).PermitUncheckedError();
}

std::string RocksPartitionStore::Database::incoming_published_file() const {
  return fmt::format("{}/partition-{}-published.sst", StoreDirectory::IncomingPath(options_.directory),
                     options_.identity.partition);
}

std::string RocksPartitionStore::Database::base_folder() const {
  return fmt::format("{}/base-{}", StoreDirectory::IncomingPath(options_.directory),
                     options_.identity.partition);
}

std::string RocksPartitionStore::Database::incoming_file(Day journal_day) const {
  return fmt::format("{}/partition-{}-{}.sst", StoreDirectory::IncomingPath(options_.directory),
                     options_.identity.partition, JournalFamilyName(journal_day));
}

}  // namespace seen
