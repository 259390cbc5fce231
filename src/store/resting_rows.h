#pragma once
// The rows of a partition that nobody writes: a stopped daemon's folder, a checkpoint of RocksDB, or a
// backup.

#include <rocksdb/db.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "flow/store_port.h"
#include "model/day.h"
#include "rocks/resources.h"
#include "rows/descriptor.h"
#include "rows/keys.h"
#include "store/merge_rules.h"

namespace seen {

/// One thread. Each block is checked against its checksum when it is read. Nothing is written to the folder.
class RestingRows {
 public:
  /// kNotFound: no database is there. kRefused: a newer version wrote it. kCorrupt, kUnavailable.
  static Result<std::unique_ptr<RestingRows>> Open(const std::string& folder,
                                                   const StoreResources& resources);
  ~RestingRows();
  RestingRows(const RestingRows&) = delete;
  RestingRows& operator=(const RestingRows&) = delete;

  const StoreDescriptor& descriptor() const { return descriptor_; }
  /// nullopt: nothing was ever committed.
  const std::optional<Position>& position() const { return position_; }

  /// Visits all rows of the state in the order of their keys, folded. An error of `visit` ends the visits and
  /// is returned.
  using Visit = std::function<Status(std::string_view key, std::string_view value)>;
  Status ForEach(const Visit& visit);
  /// Reads the rows from `table` on. A cursor must end before its RestingRows does.
  class Cursor {
   public:
    /// False: there are no more rows. Views are valid until the next call.
    Result<bool> Next(std::string_view& key, std::string_view& value);

   private:
    friend class RestingRows;
    Cursor(const RestingRows& rows, std::unique_ptr<rocksdb::Iterator> at)
        : rows_(rows), at_(std::move(at)) {}
    const RestingRows& rows_;
    const std::unique_ptr<rocksdb::Iterator> at_;
    bool begun_ = false;
  };
  std::unique_ptr<Cursor> ReadFrom(Table table);
  /// The user's encoded set; empty: none.
  Result<std::string> DeltaOf(const UserRef& user);
  /// The user id in the user's mark; empty: there is no mark.
  Result<std::string> MarkedIdOf(const UserRef& user);
  bool has_journal() const { return !journal_.empty(); }
  /// Visits the rows of the user's journal, in no order.
  Status ForEachJournalRow(const UserKey& user, const std::function<void(std::string_view value)>& visit);
  /// Reads every block of every file, the journal's among them.
  Status VerifyChecksums();

 private:
  explicit RestingRows(std::string folder, const StoreResources& resources);
  Status OpenRocks();
  Result<std::optional<std::string>> Get(std::string_view key);
  Status ToResult(const rocksdb::Status& status) const;

  const std::string folder_;
  const std::shared_ptr<MergeRules> rules_;
  const rocksdb::Options options_;
  const rocksdb::ColumnFamilyOptions journal_options_;
  std::unique_ptr<rocksdb::DB> db_;
  std::vector<rocksdb::ColumnFamilyHandle*> handles_;  // of all families of the database
  std::vector<rocksdb::ColumnFamilyHandle*> journal_;  // those of the journal's families
  StoreDescriptor descriptor_;
  std::optional<Position> position_;
};

/// What a partition's folder holds, read while nobody has it open.
struct RestingState {
  StoreDescriptor descriptor;
  std::optional<int64_t> read_to;  // Position::ReadTo; nullopt: nothing was ever committed
};

/// nullopt: there is no database. Any error: the database can't be read; opening it says why. Changes
/// nothing.
Result<std::optional<RestingState>> ReadRestingState(const std::string& directory, int32_t partition);

}  // namespace seen
