#pragma once

#include <cstdint>

namespace seen {

/// A partition's readable offsets: [low, high). -1: not known yet.
struct Watermarks {
  int64_t low = -1;
  int64_t high = -1;
  friend bool operator==(const Watermarks&, const Watermarks&) = default;
};

}  // namespace seen
