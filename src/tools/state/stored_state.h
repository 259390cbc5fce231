#pragma once
// State that nobody writes, as a source of rows: a stopped daemon's directory, a backup, or what the state
// topic holds.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "kafka/state_topic.h"
#include "rocks/resources.h"
#include "store/resting_rows.h"
#include "store/store_directory.h"
#include "tools/read_files.h"
#include "tools/state/backup_directory.h"
#include "tools/state/state_rows.h"

namespace seen {

class StoredState final : public CopySource {
 public:
  /// Holds the directory's lock. kNotFound: there is no state. kRefused: a daemon uses the directory.
  static Result<std::unique_ptr<StoredState>> OfDirectory(const std::string& path);
  /// The backup with that number, or the newest.
  static Result<std::unique_ptr<StoredState>> OfBackup(const std::string& path,
                                                       std::optional<uint32_t> number);
  /// A backup that isn't committed yet.
  static Result<std::unique_ptr<StoredState>> OfBackup(const BackupDirectory& directory,
                                                       const BackupManifest& manifest);
  /// What daemons with empty disks would restore now, built in `scratch`; empty: in the system's folder for
  /// temporary files. `identity`: of any partition. kNotFound: a partition has no whole base.
  static Result<std::unique_ptr<StoredState>> OfTopic(const StateTopicOptions& topic, StoreIdentity identity,
                                                      const std::string& scratch);

  /// For people.
  const std::string& name() const { return name_; }
  /// Opens the partitions, in ascending order. Leaves out a partition that was still being created.
  Result<std::vector<std::unique_ptr<RestingRows>>> Open() const;
  /// Shows the rows that PassRows has passed on as progress of `task`.
  void ShowProgress(const std::string& task) { task_ = task; }

  int32_t partitions() const override { return static_cast<int32_t>(folders_.size()); }
  Result<std::vector<PartitionHead>> Heads(CopySink& sink) override;
  Status PassRows(CopySink& sink) override;

 private:
  explicit StoredState(std::string name) : name_(std::move(name)) {}
  Error Located(int32_t partition, const Error& error) const;

  std::string name_;
  std::string task_;  // empty: shows no progress
  std::unique_ptr<StoreDirectory> directory_;
  std::optional<OwnFolder> own_;  // links to a backup's files, or what the state topic holds
  std::map<int32_t, std::string> folders_;
  StoreResources resources_{64 << 20, 1};
  std::vector<std::unique_ptr<RestingRows>> open_;  // by place, from Heads on
};

/// Reads the whole state. kRefused: its partitions are of several topics.
Result<StateReport> DigestStored(StoredState& state, TimeMs as_of);

}  // namespace seen
