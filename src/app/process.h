#pragma once
// The daemon as a process: signals, the service manager, and the wait for a disk that is full.

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "app/status_board.h"
#include "base/mutex.h"
#include "base/result.h"
#include "flow/reporter.h"

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

/// Raises the soft limit on open files to the hard one. Returns how many HTTP connections fit: the stores
/// have half of the limit, and the brokers, the admin pages and the rest an eighth. Call it before anything
/// opens files.
size_t RaiseFileLimit();

// Reports the daemon's state to systemd. Uses the protocol of sd_notify(3): one datagram to $NOTIFY_SOCKET,
// without libsystemd.

/// Without a service manager every call does nothing. Never blocks. Any thread.
class ServiceManager {
 public:
  /// Reads $NOTIFY_SOCKET, $WATCHDOG_USEC and $WATCHDOG_PID.
  ServiceManager();

  bool present() const { return !socket_.empty(); }
  void Ready() const { (void)Send("READY=1"); }
  void Stopping() const { (void)Send("STOPPING=1"); }
  /// One line for `systemctl status`; line breaks become spaces.
  void Status(std::string_view text) const;
  void Alive() const { (void)Send("WATCHDOG=1"); }

  /// How often to call Alive(): half of systemd's limit. nullopt: systemd doesn't watch this process.
  std::optional<std::chrono::microseconds> watchdog_interval() const { return watchdog_interval_; }

 private:
  bool Send(std::string_view message) const;

  std::string socket_;  // a path, or an abstract name after '@'; empty: none
  std::optional<std::chrono::microseconds> watchdog_interval_;
};

// At the daemon's start, waits until the store's disk has space.

/// Main thread only. References outlive this object.
class SpaceWait {
 public:
  SpaceWait(StopSignal& stop, StatusBoard& status, Reporter& reporter)
      : stop_(stop), status_(status), reporter_(reporter) {}

  /// Calls `attempt` until it returns something other than kNoSpace, or until a stop is requested. Meanwhile
  /// the daemon isn't ready, and reports the reason. Counts each failed attempt. The log has one line at the
  /// beginning and one at the end.
  template <typename Attempt>
  auto Until(Attempt attempt) -> decltype(attempt()) {
    for (;;) {
      auto outcome = attempt();
      if (outcome || outcome.error().code != Code::kNoSpace) {
        Ended();
        return outcome;
      }
      if (!Wait(outcome.error())) return outcome;
    }
  }

 private:
  /// False: a stop is requested.
  bool Wait(const Error& error);
  void Ended();

  StopSignal& stop_;
  StatusBoard& status_;
  Reporter& reporter_;
  std::optional<std::chrono::steady_clock::time_point> since_;  // when the wait began
};

}  // namespace seen
