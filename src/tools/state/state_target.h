#pragma once
// A state topic that a tool writes bases into: looked at, and made where it is missing.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "base/result.h"
#include "kafka/admin.h"
#include "kafka/state_topic.h"

namespace seen {

struct StateTarget {
  std::map<int32_t, int64_t> ends;  // behind the last record of each partition
  size_t record_bytes_max = 0;      // that a record of a base may have
};

/// kRefused, with the remedy: it has another number of partitions, other settings than the daemon's, or takes
/// no record that is long enough. kUnavailable. Waits for the leaders of a topic that it made.
Result<StateTarget> PrepareStateTopic(const Admin& admin, const std::string& topic, int32_t partitions);

/// For a producer of bases.
StateTopicOptions BaseTopicOptions(const std::string& brokers, const ClientSettings& client,
                                   const std::string& topic, const std::string& group,
                                   size_t record_bytes_max);

}  // namespace seen
