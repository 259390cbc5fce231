#pragma once
// A directory of backups: schemas/backup.md.
//
//   LOCK                locked with flock by the one process that writes
//   seen-backups.json   whose backups these are
//   backups/<n>.json    a manifest each; written last, whole or not at all
//   files/              what the manifests name, by checksum: a file that several backups have is there once
//   incoming/           being written; removed by the next process that writes

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/durable_file.h"
#include "base/result.h"
#include "tools/state/backup_manifest.h"

namespace seen {

/// Whose state a directory's backups are of: one daemon's, of one topic.
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
  /// Makes it where missing or empty. kRefused: another process writes, it holds something else, or backups
  /// of another state, or a newer version's. What an earlier process has left half-done is removed.
  static Result<BackupDirectory> OpenToWrite(const std::string& path, const BackupOwner& owner);
  /// Changes nothing. kNotFound: there are no backups.
  static Result<BackupDirectory> OpenToRead(const std::string& path);

  const std::string& path() const { return path_; }
  /// Ascending.
  Result<std::vector<uint32_t>> Numbers() const;
  /// kNotFound: there is none of that number. Else as DecodeManifest.
  Result<BackupManifest> Read(uint32_t number) const;
  /// That one, or the newest.
  Result<BackupManifest> ReadOrNewest(std::optional<uint32_t> number) const;
  std::string PathOf(const BackupFile& file) const;

  // Of a directory that was opened to be written.

  /// Has the file from now on, unless it had it before; `added` counts those it hadn't.
  struct Added {
    uint64_t files = 0;
    uint64_t bytes = 0;
  };
  Result<BackupFile> Take(const std::string& path, const std::string& name, bool may_link, Added& added);
  /// kCorrupt: what the disk has of it is something else.
  Status Verify(const BackupFile& file) const;
  /// It is a backup when this returns. Its number is the next one.
  Status Commit(BackupManifest& manifest);
  /// Removes all but the newest `count`; how many went.
  Result<uint32_t> Keep(uint32_t count);
  /// Removes files that no manifest names. Where a manifest can't be read nothing goes, and that is the
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
  // Files of the backups that there are, by size and tail: those that needn't be read again.
  std::map<std::pair<uint64_t, std::string>, Hash128> known_;
  uint64_t incoming_made_ = 0;
};

}  // namespace seen
