#pragma once
// A disk that loses what nobody synced, for RocksDB in tests. kill -9 leaves the page cache, so kill -9 can't
// show a missing fsync. This disk can.
//
//   LossyDisk disk(folder);
//   options.file_system = disk.Mount();
//   ... work; disk.CrashAfter(17) cuts the power in the middle of it ...
//   store.reset();
//   disk.Crash();                          // back to what was durable
//   options.file_system = disk.Mount();    // start again
//
// The disk is pessimistic. A file keeps only the bytes before its last sync. A folder keeps only the entries
// (created, linked, renamed, deleted) before the folder's last sync. Files are real files below `folder`.
// Files that weren't made through a mount stay as they are. Thread-safe.

#include <rocksdb/file_system.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace seen::test {

enum class DiskOperation { kCreate, kWrite, kSync, kSyncFolder, kRename, kLink, kDelete, kCreateFolder };

class LossyDisk {
 public:
  /// `folder` exists. A folder beside it, "<folder>.vault", keeps the bytes that a crash may bring back.
  explicit LossyDisk(std::string folder);
  ~LossyDisk();

  /// Works until the next Crash. From then on every change through this mount fails.
  std::shared_ptr<rocksdb::FileSystem> Mount();

  /// Takes everything back to the durable contents. Stores on older mounts must be gone before a new store
  /// opens the same files. With a seed, each file keeps a random part of its unsynced bytes, as on real
  /// disks.
  void Crash(uint64_t torn_seed = 0);
  /// After `operations` more operations that change something, all further ones fail until Crash().
  void CrashAfter(uint64_t operations);
  /// The number of operations that have changed something.
  uint64_t operations() const;

  /// Leaves space for `bytes` more bytes; nullopt: no limit. Deleted files give their space back.
  void SetFreeBytes(std::optional<uint64_t> bytes);
  /// The next operation of this kind fails with an IO error and changes nothing. Before that, `skip` of them
  /// succeed.
  void FailNext(DiskOperation operation, uint64_t skip = 0);

  struct State;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace seen::test
