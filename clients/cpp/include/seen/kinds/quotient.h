#pragma once
// Kind 5: the quotient filter by rank and select. Source: Pandey, Bender, Johnson, Patro 2017, section 4;
// Bender et al. 2012.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "seen/hash.h"
#include "seen/internal/bytes.h"
#include "seen/internal/payload.h"
#include "seen/result.h"

namespace seen::client {

/// A view over blocks of 64 slots. The bytes must outlive it. Any thread.
class Quotient {
 public:
  /// O(slots): what leads a look-up about, every bit that marks a run and every offset, is checked.
  static Parsed<Quotient> Parse(std::string_view payload) {
    if (payload.size() < kFieldsBytes) return internal::TooShort(kKind, payload.size(), kFieldsBytes);
    Quotient filter;
    filter.remainder_bits_ = static_cast<unsigned char>(payload[0]);
    filter.quotients_ = internal::LoadU32(payload.data() + 1);
    filter.slots_ = internal::LoadU32(payload.data() + 5);
    filter.rest_ = payload.substr(kFieldsBytes);
    if (filter.remainder_bits_ < 1 || filter.remainder_bits_ > 32) {
      return internal::OutOfRange(kKind, "r", filter.remainder_bits_, "1 to 32");
    }
    if (filter.quotients_ < 1)
      return internal::OutOfRange(kKind, "quotients", filter.quotients_, "at least 1");
    if (filter.slots_ < filter.quotients_ || filter.slots_ > 0xffffffffU - 63) {
      return internal::OutOfRange(kKind, "slots", filter.slots_, "at least quotients, at most 2^32 - 64");
    }
    const std::uint64_t last_slots = filter.slots_ - (filter.Blocks() - 1) * 64;
    const std::uint64_t bytes = kFieldsBytes + (filter.Blocks() - 1) * filter.BlockBytes() + kRemaindersAt +
                                internal::BytesForBits(last_slots * filter.remainder_bits_);
    if (payload.size() != bytes) return internal::WrongLength(kKind, payload.size(), bytes);
    if (auto error = filter.CheckRuns()) return *std::move(error);
    return filter;
  }

  bool MightContain(Fingerprint, std::uint64_t hash) const {
    const std::uint64_t y = std::uint64_t{internal::High(hash)} * quotients_;
    const std::uint64_t quotient = y >> 32;
    const std::uint32_t remainder = internal::Low(y) >> (32 - remainder_bits_);
    const std::uint64_t block = quotient / 64;
    const std::uint64_t occupied = Occupied(block);
    if ((occupied >> (quotient % 64) & 1) == 0) return false;
    const unsigned rank = internal::CountOnes(occupied << (63 - quotient % 64));
    for (std::uint64_t slot = RunEndFrom(64 * block + Offset(block), rank);; --slot) {
      if (Remainder(slot) == remainder) return true;
      if (slot == quotient || IsRunEnd(slot - 1)) return false;
    }
  }

 private:
  static constexpr std::string_view kKind = "quotient";
  static constexpr std::size_t kFieldsBytes = 9;
  static constexpr std::size_t kRemaindersAt = 18;  // in a block, after its offset and two words

  Quotient() = default;

  std::uint64_t Blocks() const { return (std::uint64_t{slots_} + 63) / 64; }
  std::uint64_t BlockBytes() const { return kRemaindersAt + 8 * std::uint64_t{remainder_bits_}; }
  const char* Block(std::uint64_t block) const {
    return rest_.data() + static_cast<std::size_t>(block * BlockBytes());
  }
  std::uint64_t Offset(std::uint64_t block) const { return internal::LoadU16(Block(block)); }
  std::uint64_t Occupied(std::uint64_t block) const { return internal::LoadU64(Block(block) + 2); }
  std::uint64_t RunEnds(std::uint64_t block) const { return internal::LoadU64(Block(block) + 10); }
  bool IsRunEnd(std::uint64_t slot) const { return (RunEnds(slot / 64) >> (slot % 64) & 1) != 0; }
  std::uint32_t Remainder(std::uint64_t slot) const {
    const std::uint64_t at = 8 * (slot / 64 * BlockBytes() + kRemaindersAt) + slot % 64 * remainder_bits_;
    return static_cast<std::uint32_t>(internal::BitsAt(rest_, at, remainder_bits_));
  }

  /// The `rank`-th run end, from 1 on, at or after `slot`. Parse has made sure that there is one.
  std::uint64_t RunEndFrom(std::uint64_t slot, unsigned rank) const {
    std::uint64_t block = slot / 64;
    std::uint64_t ends = RunEnds(block) >> (slot % 64) << (slot % 64);
    for (unsigned here = internal::CountOnes(ends); here < rank; here = internal::CountOnes(ends)) {
      rank -= here;
      ends = RunEnds(++block);
    }
    for (; rank > 1; --rank) ends &= ends - 1;
    return 64 * block + internal::LowestBit(ends);
  }

  /// Goes through the occupied quotients and the run ends side by side: the j-th of these belongs to the j-th
  /// of those.
  std::optional<Error> CheckRuns() const {
    std::uint64_t ends_block = 0;
    std::uint64_t ends = RunEnds(0);
    std::uint64_t taken = 0;  // slots below it belong to runs met so far
    for (std::uint64_t block = 0; block < Blocks(); ++block) {
      if (auto error = CheckStrayBits(block)) return error;
      const std::uint64_t offset = taken > 64 * block ? taken - 64 * block : 0;
      if (Offset(block) != offset) {
        return Bad(block, "offset is " + std::to_string(Offset(block)) + ", by the bits it is " +
                              std::to_string(offset));
      }
      for (std::uint64_t occupied = Occupied(block); occupied != 0; occupied &= occupied - 1) {
        while (ends == 0) {
          if (++ends_block == Blocks()) return Bad(block, "more occupied quotients than run ends");
          ends = RunEnds(ends_block);
        }
        const std::uint64_t end = 64 * ends_block + internal::LowestBit(ends);
        ends &= ends - 1;
        if (end < 64 * block + internal::LowestBit(occupied))
          return Bad(block, "a run ends before its quotient");
        taken = end + 1;
      }
    }
    for (; ends == 0 && ends_block + 1 < Blocks(); ends = RunEnds(ends_block)) ++ends_block;
    if (ends != 0) return Bad(ends_block, "more run ends than occupied quotients");
    return std::nullopt;
  }

  std::optional<Error> CheckStrayBits(std::uint64_t block) const {
    const auto beyond = [block](std::uint64_t word, std::uint64_t limit) {
      if (limit >= 64 * block + 64) return false;
      return limit <= 64 * block ? word != 0 : word >> (limit - 64 * block) != 0;
    };
    if (beyond(Occupied(block), quotients_)) return Bad(block, "an occupied bit at or after quotients");
    if (beyond(RunEnds(block), slots_)) return Bad(block, "a run end at or after slots");
    return std::nullopt;
  }

  static Error Bad(std::uint64_t block, const std::string& what) {
    return internal::BadPayload(kKind, "block " + std::to_string(block) + ": " + what);
  }

  std::string_view rest_;
  std::uint32_t quotients_ = 1;
  std::uint32_t slots_ = 1;
  unsigned remainder_bits_ = 1;
};

}  // namespace seen::client
