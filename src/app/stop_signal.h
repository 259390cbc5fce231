#pragma once

#include <atomic>
#include <chrono>
#include <csignal>
#include <functional>
#include <thread>

#include "base/mutex.h"

namespace seen {

/// SIGTERM and SIGINT as a condition. The first signal requests a stop, the second ends the process at once.
/// SIGHUP calls `on_hangup`. Create this object before any other thread: threads inherit the blocked signals.
class StopSignal {
 public:
  /// Once a stop is requested, the process ends within `patience`, with the `exit_status` of that moment. No
  /// wait delays the end (librdkafka can wait for its brokers). The next start reads again what isn't in a
  /// checkpoint. `on_hangup` is called for each SIGHUP, on this class's thread.
  StopSignal(std::chrono::milliseconds patience, const std::atomic<int>& exit_status,
             std::function<void()> on_hangup);
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  bool requested() const { return requested_.load(std::memory_order_acquire); }
  /// Requests a stop from inside the daemon.
  void Request();
  /// True as soon as a stop is requested; false after `timeout`.
  bool WaitFor(std::chrono::milliseconds timeout);

 private:
  sigset_t signals_;
  std::atomic<bool> requested_{false};
  std::atomic<bool> done_{false};
  Mutex mutex_;  // for the wait: a request between the check of requested_ and the wait isn't missed
  ConditionVariable changed_;
  std::thread waiter_;
};

}  // namespace seen
