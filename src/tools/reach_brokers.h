#pragma once
// Whether brokers answer, and what a topic holds up to its present end.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "flow/log_port.h"
#include "kafka/client_settings.h"
#include "kafka/topic_reader.h"

namespace seen {

/// Call it first, so that nobody waits long to learn that no broker answers. `option` named the brokers.
/// kUnavailable, with the remedy: no broker answers within 2.5 s.
Status ReachBrokers(std::string_view option, const std::string& brokers, const ClientSettings& client);

struct WholeTopic {
  std::string brokers;
  ClientSettings client;
  std::string topic;
  std::optional<TimeMs> from_time = {};          // the first record at or after it; nullopt: the earliest
  std::string task = {};                         // of the progress; empty: shows no progress
  std::map<int32_t, int64_t> from_offsets = {};  // partition -> offset; overrides from_time
};
using UseRecord = std::function<Status(int32_t partition, const Record& record)>;

/// Passes the topic's records to `use`, up to the end at the time of the call. An error of `use` ends the
/// walk. Returns what was read, by partition. kUnavailable: no broker answers, the topic lost records that
/// were to be read, or the run was interrupted. Other errors: as TopicReader::Open.
Result<std::vector<TopicReader::Range>> ReadWholeTopic(const WholeTopic& whole, const UseRecord& use);

/// The same for a compacted topic, or one with short retention: if it loses its start while it is read, the
/// walk begins again, several times. `use` must not mind to see a record twice.
Result<std::vector<TopicReader::Range>> ReadShrinkingTopic(const WholeTopic& whole, const UseRecord& use);

/// Partition -> end offset (exclusive). Errors: as above.
Result<std::map<int32_t, int64_t>> EndsOf(const WholeTopic& whole);

/// Passes what stands at each of these offsets to `is_same`, by partition. Passes over what retention
/// deleted. kRefused: it isn't the same, or the partition ends before it. Other errors: as above.
using IsSameRecord = std::function<bool(int32_t partition, const Record& record)>;
Status CheckSameTopic(const WholeTopic& topic, const std::map<int32_t, int64_t>& offsets,
                      const IsSameRecord& is_same);

}  // namespace seen
