#pragma once
// The header that names who sent a record of the topic of groups. Each record has it. schemas/item_groups.md.

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace seen {

inline constexpr char kDecidedByHeader[] = "decided-by";

/// Names the index of a partition, opened by `instance` at `opened`. No two openings have the same name.
inline std::string DecidedBy(int32_t partition, std::string_view instance, TimeMs opened) {
  return std::to_string(partition) + "/" + std::string(instance) + "/" + std::to_string(opened.value);
}

/// The index's partition of the ordered topic. nullopt: the header has none.
inline std::optional<int32_t> IndexPartitionOf(std::string_view decided_by) {
  int32_t partition = 0;
  const char* const end = decided_by.data() + decided_by.size();
  const auto [read_to, error] = std::from_chars(decided_by.data(), end, partition);
  if (error != std::errc() || read_to == end || *read_to != '/') return std::nullopt;
  return partition;
}

}  // namespace seen
