#pragma once
// Asks the brokers until they answer.

#include <algorithm>
#include <chrono>
#include <functional>
#include <string>

#include "base/back_off.h"
#include "base/log.h"
#include "base/result.h"

namespace seen {

/// How to wait and report while brokers don't answer.
struct BrokerWait {
  std::function<bool(std::chrono::milliseconds)>
      stops_within;                                     // waits this long; true at once if the program stops
  std::function<void(std::string problem)> on_problem;  // empty: the brokers answer
  bool stops() const { return stops_within(std::chrono::milliseconds(0)); }
};

/// Calls `attempt` until it returns a value, kRefused or kInvalidArgument, or until the program stops.
template <typename Attempt>
auto RetryKafka(Attempt attempt, const BrokerWait& wait) -> decltype(attempt()) {
  constexpr int kTriesALine = 15;
  BackOff back_off(std::chrono::milliseconds(100), std::chrono::seconds(2));
  for (int tries = 0;; ++tries) {
    auto result = attempt();
    if (result || result.error().code == Code::kRefused || result.error().code == Code::kInvalidArgument)
      return result;
    wait.on_problem("waiting for Kafka: " + result.error().message);
    if (tries % kTriesALine == 0) log::Warning("waiting for Kafka", {{"reason", result.error().message}});
    if (wait.stops_within(back_off.Next())) return result;
  }
}

}  // namespace seen
