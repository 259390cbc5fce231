#pragma once
// What RocksDB tells about itself, brought to the daemon's log.

#include <rocksdb/env.h>
#include <rocksdb/listener.h>

#include <cstdint>
#include <memory>

#include "base/mutex.h"

namespace seen {

/// Remembers an error after which RocksDB takes no more files. A lesser one, such as a compaction that found
/// no space, RocksDB gets over by itself. Thread-safe.
class BackgroundErrors final : public rocksdb::EventListener {
 public:
  explicit BackgroundErrors(int32_t partition) : partition_(partition) {}
  const char* Name() const override { return "seen.BackgroundErrors"; }
  void OnBackgroundError(rocksdb::BackgroundErrorReason reason, rocksdb::Status* error) override;
  void OnErrorRecoveryBegin(rocksdb::BackgroundErrorReason reason, rocksdb::Status error,
                            bool* auto_recovery) override;
  void OnErrorRecoveryEnd(const rocksdb::BackgroundErrorRecoveryInfo& info) override;

  /// OK while files are taken.
  rocksdb::Status Stopped() const;
  void Clear();

 private:
  const int32_t partition_;
  mutable Mutex mutex_;
  rocksdb::Status stopped_ GUARDED_BY(mutex_);
};

/// Compactions let the threads go first that somebody waits for.
std::shared_ptr<rocksdb::EventListener> MakeCompactionYielder();

/// RocksDB's own warnings and errors as lines of ours; no LOG files beside the state.
std::shared_ptr<rocksdb::Logger> MakeRocksLogger(int32_t partition);
/// For `partition` where it is the table of groups that logs.
inline constexpr int32_t kGroupTable = -1;

}  // namespace seen
