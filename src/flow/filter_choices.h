#pragma once
// What the configuration chooses for a filter, by name.

#include <cstdint>

namespace seen {

enum class WindowBy : uint8_t {
  kExposedAt,
  kItemCreatedAt,  // recall takes young items only: an old one needn't be remembered
};

/// What becomes of a candidate that is like a seen item.
enum class Similar : uint8_t {
  kOff,
  kDemote,  // it comes last
  kDrop,
};

}  // namespace seen
