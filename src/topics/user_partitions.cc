#include "topics/user_partitions.h"

#include <fmt/format.h>

#include <algorithm>

namespace seen {

namespace {

int32_t Mapped(const InputPartitions& input, const std::map<std::string, int32_t>& snapshots) {
  if (input.rebuild) return input.topic;
  if (input.state > 0 && input.state < input.topic) return input.state;
  const bool grew =
      !snapshots.empty() && std::all_of(snapshots.begin(), snapshots.end(), [&](const auto& topic) {
        return topic.second == snapshots.begin()->second && topic.second < input.topic;
      });
  return grew ? snapshots.begin()->second : input.topic;
}

}  // namespace

Result<int32_t> UserPartitions(const std::string& name, const InputPartitions& input,
                               const std::map<std::string, int32_t>& snapshots) {
  const int32_t partitions = Mapped(input, snapshots);
  for (const auto& [topic, count] : snapshots) {
    if (count == partitions) continue;
    return Fail(
        Code::kRefused,
        fmt::format(
            "filters[].snapshot.topic: \"{}\" has {} partitions, but users of topic \"{}\" map to {}: "
            "a snapshot would be in another partition than its reader expects, and old snapshots would "
            "stay. Remedy: name a topic that doesn't exist yet (the daemon creates it with {} partitions), "
            "or delete this topic and republish with 'seenctl publish'",
            topic, count, name, partitions, partitions));
  }
  return partitions;
}

}  // namespace seen
