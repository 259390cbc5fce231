#pragma once
// store.directory belongs to one daemon, which locks it while it runs. It holds a RocksDB a partition.
//
//   LOCK             locked with flock; names the process that holds it
//   promotion        the last one that the daemon read, for when the topic of the cluster is gone
//   instance         the daemon's name in its group, unless kafka.instance_id gives one; in no backup
//   incoming/        files of checkpoints being written; nothing in it outlives a restart
//   partition-<n>/   RocksDB
//   groups/          RocksDB: the copy of the topic of groups, which may be removed

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace seen {

class StoreDirectory {
 public:
  /// Creates the directory if it is missing, takes its lock, and removes what a crash left half-done.
  /// kRefused: another process holds the lock (its id is in the message if known), or this process may not
  /// write there. kNoSpace; kUnavailable: any other failure.
  static Result<std::unique_ptr<StoreDirectory>> Open(const std::string& path);
  /// Takes the lock of a directory that a daemon has left, and changes nothing in it. kNotFound: there is no
  /// such directory. kRefused: another process holds the lock. A directory that was copied without its LOCK
  /// belongs to nobody.
  static Result<std::unique_ptr<StoreDirectory>> OpenStopped(const std::string& path);
  ~StoreDirectory();
  StoreDirectory(const StoreDirectory&) = delete;
  StoreDirectory& operator=(const StoreDirectory&) = delete;

  const std::string& path() const { return path_; }
  /// The daemon's name in its group, as a daemon kept it here. nullopt: none is kept.
  static std::optional<std::string> InstanceIdIn(const std::string& path);
  /// Does nothing if this name is kept already. kNoSpace; kRefused; kUnavailable.
  Status KeepInstanceId(std::string_view name) const;
  /// The partitions whose folder holds a database, whole or not, ascending. A database without a position is
  /// listed too, although it holds no state.
  Result<std::vector<int32_t>> PartitionsWithState() const;
  /// Removes a partition's state completely or (after a crash) not at all. A missing state is no error. The
  /// partition must not be open.
  Status RemovePartition(int32_t partition) const;

  static std::string PartitionPath(const std::string& directory, int32_t partition);
  static std::string IncomingPath(const std::string& directory);
  /// The copy of the topic of groups.
  static std::string GroupsPath(const std::string& directory);

 private:
  StoreDirectory(std::string path, int lock) : path_(std::move(path)), lock_(lock) {}
  const std::string path_;
  const int lock_;  // a file descriptor; -1: none
};

}  // namespace seen
