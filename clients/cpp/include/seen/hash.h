#pragma once
// From an id to its fingerprint, and on to the hash that every kind of filter but one goes by.

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

// Put in whole, so that nothing has to be linked and short ids are hashed without a call.
#ifndef XXH_INLINE_ALL
#define XXH_INLINE_ALL
#endif
#include <xxhash.h>

namespace seen::client {

/// Stands for an item id: 32 bits of its hash.
enum class Fingerprint : std::uint32_t {};

template <typename T>
inline constexpr bool kIsInteger = std::is_integral_v<T> && !std::is_same_v<std::remove_cv_t<T>, bool> &&
                                   !std::is_same_v<std::remove_cv_t<T>, char>;

/// `id`: UTF-8, taken as it is.
inline Fingerprint FingerprintOf(std::string_view id) {
  return static_cast<Fingerprint>(XXH64(id.data(), id.size(), 0) >> 32);
}

/// An integer id is its decimal string: 42 and "42" are one id.
template <typename Integer, std::enable_if_t<kIsInteger<Integer>, int> = 0>
Fingerprint FingerprintOf(Integer id) {
  char text[24];
  const auto end = std::to_chars(text, text + sizeof(text), id).ptr;
  return FingerprintOf(std::string_view(text, static_cast<std::size_t>(end - text)));
}

namespace internal {

constexpr std::uint64_t RotateLeft(std::uint64_t x, int bits) { return x << bits | x >> (64 - bits); }

/// XXH64 of the fingerprint's four little-endian bytes, seed 0: the algorithm with its length put in, so that
/// the compiler sees through the loop around it.
constexpr std::uint64_t HashOf(Fingerprint fingerprint) {
  constexpr std::uint64_t kPrime1 = 0x9E3779B185EBCA87U, kPrime2 = 0xC2B2AE3D27D4EB4FU,
                          kPrime3 = 0x165667B19E3779F9U, kPrime5 = 0x27D4EB2F165667C5U;
  std::uint64_t acc = (kPrime5 + 4) ^ (static_cast<std::uint64_t>(fingerprint) * kPrime1);
  acc = RotateLeft(acc, 23) * kPrime2 + kPrime3;
  acc = (acc ^ (acc >> 33)) * kPrime2;
  acc = (acc ^ (acc >> 29)) * kPrime3;
  return acc ^ (acc >> 32);
}

/// The upper half of XXH64 of the fingerprint's four little-endian bytes and then `domain`, likewise.
constexpr Fingerprint InDomain(Fingerprint fingerprint, std::uint8_t domain) {
  constexpr std::uint64_t kPrime1 = 0x9E3779B185EBCA87U, kPrime2 = 0xC2B2AE3D27D4EB4FU,
                          kPrime3 = 0x165667B19E3779F9U, kPrime5 = 0x27D4EB2F165667C5U;
  std::uint64_t acc = (kPrime5 + 5) ^ (static_cast<std::uint64_t>(fingerprint) * kPrime1);
  acc = RotateLeft(acc, 23) * kPrime2 + kPrime3;
  acc = RotateLeft(acc ^ (domain * kPrime5), 11) * kPrime1;
  acc = (acc ^ (acc >> 33)) * kPrime2;
  acc = (acc ^ (acc >> 29)) * kPrime3;
  return static_cast<Fingerprint>((acc ^ (acc >> 32)) >> 32);
}
constexpr std::uint8_t kNearDomain = 1, kGroupDomain = 2;

/// The lower half of XXH64 of all bytes but the four at `at`; they must be there.
inline std::uint32_t ChecksumWithout(std::string_view bytes, std::size_t at) {
  XXH64_state_t state;
  XXH64_reset(&state, 0);
  XXH64_update(&state, bytes.data(), at);
  XXH64_update(&state, bytes.data() + at + 4, bytes.size() - at - 4);
  return static_cast<std::uint32_t>(XXH64_digest(&state));
}

constexpr std::uint32_t High(std::uint64_t hash) { return static_cast<std::uint32_t>(hash >> 32); }
constexpr std::uint32_t Low(std::uint64_t hash) { return static_cast<std::uint32_t>(hash); }

/// Maps `x` evenly onto 0 .. n - 1.
constexpr std::uint32_t Range(std::uint32_t x, std::uint32_t n) {
  return static_cast<std::uint32_t>((static_cast<std::uint64_t>(x) * n) >> 32);
}

}  // namespace internal
}  // namespace seen::client
