#pragma once
// A state topic into which a tool writes bases: checked, and created if it is missing.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "base/result.h"
#include "kafka/admin.h"
#include "kafka/state_topic.h"

namespace seen {

struct StateTarget {
  std::map<int32_t, int64_t> ends;  // by partition: the offset after the last record
  size_t record_bytes_max = 0;      // the limit of a base's record
};

/// Waits for the leaders of a topic that it created. kRefused, with the remedy: the topic has another number
/// of partitions, other settings than the daemon's, or a limit too low for records. kUnavailable.
Result<StateTarget> PrepareStateTopic(const Admin& admin, const std::string& topic, int32_t partitions);

/// Options for a producer of bases.
StateTopicOptions BaseTopicOptions(const std::string& brokers, const ClientSettings& client,
                                   const std::string& topic, const std::string& group,
                                   size_t record_bytes_max);

}  // namespace seen
