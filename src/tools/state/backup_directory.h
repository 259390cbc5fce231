#pragma once
// A directory of backups, and the parts of one backup: schemas/backup.md.
//
//   LOCK                locked with flock by the one process that writes
//   seen-backups.json   the daemon and topic of these backups
//   backups/<n>.json    one manifest each; written last, whole or not at all
//   files/              the manifests' files, by checksum: a file of several backups is there once
//   incoming/           files being written; the next process that writes removes them

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/durable_file.h"
#include "base/result.h"
#include "model/set_digest.h"
#include "tools/state/state_report.h"

namespace seen {

/// Raised if an older seenctl would misread what a newer one writes.
inline constexpr int kBackupFormat = 1;

struct BackupFile {
  std::string name;  // in the partition's folder
  uint64_t bytes = 0;
  Hash128 checksum;  // of the whole file: its name in the backup directory
  Hash128 tail;      // of its last 64 KiB
  friend bool operator==(const BackupFile&, const BackupFile&) = default;
};

struct BackedUpPartition {
  int32_t partition = 0;
  std::vector<BackupFile> files;  // by name
};

struct BackupManifest {
  uint32_t number = 0;  // ascending, from 1
  TimeMs made_at;
  std::string program;   // version of the program that made it
  std::string instance;  // the daemon whose state it is
  std::string partitioner;
  StateReport report;  // digests and positions, as the daemon computed them
  std::vector<BackedUpPartition> partitions;

  uint64_t Files() const;
  uint64_t Bytes() const;
};

std::string EncodeManifest(const BackupManifest& manifest);
/// kRefused: a newer version wrote the text. kCorrupt: the text isn't what EncodeManifest wrote.
Result<BackupManifest> DecodeManifest(std::string_view text);

// Files of backups. Errors: as in base/durable_file.h.

/// kRefused: the directory has something other than `may_have`. A missing directory is empty.
Status CheckEmpty(std::string_view option, const std::string& path,
                  const std::set<std::string>& may_have = {});

/// Makes `to` a link to `from` if `may_link` and the file system allow it, otherwise a durable copy. Returns
/// the hash of the bytes read from `from`. `to` must not exist.
Result<Hash128> LinkOrCopy(const std::string& from, const std::string& to, bool may_link);

/// The owner of a directory's backups: one daemon, for one topic.
struct BackupOwner {
  std::string topic;
  std::string partitioner;
  int32_t partitions_total = 0;
  std::string instance;
  friend bool operator==(const BackupOwner&, const BackupOwner&) = default;
};

/// One thread.
class BackupDirectory {
 public:
  /// Creates the directory if it is missing or empty. Removes the unfinished files of an earlier process.
  /// kRefused: another process writes, or the directory holds something else, backups of another owner, or a
  /// newer version's backups.
  static Result<BackupDirectory> OpenToWrite(const std::string& path, const BackupOwner& owner);
  /// Changes nothing. kNotFound: it is no directory of backups.
  static Result<BackupDirectory> OpenToRead(const std::string& path);

  const std::string& path() const { return path_; }
  /// In ascending order.
  Result<std::vector<uint32_t>> Numbers() const;
  /// kNotFound: there is no backup with that number. Other errors: as DecodeManifest.
  Result<BackupManifest> Read(uint32_t number) const;
  /// The backup with that number, or the newest.
  Result<BackupManifest> ReadOrNewest(std::optional<uint32_t> number) const;
  std::string PathOf(const BackupFile& file) const;

  // Only for a directory from OpenToWrite.

  /// Adds the file, unless the directory has it. `added` counts the new files.
  struct Added {
    uint64_t files = 0;
    uint64_t bytes = 0;
  };
  Result<BackupFile> Take(const std::string& path, const std::string& name, bool may_link, Added& added);
  /// kCorrupt: the stored bytes don't have the file's checksum.
  Status Verify(const BackupFile& file) const;
  /// Gives the backup the next number. The backup exists once Commit has succeeded.
  Status Commit(BackupManifest& manifest);
  /// Removes all backups except the newest `count`. Returns how many it removed.
  Result<uint32_t> Keep(uint32_t count);
  /// Removes files that no manifest names. If a manifest can't be read, removes nothing and returns that
  /// error.
  Status RemoveUnnamed() const;

 private:
  BackupDirectory(std::string path, std::optional<FileLock> lock)
      : path_(std::move(path)), lock_(std::move(lock)) {}
  Status CheckOwner(const BackupOwner& owner) const;
  Status LearnFiles();
  std::string ManifestPath(uint32_t number) const;

  std::string path_;
  std::optional<FileLock> lock_;
  // Files of the existing backups, by size and tail: they needn't be read again.
  std::map<std::pair<uint64_t, std::string>, Hash128> known_;
  uint64_t incoming_made_ = 0;
};

}  // namespace seen
