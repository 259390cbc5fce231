#pragma once
// A running daemon's state, over HTTP.

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/durable_file.h"
#include "base/result.h"
#include "serve/operator_ports.h"
#include "tools/ask/daemon_client.h"
#include "tools/state/backup_directory.h"
#include "tools/state/state_report.h"

namespace seen {

/// Waits until the daemon's checkpoints hold everything that its input held at the call. kUnavailable after
/// `timeout`; the message names the partition that is behind.
Status WaitForCheckpoints(DaemonClient& daemon, std::chrono::seconds timeout);

/// A digest of each partition of the daemon, or of `copy`. `copy` nullptr: of the present state. kUnavailable
/// after `timeout`.
Result<StateReport> DigestDaemon(DaemonClient& daemon, TimeMs as_of, const StateCopy* copy,
                                 std::chrono::seconds timeout, bool quiet);

/// A copy that the daemon keeps as long as this object lives. One thread.
class HeldCopy {
 public:
  /// Waits up to `timeout` for another backup to end. kRefused: the copy isn't on this machine, or it lacks a
  /// partition of the daemon.
  static Result<std::unique_ptr<HeldCopy>> Make(DaemonClient& daemon, std::chrono::seconds timeout);
  HeldCopy(const HeldCopy&) = delete;
  HeldCopy& operator=(const HeldCopy&) = delete;
  ~HeldCopy();

  const StateCopy& copy() const { return copy_; }
  const BackupOwner& owner() const { return owner_; }

 private:
  HeldCopy(DaemonClient& daemon, StateCopy copy) : daemon_(daemon), copy_(std::move(copy)) {}

  DaemonClient& daemon_;
  StateCopy copy_;
  BackupOwner owner_;
  std::optional<FileLock> lock_;
};

}  // namespace seen
