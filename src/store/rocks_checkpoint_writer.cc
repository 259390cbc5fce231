#include "store/rocks_checkpoint_writer.h"

#include <fmt/format.h>

#include "base/check.h"
#include "rocks/status.h"
#include "rows/position_codec.h"
#include "store/journal_keys.h"

namespace seen {
namespace {
rocksdb::Slice SliceOf(const StoredUserKey& key) { return {key.data(), key.size()}; }
}  // namespace

RocksPartitionStore::Writer::Writer(Database& database, DeltaCache& cache)
    : database_(database),
      cache_(cache),
      file_(rocksdb::EnvOptions(database.rocks_options()), database.rocks_options()) {
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
  if (status.IsInvalidArgument()) {
    return Fail(Code::kInvalidArgument,
                database_.What("checkpoint: users must ascend, deltas before marks: ") + status.ToString());
  }
  return ToStatus(status, database_.What("checkpoint"));
}

Status RocksPartitionStore::Writer::Begin(const Position& position) {
  rocksdb::Status status = file_.Open(database_.incoming_file());
  if (status.ok()) status = file_.Put(rocksdb::Slice(PositionKey()), EncodePosition(position));
  if (status.ok() && !position.filters.empty())
    status = file_.Put(rocksdb::Slice(WholenessKey()), EncodeWholeness(position.filters));
  return Written(status);
}

Status RocksPartitionStore::Writer::AddDelta(const UserRef& user, std::string_view encoded_delta) {
  if (!database_.rules().Knows(user.filter)) {
    return Fail(Code::kInvalidArgument,
                database_.What(fmt::format("checkpoint: no filter has id {}", user.filter.number())));
  }
  cache_.Compose(user, encoded_delta);
  return Written(file_.Merge(SliceOf(KeyOf(Table::kDeltas, user)), rocksdb::Slice(encoded_delta)));
}

Status RocksPartitionStore::Writer::PutSweep(std::string_view encoded) {
  return Written(file_.Put(rocksdb::Slice(SweepKey()), rocksdb::Slice(encoded)));
}

Status RocksPartitionStore::Writer::DropPublished(const UserRef& user) {
  return Written(file_.Delete(SliceOf(KeyOf(Table::kPublished, user))));
}

Status RocksPartitionStore::Writer::DropAllPublished(FilterId filter) {
  const auto next = FilterId(static_cast<size_t>(filter.number() + 1));  // a store has fewer than 65,535
  return DropRange(View(KeyOf(Table::kPublished, {filter, {}})), View(KeyOf(Table::kPublished, {next, {}})));
}

Status RocksPartitionStore::Writer::SetMark(const Mark& mark) {
  return Written(file_.Put(SliceOf(KeyOf(Table::kMarks, mark.user)), rocksdb::Slice(mark.user_id)));
}

Status RocksPartitionStore::Writer::ClearMark(const UserRef& user) {
  return Written(file_.Delete(SliceOf(KeyOf(Table::kMarks, user))));
}

Status RocksPartitionStore::Writer::KeepRowsFrom(Day keep_from, Day whole_from) {
  if (!journal_) return CheckpointWriter::KeepRowsFrom(keep_from, whole_from);
  journal_->KeepFrom(keep_from);
  return Written(file_.Put(rocksdb::Slice(JournalStartKey()), EncodeJournalStart(whole_from)));
}

Status RocksPartitionStore::Writer::EraseRows(const UserKey& user, Day through) {
  return journal_ ? journal_->Erase(user, through) : CheckpointWriter::EraseRows(user, through);
}

Status RocksPartitionStore::Writer::AddRow(const UserKey& user, const JournalPlace& place,
                                           std::string_view row) {
  return journal_ ? journal_->Add(user, place, row) : CheckpointWriter::AddRow(user, place, row);
}

// One tombstone for all. It doesn't cover what this same file adds.
Status RocksPartitionStore::Writer::DropRange(std::string_view from, std::string_view to) {
  return Written(file_.DeleteRange(rocksdb::Slice(from), rocksdb::Slice(to)));
}

Status RocksPartitionStore::Writer::DropEndings(uint32_t at_s) {
  return DropRange(View(KeyOf(Ending{})), View(KeyOf(Ending{at_s, {}})));
}

Status RocksPartitionStore::Writer::AddEnding(const Ending& ending) {
  return Written(file_.Put(rocksdb::Slice(View(KeyOf(ending))), rocksdb::Slice()));
}

Status RocksPartitionStore::Writer::DropServed(uint32_t due_s) {
  return DropRange(View(KeyOf(ServedRow{})), View(KeyOf(ServedRow{due_s, {}, {}})));
}

Status RocksPartitionStore::Writer::DropServedOf(uint32_t due_s, const UserKey& user) {
  const ServedRow first{due_s, user, {}};
  const ServedRow last{due_s, user, {UINT32_MAX}, INT64_MAX, UINT16_MAX};
  return DropRange(View(KeyOf(first)), View(KeyOf(last)));
}

Status RocksPartitionStore::Writer::AddServed(const ServedRow& row, std::string_view text) {
  return Written(file_.Put(rocksdb::Slice(View(KeyOf(row))), rocksdb::Slice(text)));
}

Status RocksPartitionStore::Writer::Commit() {
  Check(!committed_, "a checkpoint is committed once");
  // Files are synced here, and once more with their entries in RocksDB's folder by the ingestion.
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
