#pragma once
// What the topic that a replay goes into does with what it is sent, looked at before anything is sent.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "kafka/client_settings.h"
#include "model/partitioner.h"

namespace seen {

struct TargetTopic {
  std::string name;
  int32_t partitions = 0;
  // As the topic has them; nullopt: the broker doesn't say, or there is no limit.
  std::optional<int64_t> retention_ms;
  std::optional<int64_t> before_max_ms;  // how far a record's time may be behind the broker's clock
  std::optional<int64_t> after_max_ms;   // and ahead of it
  std::optional<uint64_t> message_bytes_max;
  bool stamps_itself = false;  // message.timestamp.type=LogAppendTime
  std::optional<bool> may_write;
  // Of its last records that have a key: how many stand where the partitioner puts them.
  uint64_t keys_looked_at = 0;
  uint64_t keys_in_place = 0;

  /// Why a record of this time can't be kept: "older_than_retention", "too_old" or "too_far_ahead"; empty: it
  /// can.
  std::string_view WhyNotKept(TimeMs time, TimeMs now) const;
  /// Whether max.message.bytes leaves room for an event of these bytes, with its key and a replay's headers.
  bool HasRoomFor(size_t event_bytes, size_t key_bytes) const;
};

/// kNotFound: no such topic. kUnavailable: brokers away.
Result<TargetTopic> LookAtTarget(const std::string& brokers, const ClientSettings& client,
                                 const std::string& topic, Partitioner partitioner);

/// What is wrong with it for a replay; `by_exposure`: records carry the time of their exposure.
struct TargetProblem {
  std::string what;  // names setting, value and remedy
  bool prevents = false;
};
std::vector<TargetProblem> ProblemsOf(const TargetTopic& target, Partitioner partitioner, bool by_exposure);

}  // namespace seen
