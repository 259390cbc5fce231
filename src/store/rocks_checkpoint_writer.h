#pragma once
// Writes one checkpoint of a partition: a file for the state, and one for each day of the journal that
// changes.

#include <rocksdb/sst_file_writer.h>

#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "rows/row_batch.h"
#include "store/delta_cache.h"
#include "store/rocks_database.h"

namespace seen {

/// The journal's part of one checkpoint: one file for each day that has rows to add or to erase.
class RocksPartitionStore::JournalFiles {
 public:
  explicit JournalFiles(Database& database) : database_(database) {}
  ~JournalFiles();  // removes the files that weren't ingested
  JournalFiles(const JournalFiles&) = delete;
  JournalFiles& operator=(const JournalFiles&) = delete;

  void KeepFrom(Day day) { keep_from_ = day; }
  Status Erase(const UserKey& user, Day through);
  Status Add(const UserKey& user, const JournalPlace& place, std::string_view row);

  /// Finishes and syncs the files, and appends them to `files`.
  Status Finish(std::vector<Database::FinishedFile>& files);
  /// Call it once the files are ingested. Drops the days before those that are kept. If a day can't be
  /// dropped, the next checkpoint tries again.
  void Committed();

 private:
  struct File {
    JournalFamilies::Pointer family;
    std::string path;
    std::unique_ptr<rocksdb::SstFileWriter> writer;
  };
  Status NeedDatabase();
  Result<File*> FileOf(Day day);
  Result<bool> HasRows(const JournalFamily& family, const UserKey& user) const;
  Status Written(const rocksdb::Status& status) const;

  Database& database_;
  // Stands before the files: they must release their families before db_ releases the database.
  std::shared_ptr<rocksdb::DB> db_;
  std::optional<Day> keep_from_;
  std::map<Day, File> files_;
  bool committed_ = false;
};

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
