#pragma once
// How many partitions users are mapped to. Pure.

#include <cstdint>
#include <map>
#include <string>

#include "base/result.h"

namespace seen {

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

}  // namespace seen
