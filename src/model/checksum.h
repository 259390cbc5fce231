#pragma once
// The checksum in the header of a snapshot and of an update.

#include <cstddef>
#include <cstdint>
#include <string_view>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace seen {

/// The lower 32 bits of XXH64, seed 0, over all bytes except for the checksum's own four at `at`.
inline uint32_t ChecksumOf(std::string_view bytes, size_t at) {
  XXH64_state_t state;
  XXH64_reset(&state, 0);
  XXH64_update(&state, bytes.data(), at);
  XXH64_update(&state, bytes.data() + at + 4, bytes.size() - at - 4);
  return static_cast<uint32_t>(XXH64_digest(&state));
}

}  // namespace seen
