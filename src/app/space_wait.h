#pragma once
// At the daemon's start, waits until the store's disk has space.

#include "app/status_board.h"
#include "app/stop_signal.h"
#include "base/result.h"
#include "flow/reporter.h"

namespace seen {

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
