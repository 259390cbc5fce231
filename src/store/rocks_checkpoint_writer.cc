#include "store/rocks_checkpoint_writer.h"

#include <fmt/format.h>

#include "base/log.h"
#include "base/result.h"
#include "rocks/rocks_status.h"
#include "rows/keys.h"
#include "store/journal_families.h"
#include "store/rocks_options.h"
#include "store/rocks_scans.h"

namespace seen {

RocksPartitionStore::JournalFiles::~JournalFiles() {
  if (committed_) return;
  for (const auto& [day, file] : files_) database_.RemoveIncoming(file.path);
}

Status RocksPartitionStore::JournalFiles::Written(const rocksdb::Status& status) const {
  if (status.IsInvalidArgument()) {
    return Fail(
        Code::kInvalidArgument,
        database_.What("checkpoint: the journal's users and places must ascend: ") + status.ToString());
  }
  return ToStatus(status, database_.What("checkpoint of the journal"));
}

Status RocksPartitionStore::JournalFiles::NeedDatabase() {
  if (db_) return {};
  auto db = database_.UseOrFail("checkpoint of the journal");
  if (!db) return Fail(db.error());
  db_ = std::move(*db);
  return {};
}

Result<RocksPartitionStore::JournalFiles::File*> RocksPartitionStore::JournalFiles::FileOf(Day day) {
  const auto found = files_.find(day);
  if (found != files_.end()) return &found->second;
  if (Status open = NeedDatabase(); !open) return Fail(open.error());
  File file;
  const rocksdb::Status made = database_.families().Make(*db_, day, file.family);
  if (!made.ok()) return Fail(ToError(made, database_.What("can't begin a day of the journal")));
  file.path = database_.incoming_file(day);
  const rocksdb::Options options(database_.rocks_options(), database_.families().options());
  file.writer = std::make_unique<rocksdb::SstFileWriter>(rocksdb::EnvOptions(options), options);
  const Status opened = Written(file.writer->Open(file.path));
  File& kept = files_[day] = std::move(file);
  if (!opened) return Fail(opened.error());
  return &kept;
}

Result<bool> RocksPartitionStore::JournalFiles::HasRows(const JournalFamily& family,
                                                        const UserKey& user) const {
  const std::string begin = JournalUserBegin(user);
  rocksdb::ReadOptions read;
  read.prefix_same_as_start = true;
  read.fill_cache = false;
  const std::unique_ptr<rocksdb::Iterator> at(db_->NewIterator(read, family.handle()));
  at->Seek(begin);
  if (at->Valid()) return true;
  if (!at->status().ok()) return Fail(ToError(at->status(), database_.What("can't read the journal")));
  return false;
}

Status RocksPartitionStore::JournalFiles::Erase(const UserKey& user, Day through) {
  if (Status open = NeedDatabase(); !open) return open;
  for (const auto& family : database_.families().All()) {
    if (family->day() > through) break;
    const auto has_rows = HasRows(*family, user);
    if (!has_rows) return Fail(has_rows.error());
    if (!*has_rows) continue;
    const auto file = FileOf(family->day());
    if (!file) return Fail(file.error());
    // A file's rows and its tombstones get one sequence number, and a tombstone covers only smaller ones.
    Status erased = Written((*file)->writer->DeleteRange(JournalUserBegin(user), JournalUserEnd(user)));
    if (!erased) return erased;
  }
  return {};
}

Status RocksPartitionStore::JournalFiles::Add(const UserKey& user, const JournalPlace& place,
                                              std::string_view row) {
  const auto file = FileOf(DayOf(place.at));
  if (!file) return Fail(file.error());
  const JournalKey key = JournalKeyOf(user, place);
  return Written((*file)->writer->Put(rocksdb::Slice(key.data(), key.size()), rocksdb::Slice(row)));
}

Status RocksPartitionStore::JournalFiles::Finish(std::vector<Database::FinishedFile>& files) {
  for (auto& [day, file] : files_) {
    if (Status finished = Written(file.writer->Finish()); !finished) return finished;
    files.push_back({file.path, file.family});
  }
  return {};
}

void RocksPartitionStore::JournalFiles::Committed() {
  committed_ = true;
  if (!keep_from_ || !NeedDatabase()) return;
  for (const auto& family : database_.families().All()) {
    if (family->day() >= *keep_from_) break;
    const uint64_t bytes = family->Bytes();
    const rocksdb::Status dropped = database_.families().Drop(*db_, family);
    if (!dropped.ok()) {
      log::Warning("a day of the journal can't be dropped yet",
                   {{"day", family->day().since_epoch}, {"error", dropped.ToString()}});
      return;
    }
    log::Info("a day of the journal was dropped", {{"day", family->day().since_epoch}, {"bytes", bytes}});
  }
}

namespace {
// The users of a checkpoint are the next to be published and asked for. RocksDB's default would drop the file
// from the page cache, and each of them would be read from the disk.
constexpr bool kInvalidatePageCache = false;
}  // namespace

RocksPartitionStore::Writer::Writer(Database& database, DeltaCache& cache)
    : database_(database),
      cache_(cache),
      file_(rocksdb::EnvOptions(database.rocks_options()), database.rocks_options(), nullptr,
            kInvalidatePageCache) {
  Check(!database_.has_writer.exchange(true), "one checkpoint at a time");
  if (database_.keeps_journal()) journal_.emplace(database_);
  cache_.CheckpointBegins();
}

RocksPartitionStore::Writer::~Writer() {
  if (!committed_) database_.RemoveIncomingFile();
  cache_.CheckpointEnds();
  database_.has_writer.store(false);
}

Status RocksPartitionStore::Writer::Written(const rocksdb::Status& status) const {
  if (status.ok()) [[likely]]  // saves making a text for each row
    return {};
  if (status.IsInvalidArgument()) {
    return Fail(Code::kInvalidArgument,
                database_.What("checkpoint: users must ascend, deltas before marks: ") + status.ToString());
  }
  return ToStatus(status, database_.What("checkpoint"));
}

Status RocksPartitionStore::Writer::Begin(const Position& position) {
  if (Status opened = Written(file_.Open(database_.incoming_file())); !opened) return opened;
  return PutPosition(position);
}

Status RocksPartitionStore::Writer::Write(const Row& row) { return Written(seen::AddRow(file_, row)); }

Status RocksPartitionStore::Writer::AddDelta(const UserRef& user, std::string_view encoded_delta) {
  if (!database_.rules().Knows(user.filter)) {
    return Fail(Code::kInvalidArgument,
                database_.What(fmt::format("checkpoint: no filter has id {}", user.filter.number())));
  }
  cache_.Compose(user, encoded_delta);
  return RowWriter::AddDelta(user, encoded_delta);
}

Status RocksPartitionStore::Writer::KeepRowsFrom(Day keep_from, Day whole_from) {
  if (!journal_) return CheckpointWriter::KeepRowsFrom(keep_from, whole_from);
  journal_->KeepFrom(keep_from);
  return Write({RowOp::kPut, JournalStartKey(), EncodeJournalStart(whole_from)});
}

Status RocksPartitionStore::Writer::EraseRows(const UserKey& user, Day through) {
  return journal_ ? journal_->Erase(user, through) : CheckpointWriter::EraseRows(user, through);
}

Status RocksPartitionStore::Writer::AddRow(const UserKey& user, const JournalPlace& place,
                                           std::string_view row) {
  return journal_ ? journal_->Add(user, place, row) : CheckpointWriter::AddRow(user, place, row);
}

Status RocksPartitionStore::Writer::Commit() {
  Check(!committed_, "a checkpoint is committed once");
  // The files are synced here. The ingestion syncs them once more, with their entries in RocksDB's folder.
  if (Status finished = Written(file_.Finish()); !finished) return finished;
  std::vector<Database::FinishedFile> files{{database_.incoming_file(), nullptr}};
  if (journal_) {
    if (Status finished = journal_->Finish(files); !finished) return finished;
  }
  if (Status ingested = database_.Ingest(files); !ingested) return ingested;
  committed_ = true;
  if (journal_) journal_->Committed();
  return {};
}

}  // namespace seen
