#pragma once
// Brings RocksDB's own messages to the daemon's log.

#include <rocksdb/env.h>
#include <rocksdb/listener.h>

#include <cstdint>
#include <memory>

#include "base/mutex.h"

namespace seen {

/// Remembers an error after which RocksDB takes no more files. RocksDB recovers by itself from lesser errors,
/// such as a compaction that found no space. Thread-safe.
class BackgroundErrors final : public rocksdb::EventListener {
 public:
  explicit BackgroundErrors(int32_t partition) : partition_(partition) {}
  const char* Name() const override { return "seen.BackgroundErrors"; }
  void OnBackgroundError(rocksdb::BackgroundErrorReason reason, rocksdb::Status* error) override;
  void OnErrorRecoveryBegin(rocksdb::BackgroundErrorReason reason, rocksdb::Status error,
                            bool* auto_recovery) override;
  void OnErrorRecoveryEnd(const rocksdb::BackgroundErrorRecoveryInfo& info) override;

  /// OK while RocksDB takes files.
  rocksdb::Status Stopped() const;
  void Clear();

 private:
  const int32_t partition_;
  mutable Mutex mutex_;
  rocksdb::Status stopped_ GUARDED_BY(mutex_);
};

/// Compactions yield to the threads that somebody waits for.
std::shared_ptr<rocksdb::EventListener> MakeCompactionYielder();

/// Writes RocksDB's warnings and errors to the daemon's log; RocksDB writes no LOG files beside the state.
std::shared_ptr<rocksdb::Logger> MakeRocksLogger(int32_t partition);
/// The value of `partition` for the table of groups.
inline constexpr int32_t kGroupTable = -1;

}  // namespace seen
