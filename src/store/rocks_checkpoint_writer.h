#pragma once

#include <rocksdb/sst_file_writer.h>

#include <string_view>

#include "rows/keys.h"
#include "store/delta_cache.h"
#include "store/journal_files.h"
#include "store/rocks_database.h"

namespace seen {

/// Writes the file of one checkpoint: position, sweep, deltas, marks, endings, served items, in the order of
/// their keys.
class RocksPartitionStore::Writer final : public CheckpointWriter {
 public:
  Writer(Database& database, DeltaCache& cache);
  ~Writer() override;

  Status Begin(const Position& position);
  Status AddDelta(const UserRef& user, std::string_view encoded_delta) override;
  Status PutSweep(std::string_view encoded) override;
  Status DropPublished(const UserRef& user) override;
  Status DropAllPublished(FilterId filter) override;
  Status SetMark(const Mark& mark) override;
  Status ClearMark(const UserRef& user) override;
  Status KeepRowsFrom(Day keep_from, Day whole_from) override;
  Status EraseRows(const UserKey& user, Day through) override;
  Status AddRow(const UserKey& user, const JournalPlace& place, std::string_view row) override;
  Status DropEndings(uint32_t at_s) override;
  Status AddEnding(const Ending& ending) override;
  Status DropServed(uint32_t due_s) override;
  Status DropServedOf(uint32_t due_s, const UserKey& user) override;
  Status AddServed(const ServedRow& row, std::string_view text) override;
  Status Commit() override;

 private:
  Status DropRange(std::string_view from, std::string_view to);
  Status Written(const rocksdb::Status& status) const;

  Database& database_;
  DeltaCache& cache_;
  rocksdb::SstFileWriter file_;
  std::optional<JournalFiles> journal_;  // where there is a journal
  bool committed_ = false;
};

}  // namespace seen
