#pragma once
// The RocksDB of a partition and what belongs to it, for the store's own files.

#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/options.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/merge_rules.h"
#include "store/rocks_listener.h"
#include "store/rocks_partition_store.h"

namespace seen {

class RocksPartitionStore::Database {
 public:
  explicit Database(StoreOptions options);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  /// Once, before anything else: makes the folders, opens RocksDB, reads or writes the descriptor.
  Status Open();

  /// Asks RocksDB to write again where an error stopped it; kNoSpace, kUnavailable, kCorrupt if it can't.
  Status Resume();
  /// Moves a finished file in: all of it or nothing. Durable when it returns.
  Status Ingest(const std::string& file);

  /// "partition 3: <action>", for messages.
  std::string What(std::string_view action) const;
  rocksdb::DB& db() const { return *db_; }
  MergeRules& rules() const { return *rules_; }
  const rocksdb::Options& rocks_options() const { return rocks_options_; }
  const std::vector<FilterId>& filter_ids() const { return filter_ids_; }
  /// Where the next file to ingest is written. One at a time.
  const std::string& incoming_file() const { return incoming_file_; }
  void RemoveIncomingFile() const;

  std::atomic<bool> has_writer{false};

 private:
  Status MakeFolders() const;
  Status OpenRocks();
  Result<std::optional<StoreDescriptor>> ReadDescriptor() const;
  Status WriteDescriptor(const StoreDescriptor& descriptor);

  const StoreOptions options_;
  const std::string path_;
  const std::string incoming_file_;
  const std::shared_ptr<MergeRules> rules_;
  const std::shared_ptr<BackgroundErrors> errors_;
  const std::unique_ptr<rocksdb::Env> env_;
  const rocksdb::Options rocks_options_;
  std::vector<FilterId> filter_ids_;
  std::unique_ptr<rocksdb::DB> db_;  // uses all of the above
};

}  // namespace seen
