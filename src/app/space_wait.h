#pragma once
// Waits at the daemon's start until there is space on the disk of the store.

#include "app/daemon_status.h"
#include "app/stop_signal.h"
#include "base/result.h"
#include "flow/reporter.h"

namespace seen {

/// The main thread. References outlive this.
class SpaceWait {
 public:
  SpaceWait(StopSignal& stop, StatusBoard& status, Reporter& reporter)
      : stop_(stop), status_(status), reporter_(reporter) {}

  /// Calls `attempt` until it gives something else than kNoSpace, or a stop is asked for. Meanwhile the
  /// daemon isn't ready, and says why. Each attempt in vain is counted; the log has one line at the
  /// beginning, and one at the end.
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
  /// False: a stop is asked for.
  bool Wait(const Error& error);
  void Ended();

  StopSignal& stop_;
  StatusBoard& status_;
  Reporter& reporter_;
  std::optional<std::chrono::steady_clock::time_point> since_;  // of waiting
};

}  // namespace seen
