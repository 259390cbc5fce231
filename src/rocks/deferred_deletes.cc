#include "rocks/deferred_deletes.h"

#include "base/result.h"

namespace seen {
namespace {
thread_local DeferredDeletes* this_threads = nullptr;
}

DeferredDeletes::DeferredDeletes() {
  Check(this_threads == nullptr, "deletes are deferred once");
  this_threads = this;
}

DeferredDeletes::~DeferredDeletes() { this_threads = nullptr; }

void DeferredDeletes::Perform(rocksdb::FileSystem& file_system) {
  this_threads = nullptr;
  for (const std::string& path : paths_) {
    file_system.DeleteFile(path, rocksdb::IOOptions(), nullptr).PermitUncheckedError();
  }
  paths_.clear();
}

rocksdb::IOStatus FileSystemWithDeferredDeletes::DeleteFile(const std::string& path,
                                                            const rocksdb::IOOptions& options,
                                                            rocksdb::IODebugContext* debug) {
  if (this_threads == nullptr) return target()->DeleteFile(path, options, debug);
  this_threads->paths_.push_back(path);
  return rocksdb::IOStatus::OK();
}

}  // namespace seen
