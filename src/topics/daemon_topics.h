#pragma once
// Checks the topics that the daemon reads and writes, and creates those that are missing.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/back_off.h"
#include "base/log.h"
#include "base/result.h"
#include "config/config.h"
#include "kafka/admin.h"
#include "kafka/embedded_broker.h"

namespace seen {

/// How to wait and report while brokers don't answer.
struct BrokerWait {
  std::function<bool(std::chrono::milliseconds)>
      stops_within;  // waits this long; true at once if the program stops
  std::function<void(std::string problem, bool brokers_answer)> on_problem;  // empty: there is no problem
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
    const Code code = result.error().code;
    wait.on_problem("waiting for Kafka: " + result.error().message,
                    code == Code::kNotFound || code == Code::kDenied);
    if (tries % kTriesALine == 0) log::Warning("waiting for Kafka", {{"reason", result.error().message}});
    if (wait.stops_within(back_off.Next())) return result;
  }
}

struct InputTopics {
  int32_t partitions = 0;         // of input.topic; 0: the program was asked to stop
  int32_t user_partitions = 0;    // that users map to: fewer if input.topic gained some since
  int32_t source_partitions = 0;  // of input.source_topic, if there is one
  size_t message_bytes_max = 0;   // of input.topic, if there is a source topic
  // The least max.message.bytes of all output topics except the dead-letter topic and the state topic. Then
  // the dead-letter topic's.
  size_t snapshot_bytes_max = 1'000'000;
  size_t dead_letter_bytes_max = 1'000'000;
  size_t state_bytes_max = 1'000'000;    // the state topic's, if there is one
  size_t updates_bytes_max = 1'000'000;  // of the topic of updates, if there is one
  std::string state_problem;             // why the state topic can't be used; empty: it can, or isn't wanted
};

/// What the store's directory knows.
struct KnownState {
  int32_t partitions = 0;  // that users were mapped to; 0: there is no state
  bool rebuild = false;    // state that doesn't fit is dropped: users map to the topic as it is
};

/// Waits, with back-off and log lines, until the brokers answer and the input topic exists. Then creates the
/// topics that are missing. These are the topic that input is re-keyed into, the snapshot topics (compacted),
/// the dead-letter topic, and others that the configuration asks for. Without a state topic the daemon goes
/// on. kRefused: the broker refuses to create another topic, or a snapshot topic has another number of
/// partitions.
Result<InputTopics> WaitForTopics(const Config& config, const Admin& admin, bool embedded_kafka,
                                  KnownState known, const BrokerWait& wait);

/// How many partitions users are mapped to. Pure.
struct InputPartitions {
  int32_t topic = 0;     // that the topic has
  int32_t state = 0;     // that users were mapped to, according to the state here; 0: there is none
  bool rebuild = false;  // users map to the topic as it is
};

/// The number of partitions that users map to. It is the input topic's count, unless that topic gained
/// partitions. Then users keep the old count, because their history is in the old partitions. The state knows
/// the old count, and so do the snapshot topics that were created with it. `snapshots`: the partition counts
/// of the topics that exist. kRefused, with the remedy: a snapshot topic has another number of partitions
/// than users map to. Each of its partitions needs exactly one writer, and its keys are mapped as users are.
Result<int32_t> UserPartitions(const std::string& name, const InputPartitions& input,
                               const std::map<std::string, int32_t>& snapshots);

/// Starts a broker in this process, with the topics that the daemon uses there, and makes `config` use it.
Result<std::unique_ptr<EmbeddedBroker>> StartEmbeddedKafka(Config& config);

}  // namespace seen
