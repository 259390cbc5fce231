#pragma once
// The blocks of a quotient filter: their layout, and how to find a run. schemas/snapshot.md, "quotient
// filter"; Pandey, Bender, Johnson, Patro 2017, section 4.

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/probed_cells.h"
#include "filter/bits.h"

namespace seen::quotient {

inline constexpr uint32_t kSlotsInBlock = 64;
inline constexpr uint32_t kFieldBytes = 2 + 8 + 8;  // offset, occupied, run_ends; then the remainders
inline constexpr uint32_t kOffsetMax = 0xffff;
inline constexpr uint32_t kRemainderBitsMax = 32;
inline constexpr uint32_t kSlotsMax = 0xffffffffU - 63;

struct Geometry {
  uint32_t remainder_bits = 1;
  uint32_t quotients = 1;
  uint32_t slots = 1;

  uint64_t BlockBytes() const { return kFieldBytes + 8 * uint64_t{remainder_bits}; }
  uint64_t Blocks() const { return (uint64_t{slots} + kSlotsInBlock - 1) / kSlotsInBlock; }
  /// The bytes of all blocks; the last block has only the remainders of its slots.
  uint64_t Bytes() const {
    const uint64_t in_last = slots - (Blocks() - 1) * kSlotsInBlock;
    return (Blocks() - 1) * BlockBytes() + kFieldBytes + BytesOfBits(in_last * remainder_bits);
  }
  /// Quotient and remainder in one number, in the order of the slots. A filter with twice the quotients and
  /// one bit less of remainder has the same keys.
  uint64_t KeyOf(uint64_t hash) const {
    return uint64_t{UpperHalf(hash)} * quotients >> (32 - remainder_bits);
  }
  friend bool operator==(const Geometry&, const Geometry&) = default;
};

/// The place of the set bit of `word` that has `rank` set bits below it; there must be one. Doesn't use pdep,
/// which takes hundreds of cycles on some processors that have it. Source: Vigna 2008, algorithm 2.
inline uint32_t SelectBit(uint64_t word, uint32_t rank) {
  static constexpr auto kInByte = [] {
    std::array<std::array<uint8_t, 256>, 8> places{};
    for (size_t byte = 0; byte < 256; ++byte) {
      size_t found = 0;
      for (uint8_t bit = 0; bit < 8; ++bit)
        if ((byte >> bit & 1) != 0) places[found++][byte] = bit;
    }
    return places;
  }();
  constexpr uint64_t kOnes = 0x0101010101010101U, kTops = 0x8080808080808080U;
  uint64_t sums = word - (word >> 1 & 0x5555555555555555U);
  sums = (sums & 0x3333333333333333U) + (sums >> 2 & 0x3333333333333333U);
  sums = ((sums + (sums >> 4)) & 0x0f0f0f0f0f0f0f0fU) * kOnes;  // byte i: the set bits of bytes 0 to i
  const uint64_t full = (((rank * kOnes) | kTops) - sums) & kTops;
  const uint32_t place = static_cast<uint32_t>(((full >> 7) * kOnes) >> 56) * 8;
  const uint32_t before = static_cast<uint32_t>((sums << 8) >> place) & 0xff;
  return place + kInByte[rank - before][word >> place & 0xff];
}

/// The lowest `count` bits, 0 to 64.
inline uint64_t LowBits64(uint32_t count) { return count >= 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1; }

/// Reads consistent blocks, of exactly Geometry::Bytes().
class Reader {
 public:
  Reader(const Geometry& geometry, std::string_view bytes)
      : bytes_(bytes), block_bytes_(geometry.BlockBytes()), remainder_bits_(geometry.remainder_bits) {}

  uint32_t Offset(uint64_t block) const { return GetInteger<uint16_t>(bytes_, block * block_bytes_); }
  uint64_t Occupied(uint64_t block) const { return GetInteger<uint64_t>(bytes_, block * block_bytes_ + 2); }
  uint64_t RunEnds(uint64_t block) const { return GetInteger<uint64_t>(bytes_, block * block_bytes_ + 10); }
  bool IsOccupied(uint64_t quotient) const { return (Occupied(quotient / 64) >> (quotient % 64) & 1) != 0; }
  bool IsRunEnd(uint64_t slot) const { return (RunEnds(slot / 64) >> (slot % 64) & 1) != 0; }
  uint64_t RemainderAt(uint64_t slot) const {  // the place of its first bit
    return (slot / 64 * block_bytes_ + kFieldBytes) * 8 + slot % 64 * remainder_bits_;
  }
  uint32_t Remainder(uint64_t slot) const { return GetBits(bytes_, RemainderAt(slot), remainder_bits_); }

  /// The slot behind the last run of the quotients up to `quotient`; at most `quotient` if slot `quotient` is
  /// free.
  __attribute__((always_inline)) uint64_t BehindRuns(uint64_t quotient) const {
    const uint64_t block = quotient / 64;
    auto runs = static_cast<uint32_t>(std::popcount(Occupied(block) & LowBits64(quotient % 64 + 1)));
    uint64_t slot = 64 * block + Offset(block);
    if (runs == 0) return slot;
    uint64_t ends = RunEnds(slot / 64) & ~LowBits64(slot % 64);
    slot -= slot % 64;
    for (auto in = static_cast<uint32_t>(std::popcount(ends)); in < runs;
         in = static_cast<uint32_t>(std::popcount(ends))) {
      runs -= in;
      slot += 64;
      ends = RunEnds(slot / 64);
    }
    return slot + SelectBit(ends, runs - 1) + 1;
  }

  /// Whether the run of `key`'s quotient holds its remainder.
  __attribute__((always_inline)) bool Holds(uint64_t key) const {
    const uint64_t quotient = key >> remainder_bits_;
    if (!IsOccupied(quotient)) return false;
    const auto remainder = static_cast<uint32_t>(key) & LowBits(remainder_bits_);
    uint64_t slot = BehindRuns(quotient) - 1;
    while (Remainder(slot) != remainder) {
      if (slot == quotient || IsRunEnd(slot - 1)) return false;
      --slot;
    }
    return true;
  }

  /// PrefetchQuotient: what Holds reads first. PrefetchRuns guesses from it what Holds reads next: the block
  /// where the runs of the quotient's block begin to end, and the block after that.
  void PrefetchQuotient(uint64_t key) const {
    PrefetchLine(bytes_.data() + (key >> remainder_bits_) / 64 * block_bytes_);
  }
  void PrefetchRuns(uint64_t key) const {
    const uint64_t quotient = key >> remainder_bits_;
    const uint64_t slot = quotient + Offset(quotient / 64);
    const size_t at = slot / 64 * block_bytes_;
    for (size_t line = 0; line < 3; ++line)
      PrefetchLine(bytes_.data() + std::min(at + 64 * line, bytes_.size()));
  }

 private:
  std::string_view bytes_;
  uint64_t block_bytes_;
  uint32_t remainder_bits_;
};

/// Writes `keys`, ascending, into `out`, which has Bytes() zeros. False: they don't fit, because a run
/// exceeds the slots or an offset exceeds its field; then `out` is of no use. O(n). `Key`: u32 or u64.
template <typename Key>
[[nodiscard]] bool Build(const Geometry& geometry, std::span<const Key> keys, std::span<char> out);

/// The smallest filter for `count` items (up to kCountMax) at `rate`, in (0, kRateMax], with as many slots as
/// it probably needs. Any thread, no lock. A repeated call is a look-up, for small counts at the first few
/// rates of the process. Otherwise it takes about a microsecond.
Geometry SizeFor(size_t count, double rate);

/// The fewest pairs of quotient and remainder of which `count` items take at most a share of `rate`.
double ValuesFor(size_t count, double rate);

inline constexpr size_t kCountMax = size_t{1} << 26;

/// Appends the fields as a payload has them, before its blocks.
void AppendFields(const Geometry& geometry, std::string& out);
inline constexpr size_t kFieldsOfPayload = 9;

}  // namespace seen::quotient
