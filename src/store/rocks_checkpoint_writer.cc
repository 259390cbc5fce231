#include "store/rocks_checkpoint_writer.h"

#include <fmt/format.h>

#include "base/result.h"
#include "rocks/rocks_status.h"
#include "rows/keys.h"
#include "store/journal_families.h"

namespace seen {
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

Status RocksPartitionStore::Writer::Write(const Row& row) {
  const rocksdb::Slice key(row.key);
  const rocksdb::Slice value(row.value);
  switch (row.op) {
    case RowOp::kPut:
      return Written(file_.Put(key, value));
    case RowOp::kMerge:
      return Written(file_.Merge(key, value));
    case RowOp::kDelete:
      return Written(file_.Delete(key));
    case RowOp::kDeleteRange:
      // One tombstone deletes the whole range. It doesn't cover the rows that this file adds.
      return Written(file_.DeleteRange(key, value));
  }
  return {};
}

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
