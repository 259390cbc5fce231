#pragma once
// The limits of both ways of reading an event.

#include <cstddef>
#include <cstdint>

namespace seen {

inline constexpr size_t kItemsMax = 10'000;                          // in one batch event
inline constexpr int64_t kExposedAtEnd = (int64_t{1} << 32) * 1000;  // ms: seconds are kept in 32 bits

}  // namespace seen
