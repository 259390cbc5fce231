#pragma once
// The hashes of this room. They are stored, and compared between machines: never change them.

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstdint>
#include <string_view>

namespace seen {

/// XXH3-64 of a word, or of an n-gram's characters.
inline uint64_t TokenHash(std::string_view token) { return XXH3_64bits(token.data(), token.size()); }

/// The finaliser of SplitMix64 (Steele, Lea, Flood 2014): a bijection that mixes.
constexpr uint64_t Mixed(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

}  // namespace seen
