#pragma once
// Kind 7: a cuckoo filter whose entries are numbered in the order of insertion, so that the oldest leave one
// by one and an entry leads to its details.

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "seen/hash.h"
#include "seen/internal/bytes.h"
#include "seen/internal/payload.h"
#include "seen/kinds/cuckoo.h"
#include "seen/result.h"
#include "seen/time.h"

namespace seen::client {

/// What an entry of an indexed cuckoo filter says about its item.
struct EntryDetails {
  std::uint32_t number = 0;  // in the order of insertion, modulo 2^32
  std::optional<Day> day;    // nullopt: older than all days the filter lists
  std::uint32_t rank = 0;  // within its day, by ascending fingerprint, from 0 on; 0 where the day isn't known
};

/// A view. The bytes must outlive it. Any thread.
class IndexedCuckoo {
 public:
  static Parsed<IndexedCuckoo> Parse(std::string_view payload) {
    constexpr std::string_view kKind = "indexed_cuckoo";
    if (payload.size() < kFieldsBytes) return internal::TooShort(kKind, payload.size(), kFieldsBytes);
    IndexedCuckoo filter;
    filter.entry_bits_ = static_cast<unsigned char>(payload[0]);
    filter.number_bits_ = static_cast<unsigned char>(payload[1]);
    filter.buckets_ = internal::LoadU32(payload.data() + 2);
    filter.next_ = internal::LoadU32(payload.data() + 6);
    filter.capacity_ = internal::LoadU32(payload.data() + 10);
    const std::size_t days = internal::LoadU16(payload.data() + 14);
    if (filter.entry_bits_ < 2 || filter.entry_bits_ > 32) {
      return internal::OutOfRange(kKind, "f", filter.entry_bits_, "2 to 32");
    }
    if (filter.number_bits_ < 1 || filter.number_bits_ > 32) {
      return internal::OutOfRange(kKind, "n", filter.number_bits_, "1 to 32");
    }
    if (filter.buckets_ < 1) return internal::OutOfRange(kKind, "buckets", filter.buckets_, "at least 1");
    if (filter.capacity_ > std::uint64_t{1} << filter.number_bits_) {
      return internal::OutOfRange(kKind, "capacity", filter.capacity_, "at most 2^n");
    }
    const std::uint64_t bits =
        4 * std::uint64_t{filter.buckets_} * (filter.entry_bits_ + filter.number_bits_);
    const std::uint64_t bytes = kFieldsBytes + kDayBytes * days + internal::BytesForBits(bits);
    if (payload.size() != bytes) return internal::WrongLength(kKind, payload.size(), bytes);
    filter.days_ = payload.substr(kFieldsBytes, kDayBytes * days);
    filter.rest_ = payload.substr(kFieldsBytes + kDayBytes * days);
    return filter;
  }

  bool MightContain(Fingerprint, std::uint64_t hash) const {
    bool found = false;
    ForEachAge(hash, [&found](std::uint32_t) { return found = true; });
    return found;
  }

  /// Of each entry that answers to the item: one at most is right.
  std::vector<EntryDetails> Details(std::uint64_t hash) const {
    std::vector<EntryDetails> details;
    ForEachAge(hash, [&](std::uint32_t age) {
      details.push_back(DetailsOf(age));
      return false;
    });
    return details;
  }

 private:
  static constexpr std::size_t kFieldsBytes = 16;
  static constexpr std::size_t kDayBytes = 8;

  IndexedCuckoo() = default;

  /// Calls `visit` with the age of each entry that counts, until it returns true.
  template <typename Visit>
  void ForEachAge(std::uint64_t hash, Visit visit) const {
    const internal::CuckooPlace place = internal::CuckooPlaceOf(hash, entry_bits_, buckets_);
    const std::uint64_t numbers = (std::uint64_t{1} << number_bits_) - 1;
    for (int side = 0; side < (place.buckets[0] == place.buckets[1] ? 1 : 2); ++side) {
      for (std::uint64_t i = 0; i < 4; ++i) {
        const std::uint64_t at = (4 * std::uint64_t{place.buckets[side]} + i) * (entry_bits_ + number_bits_);
        if (internal::BitsAt(rest_, at, entry_bits_) != place.entry) continue;
        const std::uint64_t number = internal::BitsAt(rest_, at + entry_bits_, number_bits_);
        const auto age = static_cast<std::uint32_t>((std::uint64_t{next_} - 1 - number) & numbers);
        if (age < capacity_ && visit(age)) return;
      }
    }
  }

  EntryDetails DetailsOf(std::uint32_t age) const {
    EntryDetails details;
    details.number = next_ - 1 - age;
    for (std::size_t at = days_.size(); at > 0; at -= kDayBytes) {
      const char* row = days_.data() + at - kDayBytes;
      const std::uint32_t first_number = internal::LoadU32(row + 4);
      if (next_ - 1 - first_number < age) continue;
      details.day = Day(Days(static_cast<std::int32_t>(internal::LoadU32(row))));
      details.rank = details.number - first_number;
      break;
    }
    return details;
  }

  std::string_view days_;
  std::string_view rest_;
  std::uint32_t buckets_ = 1;
  std::uint32_t next_ = 0;
  std::uint32_t capacity_ = 0;
  unsigned entry_bits_ = 2;
  unsigned number_bits_ = 1;
};

}  // namespace seen::client
