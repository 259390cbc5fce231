#pragma once
// How many partitions users are mapped to. Pure.

#include <cstdint>
#include <map>
#include <string>

#include "base/result.h"

namespace seen {

struct InputPartitions {
  int32_t topic = 0;     // that it has
  int32_t state = 0;     // that users were mapped to, as the state here knows; 0: there is none
  bool rebuild = false;  // users map to the topic as it is
};

/// The count by which users map to partitions: the input topic's, unless that topic gained partitions since.
/// Then the old count goes on mapping the users, whose history stands in the old partitions: the state knows
/// it, or the snapshot topics that were made by it. `snapshots`: partition counts of those that exist.
/// kRefused, with the remedy: a snapshot topic hasn't as many partitions as users are mapped to. Each needs
/// exactly one writer a partition, and its keys are mapped as the users are.
Result<int32_t> UserPartitions(const std::string& name, const InputPartitions& input,
                               const std::map<std::string, int32_t>& snapshots);

}  // namespace seen
