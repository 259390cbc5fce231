#pragma once
// The hash of a fingerprint, and bits in bytes, for all kinds of filters. Byte by byte: schemas/snapshot.md,
// "Hashing" and "Kinds".

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <string_view>

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

// Little-endian integers and strings of bits in a payload: bit `at` is bit at % 8 of byte at / 8.

template <typename T>
T LittleEndian(T value) {
  if constexpr (std::endian::native == std::endian::big) {
    if constexpr (sizeof(T) == 8) return static_cast<T>(__builtin_bswap64(static_cast<uint64_t>(value)));
    if constexpr (sizeof(T) == 4) return static_cast<T>(__builtin_bswap32(static_cast<uint32_t>(value)));
    if constexpr (sizeof(T) == 2) return static_cast<T>(__builtin_bswap16(static_cast<uint16_t>(value)));
  }
  return value;
}

/// `bytes` must hold `at + sizeof(T)` bytes, here and below.
template <typename T>
T GetInteger(std::string_view bytes, size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof(value));
  return LittleEndian(value);
}

template <typename T>
void PutInteger(std::span<char> bytes, size_t at, T value) {
  value = LittleEndian(value);
  std::memcpy(bytes.data() + at, &value, sizeof(value));
}

template <typename T>
void AppendInteger(std::string& bytes, T value) {
  value = LittleEndian(value);
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

/// How many bytes `bits` bits take.
inline uint64_t BytesOfBits(uint64_t bits) { return bits / 8 + (bits % 8 != 0 ? 1 : 0); }

inline uint32_t LowBits(uint32_t width) {  // 0 to 32
  return static_cast<uint32_t>((uint64_t{1} << width) - 1);
}

/// The `width` (0 to 32) bits from bit `at` on, all within `bytes`. Reads no byte beyond `bytes`.
inline uint32_t GetBits(std::string_view bytes, uint64_t at, uint32_t width) {
  const size_t first = at / 8;
  uint64_t word = 0;
  if (first + sizeof(word) <= bytes.size()) {
    word = GetInteger<uint64_t>(bytes, first);
  } else {
    for (size_t i = first; i < bytes.size(); ++i)
      word |= uint64_t{static_cast<uint8_t>(bytes[i])} << (8 * (i - first));
  }
  return static_cast<uint32_t>(word >> (at % 8)) & LowBits(width);
}

/// `value` is below 2^width.
inline void PutBits(std::span<char> bytes, uint64_t at, uint32_t width, uint32_t value) {
  const size_t first = at / 8;
  const uint32_t shift = at % 8;
  const uint64_t mask = uint64_t{LowBits(width)} << shift;
  const uint64_t bits = uint64_t{value} << shift;
  if (first + sizeof(uint64_t) <= bytes.size()) {
    uint64_t word;
    std::memcpy(&word, bytes.data() + first, sizeof(word));
    word = LittleEndian((LittleEndian(word) & ~mask) | bits);
    std::memcpy(bytes.data() + first, &word, sizeof(word));
    return;
  }
  for (size_t i = first; i < bytes.size() && (mask >> (8 * (i - first))) != 0; ++i) {
    const auto byte_mask = static_cast<uint8_t>(mask >> (8 * (i - first)));
    const auto byte_bits = static_cast<uint8_t>(bits >> (8 * (i - first)));
    bytes[i] = static_cast<char>((static_cast<uint8_t>(bytes[i]) & ~byte_mask) | byte_bits);
  }
}

/// Writes fields of up to 32 bits, one after another, into bytes.
/// Writes to `bytes` from its first bit on. All fields must fit.
class FieldWriter {
 public:
  explicit FieldWriter(std::span<char> bytes) : bytes_(bytes) {}
  /// `value` is below 2^width.
  void Put(uint32_t value, uint32_t width) {
    pending_ |= uint64_t{value} << used_;
    used_ += width;
    if (used_ < 32) return;
    PutInteger(bytes_, at_, static_cast<uint32_t>(pending_));
    at_ += 4;
    pending_ >>= 32;
    used_ -= 32;
  }
  /// Fills the rest of the last byte with zeros. Put nothing after it.
  void Finish() {
    for (; used_ > 0; used_ -= used_ < 8 ? used_ : 8) {
      bytes_[at_++] = static_cast<char>(pending_);
      pending_ >>= 8;
    }
  }

 private:
  std::span<char> bytes_;
  size_t at_ = 0;
  uint64_t pending_ = 0;
  uint32_t used_ = 0;  // bits of pending_, below 32
};

}  // namespace seen
