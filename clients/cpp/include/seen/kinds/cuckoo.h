#pragma once
// Kind 6: the cuckoo filter, for any number of buckets. Source: Fan, Andersen, Kaminsky, Mitzenmacher 2014,
// algorithms 1 to 3.

#include <cstdint>
#include <string_view>

#include "seen/hash.h"
#include "seen/internal/bytes.h"
#include "seen/internal/payload.h"
#include "seen/result.h"

namespace seen::client {
namespace internal {

/// Where an item is to be looked for, and as what.
struct CuckooPlace {
  std::uint32_t entry;
  std::uint32_t buckets[2];
};

inline CuckooPlace CuckooPlaceOf(std::uint64_t hash, unsigned entry_bits, std::uint32_t buckets) {
  const auto values = static_cast<std::uint32_t>((std::uint64_t{1} << entry_bits) - 1);
  const std::uint32_t entry = Range(Low(hash), values) + 1;
  const std::uint32_t first = Range(High(hash), buckets);
  const std::uint64_t sum = std::uint64_t{Range(entry * 0x9e3779b1U, buckets)} + buckets - first;
  return {entry, {first, static_cast<std::uint32_t>(sum < buckets ? sum : sum - buckets)}};
}

}  // namespace internal

/// A view over buckets of four entries. The bytes must outlive it. Any thread.
class Cuckoo {
 public:
  static Parsed<Cuckoo> Parse(std::string_view payload) {
    constexpr std::string_view kKind = "cuckoo";
    if (payload.size() < kFieldsBytes) return internal::TooShort(kKind, payload.size(), kFieldsBytes);
    Cuckoo filter;
    filter.entry_bits_ = static_cast<unsigned char>(payload[0]);
    filter.buckets_ = internal::LoadU32(payload.data() + 1);
    filter.rest_ = payload.substr(kFieldsBytes);
    if (filter.entry_bits_ < 2 || filter.entry_bits_ > 32) {
      return internal::OutOfRange(kKind, "f", filter.entry_bits_, "2 to 32");
    }
    if (filter.buckets_ < 1) return internal::OutOfRange(kKind, "buckets", filter.buckets_, "at least 1");
    const std::uint64_t bits = 4 * std::uint64_t{filter.buckets_} * filter.entry_bits_;
    const std::uint64_t bytes = kFieldsBytes + internal::BytesForBits(bits);
    if (payload.size() != bytes) return internal::WrongLength(kKind, payload.size(), bytes);
    return filter;
  }

  bool MightContain(Fingerprint, std::uint64_t hash) const {
    const internal::CuckooPlace place = internal::CuckooPlaceOf(hash, entry_bits_, buckets_);
    for (const std::uint64_t bucket : place.buckets) {
      for (std::uint64_t i = 0; i < 4; ++i) {
        if (internal::BitsAt(rest_, (4 * bucket + i) * entry_bits_, entry_bits_) == place.entry) return true;
      }
    }
    return false;
  }

 private:
  static constexpr std::size_t kFieldsBytes = 5;

  Cuckoo() = default;

  std::string_view rest_;
  std::uint32_t buckets_ = 1;
  unsigned entry_bits_ = 2;
};

}  // namespace seen::client
