#pragma once
// Kind 4: the d-left counting Bloom filter. Source: Bonomi, Mitzenmacher, Panigrahy, Singh, Varghese 2006,
// section 3.

#include <cstdint>
#include <string_view>

#include "seen/hash.h"
#include "seen/internal/bytes.h"
#include "seen/internal/payload.h"
#include "seen/result.h"

namespace seen::client {

/// A view over four tables of buckets of cells. The bytes must outlive it. Any thread.
class DLeft {
 public:
  static Parsed<DLeft> Parse(std::string_view payload) {
    constexpr std::string_view kKind = "d_left";
    if (payload.size() < kFieldsBytes) return internal::TooShort(kKind, payload.size(), kFieldsBytes);
    DLeft filter;
    filter.remainder_bits_ = static_cast<unsigned char>(payload[0]);
    filter.cells_ = static_cast<unsigned char>(payload[1]);
    filter.buckets_ = internal::LoadU32(payload.data() + 2);
    filter.rest_ = payload.substr(kFieldsBytes);
    if (filter.remainder_bits_ < 1 || filter.remainder_bits_ > 32) {
      return internal::OutOfRange(kKind, "r", filter.remainder_bits_, "1 to 32");
    }
    if (filter.cells_ < 1 || filter.cells_ > 16)
      return internal::OutOfRange(kKind, "cells", filter.cells_, "1 to 16");
    if (filter.buckets_ < 1) return internal::OutOfRange(kKind, "buckets", filter.buckets_, "at least 1");
    const std::uint64_t bits =
        4 * std::uint64_t{filter.buckets_} * filter.cells_ * (filter.remainder_bits_ + 2);
    const std::uint64_t bytes = kFieldsBytes + internal::BytesForBits(bits);
    if (payload.size() != bytes) return internal::WrongLength(kKind, payload.size(), bytes);
    return filter;
  }

  bool MightContain(Fingerprint, std::uint64_t hash) const {
    constexpr std::uint32_t kMultipliers[4] = {0x9e3779b1U, 0x85ebca77U, 0xc2b2ae3dU, 0x27d4eb2fU};
    const auto remainder = static_cast<std::uint32_t>(hash & ((std::uint64_t{1} << remainder_bits_) - 1));
    const std::uint32_t first = internal::Range(internal::High(hash), buckets_);
    const unsigned cell_bits = remainder_bits_ + 2;
    for (std::uint64_t table = 0; table < 4; ++table) {
      const std::uint64_t shift = internal::Range((remainder + 1) * kMultipliers[table], buckets_);
      const std::uint64_t sum = first + shift;
      const std::uint64_t bucket = sum < buckets_ ? sum : sum - buckets_;
      std::uint64_t at = (table * buckets_ + bucket) * cells_ * cell_bits;
      for (unsigned i = 0; i < cells_; ++i, at += cell_bits) {
        const std::uint64_t cell = internal::BitsAt(rest_, at, cell_bits);
        if ((cell & 3) != 0 && cell >> 2 == remainder) return true;
      }
    }
    return false;
  }

 private:
  static constexpr std::size_t kFieldsBytes = 6;

  DLeft() = default;

  std::string_view rest_;
  std::uint32_t buckets_ = 1;
  unsigned cells_ = 1;
  unsigned remainder_bits_ = 1;
};

}  // namespace seen::client
