#pragma once
// Kinds 8 and 9: binary fuse filters. Source: Graf and Lemire 2022, section 3 and algorithm 1.

#include <cstdint>
#include <string_view>

#include "seen/hash.h"
#include "seen/internal/bytes.h"
#include "seen/internal/payload.h"
#include "seen/result.h"

namespace seen::client {

/// A view over entries of `kBytes` bytes. The bytes must outlive it. Any thread.
template <unsigned kBytes>
class BinaryFuse {
 public:
  static Parsed<BinaryFuse> Parse(std::string_view payload) {
    constexpr std::string_view kKind = kBytes == 1 ? "binary_fuse_8" : "binary_fuse_16";
    if (payload.size() < kFieldsBytes) return internal::TooShort(kKind, payload.size(), kFieldsBytes);
    const auto length_log2 = static_cast<unsigned char>(payload[0]);
    if (length_log2 > 18) return internal::OutOfRange(kKind, "length_log2", length_log2, "0 to 18");
    const std::uint64_t segments = internal::LoadU32(payload.data() + 2);
    const std::uint64_t firsts = segments << length_log2;
    if (firsts > 0xffffffffU) {
      return internal::OutOfRange(kKind, "segments", segments, "below 2^32 over the segment's length");
    }
    const std::uint64_t entries = segments == 0 ? 0 : (segments + 2) << length_log2;
    const std::uint64_t bytes = kFieldsBytes + entries * kBytes;
    if (payload.size() != bytes) return internal::WrongLength(kKind, payload.size(), bytes);
    BinaryFuse filter;
    filter.entries_ = payload.data() + kFieldsBytes;
    filter.firsts_ = static_cast<std::uint32_t>(firsts);
    filter.length_ = std::uint32_t{1} << length_log2;
    filter.seed_ = static_cast<unsigned char>(payload[1]) * std::uint64_t{0x9e3779b97f4a7c15U};
    return filter;
  }

  bool MightContain(Fingerprint, std::uint64_t hash) const {
    if (firsts_ == 0) return false;
    std::uint64_t x = hash + seed_;
    x = (x ^ (x >> 33)) * 0xff51afd7ed558ccdU;
    x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53U;
    x = x ^ (x >> 33);
    const std::uint64_t first = internal::Range(internal::High(x), firsts_);
    const std::uint64_t second = (first + length_) ^ ((x >> 18) & (length_ - 1));
    const std::uint64_t third = (first + 2 * length_) ^ (x & (length_ - 1));
    const std::uint32_t entry = Entry(first) ^ Entry(second) ^ Entry(third);
    constexpr std::uint32_t kMask = kBytes == 1 ? 0xff : 0xffff;
    return entry == (static_cast<std::uint32_t>(x ^ (x >> 32)) & kMask);
  }

 private:
  static_assert(kBytes == 1 || kBytes == 2);
  static constexpr std::size_t kFieldsBytes = 6;

  BinaryFuse() = default;

  std::uint32_t Entry(std::uint64_t i) const {
    const char* p = entries_ + static_cast<std::size_t>(i) * kBytes;
    if constexpr (kBytes == 1) return static_cast<unsigned char>(*p);
    return internal::LoadU16(p);
  }

  const char* entries_ = nullptr;
  std::uint32_t firsts_ = 0;  // places an item's first entry may have; 0: nothing is in
  std::uint64_t length_ = 1;
  std::uint64_t seed_ = 0;
};

using BinaryFuse8 = BinaryFuse<1>;
using BinaryFuse16 = BinaryFuse<2>;

}  // namespace seen::client
