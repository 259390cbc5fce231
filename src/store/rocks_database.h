#pragma once
// The RocksDB of a partition and what belongs to it. Only for the store's own files.

#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/options.h>
#include <rocksdb/sst_file_writer.h>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "rocks/listener.h"
#include "store/journal_families.h"
#include "store/merge_rules.h"
#include "store/rocks_partition_store.h"

namespace seen {

class RocksPartitionStore::Database {
 public:
  explicit Database(StoreOptions options);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  /// Call it once, before anything else. Makes the folders, opens RocksDB, reads or writes the descriptor.
  Status Open();

  /// Makes RocksDB take files again if an error stopped it; does nothing otherwise. kNoSpace, kUnavailable,
  /// kCorrupt: RocksDB can't take files yet; reads go on meanwhile.
  Status Resume();
  /// Ingests finished files, each into its family: all of them or none. Durable when it returns.
  struct FinishedFile {
    std::string path;
    JournalFamilies::Pointer family;  // nullptr: the state's family
  };
  Status Ingest(std::span<const FinishedFile> files);
  /// Writes a file with `add` and ingests it. On an error no trace is left. `what`: for messages.
  Status WriteFile(std::string_view what, const std::string& path,
                   const std::function<rocksdb::Status(rocksdb::SstFileWriter& file)>& add);

  /// "partition 3: <action>", for messages.
  std::string What(std::string_view action) const;
  /// `error` about stored data, with the partition's name and the remedy.
  Error About(Error error, std::string_view action = {}) const;
  /// Keeps the database open while the pointer is held: hold it briefly. Waits while the database is being
  /// opened again. nullptr: it couldn't be opened again after an error.
  std::shared_ptr<rocksdb::DB> Use() const;
  /// As Use, but kUnavailable instead of nullptr.
  Result<std::shared_ptr<rocksdb::DB>> UseOrFail(std::string_view action) const;
  /// The value under `key`; nullopt: there is none.
  Result<std::optional<std::string>> Read(std::string_view action, std::string_view key) const;
  MergeRules& rules() const { return *rules_; }
  const rocksdb::Options& rocks_options() const { return rocks_options_; }
  bool keeps_journal() const { return options_.journal; }
  JournalFamilies& families() const { return *families_; }
  const std::vector<FilterId>& filter_ids() const { return filter_ids_; }
  /// Filters that are in the store and not configured any more, ascending.
  const std::vector<FilterId>& retired_filters() const { return retired_filters_; }
  const std::vector<RetiredTopic>& retired_topics() const { return retired_topics_; }
  const std::vector<uint8_t>& kind_numbers() const { return kind_numbers_; }
  const std::vector<std::vector<KindPolicy>>& past_kinds() const { return past_kinds_; }
  /// The path of the next file to ingest. One file at a time.
  const std::string& incoming_file() const { return incoming_file_; }
  /// The same, for the last published snapshots.
  std::string incoming_published_file() const;
  void RemoveIncomingFile() const { RemoveIncoming(incoming_file_); }
  /// Where RocksDB makes a checkpoint that is read as a base.
  std::string base_folder() const;
  std::string encoded_descriptor() const { return encoded_descriptor_; }
  std::string incoming_file(Day journal_day) const;
  void RemoveIncoming(const std::string& path) const;

  std::atomic<bool> has_writer{false};

 private:
  Status MakeFolders() const;
  Status OpenRocks();
  Status Reopen();
  Result<std::optional<StoreDescriptor>> ReadDescriptor() const;
  Status WriteDescriptor(const StoreDescriptor& descriptor);
  rocksdb::Status ListFamilies(std::vector<rocksdb::ColumnFamilyDescriptor>& families) const;
  Status DropJournal();
  Status WriteRecord(std::string_view what, std::string_view key, std::optional<std::string_view> value);

  const StoreOptions options_;
  const std::string path_;
  const std::string incoming_file_;
  const std::shared_ptr<MergeRules> rules_;
  const std::shared_ptr<BackgroundErrors> errors_;
  const std::shared_ptr<rocksdb::FileSystem> file_system_;
  const std::unique_ptr<rocksdb::Env> env_;
  const rocksdb::Options rocks_options_;
  const std::shared_ptr<JournalFamilies> families_;
  std::string encoded_descriptor_;
  std::vector<FilterId> filter_ids_;
  std::vector<FilterId> retired_filters_;
  std::vector<RetiredTopic> retired_topics_;
  std::vector<uint8_t> kind_numbers_;
  std::vector<std::vector<KindPolicy>> past_kinds_;
  mutable Mutex db_mutex_;
  mutable ConditionVariable reopened_;
  bool reopening_ GUARDED_BY(db_mutex_) = false;
  std::shared_ptr<rocksdb::DB> db_ GUARDED_BY(db_mutex_);  // uses all of the above
};

}  // namespace seen
