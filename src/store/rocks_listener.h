#pragma once
// What RocksDB tells about itself, brought to the daemon's log.

#include <rocksdb/env.h>
#include <rocksdb/listener.h>

#include <atomic>
#include <cstdint>
#include <memory>

namespace seen {

/// Notes background errors, after which writes are refused until a Resume. Thread-safe.
class BackgroundErrors final : public rocksdb::EventListener {
 public:
  explicit BackgroundErrors(int32_t partition) : partition_(partition) {}
  const char* Name() const override { return "seen.BackgroundErrors"; }
  void OnBackgroundError(rocksdb::BackgroundErrorReason reason, rocksdb::Status* error) override;
  void OnErrorRecoveryEnd(const rocksdb::BackgroundErrorRecoveryInfo& info) override;

  /// An error happened and nothing has recovered from it yet.
  bool Pending() const { return pending_.load(std::memory_order_acquire); }
  void Clear() { pending_.store(false, std::memory_order_release); }

 private:
  const int32_t partition_;
  std::atomic<bool> pending_{false};
};

/// RocksDB's own warnings and errors as lines of ours; no LOG files beside the state.
std::shared_ptr<rocksdb::Logger> MakeRocksLogger(int32_t partition);

}  // namespace seen
