#pragma once
// Asks the brokers until they answer.

#include <algorithm>
#include <chrono>
#include <string>

#include "app/daemon_status.h"
#include "app/stop_signal.h"
#include "base/log.h"

namespace seen {

/// Calls `attempt` until it gives a value, refuses or a stop is asked for.
template <typename Attempt>
auto RetryKafka(Attempt attempt, StopSignal& stop, StatusBoard& status) -> decltype(attempt()) {
  constexpr std::chrono::milliseconds kBackOffMax{2000};
  constexpr int kTriesALine = 15;
  std::chrono::milliseconds back_off{100};
  for (int tries = 0;; ++tries) {
    auto result = attempt();
    if (result || result.error().code == Code::kRefused || result.error().code == Code::kInvalidArgument)
      return result;
    const std::string problem = "waiting for Kafka: " + result.error().message;
    status.SetProblem(problem);
    if (tries % kTriesALine == 0) log::Warning("waiting for Kafka", {{"reason", result.error().message}});
    if (stop.WaitFor(back_off)) return result;
    back_off = std::min(back_off * 2, kBackOffMax);
  }
}

}  // namespace seen
