#pragma once
// The journal's part of one checkpoint: a file a day that has rows to add or to erase.

#include <rocksdb/sst_file_writer.h>

#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "store/rocks_database.h"

namespace seen {

class RocksPartitionStore::JournalFiles {
 public:
  explicit JournalFiles(Database& database) : database_(database) {}
  ~JournalFiles();  // removes what wasn't ingested
  JournalFiles(const JournalFiles&) = delete;
  JournalFiles& operator=(const JournalFiles&) = delete;

  void KeepFrom(Day day) { keep_from_ = day; }
  Status Erase(const UserKey& user, Day through);
  Status Add(const UserKey& user, const JournalPlace& place, std::string_view row);

  /// Appends the files, synced.
  Status Finish(std::vector<Database::FinishedFile>& files);
  /// They were ingested: drops the days before those that are kept. What can't be dropped is tried again by
  /// the next checkpoint.
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
  // Before the files: these let go of families before it lets go of the database.
  std::shared_ptr<rocksdb::DB> db_;
  std::optional<Day> keep_from_;
  std::map<Day, File> files_;
  bool committed_ = false;
};

}  // namespace seen
