#pragma once

#include <atomic>
#include <chrono>
#include <csignal>
#include <functional>
#include <thread>

#include "base/mutex.h"

namespace seen {

/// SIGTERM and SIGINT as a condition. The first asks for a stop, the second ends the process at once. SIGHUP
/// is handed on. Make it before any other thread: they inherit the blocked signals.
class StopSignal {
 public:
  /// Once a stop is requested the process ends within `patience`, with `exit_status` as it then is, whatever
  /// still waits (librdkafka can wait for its brokers): what isn't in a checkpoint is read again.
  /// `on_hangup`: called for each SIGHUP, on this class's thread.
  StopSignal(std::chrono::milliseconds patience, const std::atomic<int>& exit_status,
             std::function<void()> on_hangup);
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  bool requested() const { return requested_.load(std::memory_order_acquire); }
  /// From inside: the daemon must stop by itself.
  void Request();
  /// True as soon as a stop is requested, false after `timeout`.
  bool WaitFor(std::chrono::milliseconds timeout);

 private:
  sigset_t signals_;
  std::atomic<bool> requested_{false};
  std::atomic<bool> done_{false};
  Mutex mutex_;  // of the wait: a request between the look at requested_ and the wait must not be missed
  ConditionVariable changed_;
  std::thread waiter_;
};

}  // namespace seen
