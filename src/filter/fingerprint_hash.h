#pragma once
// The 64-bit hash of a fingerprint, which all kinds of filters use except the exact set. Byte by byte:
// schemas/snapshot.md, "Hashing" and "Kinds".

#include <bit>
#include <cstdint>

#include "model/hashes.h"

namespace seen {

/// XXH64 of the fingerprint's four little-endian bytes, seed 0. It is the general algorithm with this length
/// put in, so that the compiler can optimise the loop around it. Equal to the library's (tests/unit/filter).
/// Injective: two fingerprints never share a hash.
inline uint64_t HashOf(Fingerprint fingerprint) {
  constexpr uint64_t kPrime1 = 0x9E3779B185EBCA87U, kPrime2 = 0xC2B2AE3D27D4EB4FU,
                     kPrime3 = 0x165667B19E3779F9U, kPrime5 = 0x27D4EB2F165667C5U;
  uint64_t hash = (kPrime5 + 4) ^ (fingerprint.value * kPrime1);
  hash = std::rotl(hash, 23) * kPrime2 + kPrime3;
  hash = (hash ^ (hash >> 33)) * kPrime2;
  hash = (hash ^ (hash >> 29)) * kPrime3;
  return hash ^ (hash >> 32);
}

/// Maps `x` to 0 to n - 1, in order. Source: Lemire 2019, "Fast Random Integer Generation in an Interval".
inline uint32_t Range(uint32_t x, uint32_t n) { return static_cast<uint32_t>((uint64_t{x} * n) >> 32); }

inline uint32_t UpperHalf(uint64_t hash) { return static_cast<uint32_t>(hash >> 32); }
inline uint32_t LowerHalf(uint64_t hash) { return static_cast<uint32_t>(hash); }

}  // namespace seen
