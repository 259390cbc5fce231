#pragma once
// When a write to the manifest fails, nobody knows whether its last record reached the disk. RocksDB then
// deletes the file that it was ingesting. If the record did reach the disk, the database can't be opened any
// more. So an ingestion's deletes run after the ingestion, and not at all while the manifest is in doubt. The
// next open either needs the file or removes it.

#include <rocksdb/file_system.h>

#include <memory>
#include <string>
#include <vector>

namespace seen {

/// While an object of this class lives, deletes by its thread through a FileSystemWithDeferredDeletes are
/// recorded, not executed.
class DeferredDeletes {
 public:
  DeferredDeletes();
  ~DeferredDeletes();
  DeferredDeletes(const DeferredDeletes&) = delete;
  DeferredDeletes& operator=(const DeferredDeletes&) = delete;

  /// Executes the recorded deletes and ignores their errors: RocksDB removes files that it doesn't know when
  /// it opens.
  void Perform(rocksdb::FileSystem& file_system);

 private:
  friend class FileSystemWithDeferredDeletes;
  std::vector<std::string> paths_;
};

class FileSystemWithDeferredDeletes final : public rocksdb::FileSystemWrapper {
 public:
  using FileSystemWrapper::FileSystemWrapper;
  const char* Name() const override { return "seen.FileSystemWithDeferredDeletes"; }
  rocksdb::IOStatus DeleteFile(const std::string& path, const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* debug) override;
};

}  // namespace seen
