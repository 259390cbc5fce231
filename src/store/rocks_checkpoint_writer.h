#pragma once

#include <rocksdb/sst_file_writer.h>

#include <string_view>

#include "rows/row_batch.h"
#include "store/delta_cache.h"
#include "store/journal_files.h"
#include "store/rocks_database.h"

namespace seen {

/// Writes the file of one checkpoint: position, sweep, deltas, marks, endings, served items, in the order of
/// their keys.
class RocksPartitionStore::Writer final : public RowWriter {
 public:
  Writer(Database& database, DeltaCache& cache);
  ~Writer() override;

  Status Begin(const Position& position);
  Status AddDelta(const UserRef& user, std::string_view encoded_delta) override;
  Status KeepRowsFrom(Day keep_from, Day whole_from) override;
  Status EraseRows(const UserKey& user, Day through) override;
  Status AddRow(const UserKey& user, const JournalPlace& place, std::string_view row) override;
  Status Commit() override;

 private:
  Status Write(const Row& row) override;
  Status Written(const rocksdb::Status& status) const;

  Database& database_;
  DeltaCache& cache_;
  rocksdb::SstFileWriter file_;
  std::optional<JournalFiles> journal_;  // where there is a journal
  bool committed_ = false;
};

}  // namespace seen
