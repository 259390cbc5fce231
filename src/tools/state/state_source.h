#pragma once
// The state of partitions that nobody writes: of a stopped daemon's directory, or of a backup.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "rocks/resources.h"
#include "store/resting_rows.h"
#include "store/store_directory.h"
#include "tools/state/backup_directory.h"
#include "tools/state/state_report.h"

namespace CLI {
class App;
}

namespace seen {

/// What --dir, or --from with --backup, names.
struct StateSourceOptions {
  std::string directory;
  std::string backups;
  std::optional<uint32_t> backup;  // nullopt: the newest
};
void AddStateSourceOptions(CLI::App& app, StateSourceOptions& options);

/// One thread.
class StateSource {
 public:
  /// Of the directory if there is one, else of the backup.
  static Result<StateSource> Open(const StateSourceOptions& options) {
    return options.directory.empty() ? OfBackup(options.backups, options.backup)
                                     : OfDirectory(options.directory);
  }
  /// Holds the directory's lock. kNotFound: there is no state. kRefused: a daemon uses the directory.
  static Result<StateSource> OfDirectory(const std::string& path);
  /// The backup with that number, or the newest.
  static Result<StateSource> OfBackup(const std::string& path, std::optional<uint32_t> number);
  /// A backup that isn't committed yet.
  static Result<StateSource> OfBackup(const BackupDirectory& directory, const BackupManifest& manifest);
  StateSource(StateSource&&) noexcept;
  StateSource& operator=(StateSource&&) = delete;
  ~StateSource();

  /// For people.
  const std::string& name() const { return name_; }
  /// In ascending order, at least one.
  std::vector<int32_t> Partitions() const;
  Result<std::unique_ptr<RestingRows>> Open(int32_t partition) const;

 private:
  explicit StateSource(std::string name) : name_(std::move(name)) {}

  std::string name_;
  std::unique_ptr<StoreDirectory> directory_;
  std::string links_;  // a temporary folder with links to a backup's files; empty: none
  std::map<int32_t, std::string> folders_;
  StoreResources resources_{64 << 20, 1};
};

/// Reads the whole state. `quiet`: shows no progress. kRefused: its partitions are of several topics.
Result<StateReport> DigestSource(const StateSource& source, TimeMs as_of, bool quiet);

}  // namespace seen
