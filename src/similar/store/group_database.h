#pragma once
// The rows of the table of groups on disk: schemas/store.md, "Table of groups". There is no write-ahead log:
// rows and positions go into one memtable and reach the disk together.
//
// Threads: Open, Destroy, Write, Forget and Flush by the writer; the rest by any.

#include <rocksdb/db.h>
#include <rocksdb/utilities/write_batch_with_index.h>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "rocks/resources.h"
#include "similar/store/group_records.h"

namespace seen {

class GroupDatabase {
 public:
  /// `first_ms`: a compaction removes the rows of items before it; it outlives this object.
  GroupDatabase(std::string path, const StoreResources& resources,
                const std::shared_ptr<rocksdb::FileSystem>& file_system,
                const std::atomic<int64_t>& first_ms);
  ~GroupDatabase();  // flushes what was written

  /// kCorrupt: this program wouldn't have written it; the message says why.
  Status Open();
  /// Closes and removes the database.
  Status Destroy();
  /// Whether the rows are of the topic that `descriptor` names; nullopt: of no topic yet.
  Result<std::optional<bool>> IsOf(std::string_view descriptor) const;
  Result<std::optional<group_rows::Position>> PositionOf(int32_t partition) const;
  /// Calls `take` for the position of each partition.
  Status EachPosition(const std::function<Status(const group_rows::Position&)>& take) const;
  /// Calls `take` for each item that isn't alone, in the window or not.
  Status EachSimilarList(const std::function<void(Fingerprint item, std::string_view row)>& take) const;

  /// False: there is no such row. Errors name the folder.
  Result<bool> Read(std::string_view key, std::string& value) const;
  Result<bool> Read(std::string_view key, rocksdb::PinnableSlice& value) const;
  /// Reads the row as the batch leaves it.
  Result<bool> Read(rocksdb::WriteBatchWithIndex& batch, const std::string& key, std::string& value) const;
  std::unique_ptr<rocksdb::Iterator> Scan() const;
  Status Write(rocksdb::WriteBatch& batch);
  /// Deletes all rows and positions, and writes `descriptor` unless it is empty.
  Status Forget(std::string_view descriptor);
  Status Flush();

  uint64_t rows() const { return Figure(rocksdb::DB::Properties::kEstimateNumKeys); }  // an estimate
  uint64_t bytes() const { return Figure(rocksdb::DB::Properties::kTotalSstFilesSize); }
  const std::string& path() const { return path_; }
  Error Corrupt(std::string_view what) const;
  /// A read error, for people.
  Status ToRead(const rocksdb::Status& status) const;

 private:
  class WindowFilter;
  rocksdb::Options RocksOptions() const;
  uint64_t Figure(const std::string& property) const;
  Result<bool> Found(const rocksdb::Status& read) const;

  const std::string path_;
  const StoreResources resources_;
  const std::shared_ptr<rocksdb::FileSystem> file_system_;
  const std::unique_ptr<rocksdb::Env> env_;  // nullptr: the default one
  const std::unique_ptr<WindowFilter> filter_;
  std::unique_ptr<rocksdb::DB> db_;  // uses all of the above
};

}  // namespace seen
