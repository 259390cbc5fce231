#pragma once
// Choices that the configuration makes for a filter, by name.

#include <cstdint>

namespace seen {

enum class WindowBy : uint8_t {
  kExposedAt,
  kItemCreatedAt,  // recall takes only young items, so old ones may be forgotten
};

/// What happens to a candidate that is similar to a seen item.
enum class Similar : uint8_t {
  kOff,
  kDemote,  // it comes last
  kDrop,
};

}  // namespace seen
