#pragma once
// The target of a replay: what the configuration and the command line say of it, and how its topic will treat
// the records, before anything is sent.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "config/config.h"
#include "kafka/client_settings.h"
#include "model/partitioner.h"
#include "tools/common_options.h"

namespace CLI {
class App;
}

namespace seen {

struct TargetTopic {
  std::string name;
  int32_t partitions = 0;
  // The topic's settings. nullopt: the broker doesn't say, or there is no limit.
  std::optional<int64_t> retention_ms;
  std::optional<int64_t> before_max_ms;  // how far a record's time may lie before the broker's clock
  std::optional<int64_t> after_max_ms;   // how far it may lie after the broker's clock
  std::optional<uint64_t> message_bytes_max;
  bool stamps_itself = false;  // message.timestamp.type=LogAppendTime
  std::optional<bool> may_write;
  // Among its last records with a key: how many are in the partition that the partitioner gives.
  uint64_t keys_looked_at = 0;
  uint64_t keys_in_place = 0;

  /// Why the topic can't keep a record of this time: "older_than_retention", "older_than_the_topic_takes" or
  /// "too_far_ahead". Empty: the topic keeps it.
  std::string_view WhyNotKept(TimeMs time, TimeMs now) const;
  /// Whether an event of this size, with its key and a replay's headers, fits into max.message.bytes.
  bool HasSpaceFor(size_t event_bytes, size_t key_bytes) const;
};

/// kNotFound: no such topic. kUnavailable: no broker answers.
Result<TargetTopic> LookAtTarget(const std::string& brokers, const ClientSettings& client,
                                 const std::string& topic, Partitioner partitioner);

/// A problem of the topic for a replay. `by_exposure`: records carry the time of their exposure.
struct TargetProblem {
  std::string what;  // names the setting, its value and the remedy
  bool prevents = false;
};
std::vector<TargetProblem> ProblemsOf(const TargetTopic& target, Partitioner partitioner, bool by_exposure);

struct ReplayTarget {
  Config config;  // the file's, or the defaults
  std::string brokers;
  ClientSettings client;
  std::string topic;
  Partitioner partitioner = Partitioner::kMurmur2;
};

/// The command line overrides the configuration. An empty `path` gives the defaults. kInvalidArgument: all
/// mistakes of the configuration, or no such file.
Result<ReplayTarget> ReadReplayTarget(const std::string& path, const KafkaOptions& options,
                                      uint64_t event_bytes_max, const CLI::App& app);

}  // namespace seen
