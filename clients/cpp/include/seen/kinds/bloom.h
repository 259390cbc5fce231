#pragma once
// Kinds 2 and 3: the standard Bloom filter, of bits or of counters. Source: Bloom 1970; Fan, Cao, Almeida,
// Broder 2000; the multiplier: Steele and Vigna 2022.

#include <cstdint>
#include <string_view>

#include "seen/hash.h"
#include "seen/internal/bytes.h"
#include "seen/internal/payload.h"
#include "seen/result.h"

namespace seen::client {

/// A view over cells of `kCellBits` bits; an item is in `k` of them. The bytes must outlive it. Any thread.
template <unsigned kCellBits>
class BasicBloom {
 public:
  static Parsed<BasicBloom> Parse(std::string_view payload) {
    constexpr std::string_view kKind = kCellBits == 1 ? "bloom" : "counting_bloom";
    if (payload.size() < 2) return internal::TooShort(kKind, payload.size(), 2);
    if (payload.size() > kBytesMax) {
      return internal::OutOfRange(kKind, "payload_bytes", payload.size(), "at most 2^29");
    }
    const auto k = static_cast<unsigned char>(payload[0]);
    if (k < 1 || k > 32) return internal::OutOfRange(kKind, "k", k, "1 to 32");
    return BasicBloom(payload.substr(1), k);
  }

  bool MightContain(Fingerprint, std::uint64_t hash) const {
    for (unsigned i = 0; i < k_; ++i) {
      const std::uint64_t cell = internal::Range(internal::High(hash), cells_);
      const std::uint64_t byte = internal::ByteAt(bytes_, static_cast<std::size_t>(cell * kCellBits / 8));
      if ((byte >> (cell * kCellBits % 8) & kCellMask) == 0) return false;
      hash *= 0xd1342543de82ef95U;
    }
    return true;
  }

 private:
  static constexpr std::size_t kBytesMax = std::size_t{1} << 29;
  static constexpr std::uint64_t kCellMask = (1U << kCellBits) - 1;

  BasicBloom(std::string_view cells, unsigned k)
      : bytes_(cells.data()), cells_(static_cast<std::uint32_t>(cells.size() * 8 / kCellBits)), k_(k) {}

  const char* bytes_;
  std::uint32_t cells_;
  unsigned k_;
};

using Bloom = BasicBloom<1>;
using CountingBloom = BasicBloom<4>;

}  // namespace seen::client
