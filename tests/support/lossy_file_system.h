#pragma once
// A disk that forgets what nobody synced. For RocksDB in tests: kill -9 leaves the page cache, so it can't
// show a missing fsync; this can.
//
//   LossyDisk disk(folder);
//   options.file_system = disk.Mount();
//   ... work; disk.CrashAfter(17) cuts the power in the middle of it ...
//   store.reset();
//   disk.Crash();                          // back to what was durable
//   options.file_system = disk.Mount();    // start again
//
// Pessimistic: of a file only the bytes before its last sync survive, of a folder only the entries (created,
// linked, renamed, deleted) before the folder's last sync. Files are real files below `folder`; what wasn't
// made through a mount stays as it is. Thread-safe.

#include <rocksdb/file_system.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace seen::test {

enum class DiskOperation { kCreate, kWrite, kSync, kSyncFolder, kRename, kLink, kDelete, kCreateFolder };

class LossyDisk {
 public:
  /// `folder` exists. A folder beside it, "<folder>.vault", keeps what a crash may bring back.
  explicit LossyDisk(std::string folder);
  ~LossyDisk();

  /// Works until the next Crash; then everything through it fails.
  std::shared_ptr<rocksdb::FileSystem> Mount();

  /// Takes everything back to what is durable. Stores on older mounts must be gone before a new one opens the
  /// same files. With a seed, each file keeps a random part of its unsynced bytes, as disks do.
  void Crash(uint64_t torn_seed = 0);
  /// After `operations` more that change something, all others fail, until Crash().
  void CrashAfter(uint64_t operations);
  /// Operations that changed something, so far.
  uint64_t operations() const;

  /// Space for so many more bytes; nullopt: no limit. Deleted files give theirs back.
  void SetFreeBytes(std::optional<uint64_t> bytes);
  /// The next such operation fails with an IO error and changes nothing; before it, `skip` of them succeed.
  void FailNext(DiskOperation operation, uint64_t skip = 0);

  struct State;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace seen::test
