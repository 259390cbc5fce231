#pragma once
// Where writing the manifest fails, nobody knows whether its last record reached the disk. RocksDB then
// deletes the file it was ingesting all the same; if the record did arrive, the database can't be opened any
// more. So what an ingestion deletes is deleted after it, and not at all while the manifest is in doubt:
// opening again either needs the file or removes it.

#include <rocksdb/file_system.h>

#include <memory>
#include <string>
#include <vector>

namespace seen {

/// While it lives, deletes by this thread through a FileSystemWithDeferredDeletes are remembered, not made.
class DeferredDeletes {
 public:
  DeferredDeletes();
  ~DeferredDeletes();
  DeferredDeletes(const DeferredDeletes&) = delete;
  DeferredDeletes& operator=(const DeferredDeletes&) = delete;

  /// Makes them. What fails stays: RocksDB removes what it doesn't know when it opens.
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
