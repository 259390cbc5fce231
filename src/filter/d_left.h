#pragma once
// A d-left counting Bloom filter over fingerprints: four tables of buckets of cells. A cell has a remainder,
// and the number of times that it was inserted. An item goes to the least loaded of its four buckets; of
// equal ones to the leftmost. The filter takes less than half the size of a counting Bloom filter. Bytes:
// schemas/snapshot.md, "d-left counting Bloom filter". Source: Bonomi, Mitzenmacher, Panigrahy, Singh,
// Varghese 2006, "An Improved Construction for Counting Bloom Filters", section 3.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "filter/bits.h"
#include "filter/snapshot_format.h"
#include "model/hashes.h"

namespace seen::d_left {

inline constexpr uint32_t kTables = 4;
inline constexpr uint32_t kRemainderBitsMax = 32;
inline constexpr uint32_t kCellsMax = 16;
inline constexpr uint32_t kCountMax = 3;  // of one cell
inline constexpr size_t kFieldsOfPayload = 6;
inline constexpr size_t kItemsMax = size_t{1} << 26;

/// The part of an item's hash that a filter keeps. The filter has all of it, as place and remainder.
struct Value {
  uint32_t first = 0;  // the bucket before it is shifted
  uint32_t remainder = 0;
};

struct Geometry {
  uint32_t remainder_bits = 1;
  uint32_t cells = 1;    // of a bucket
  uint32_t buckets = 1;  // of a table

  uint32_t CellBits() const { return remainder_bits + 2; }
  uint64_t Bytes() const { return BytesOfBits(uint64_t{kTables} * buckets * cells * CellBits()); }
  Value ValueOf(uint64_t hash) const {
    return {Range(UpperHalf(hash), buckets), LowerHalf(hash) & LowBits(remainder_bits)};
  }
  /// The number of buckets by which `remainder` shifts an item in `table`.
  uint32_t ShiftOf(uint32_t remainder, uint32_t table) const {
    constexpr std::array<uint32_t, kTables> kMultipliers = {0x9e3779b1U, 0x85ebca77U, 0xc2b2ae3dU,
                                                            0x27d4eb2fU};
    return Range((remainder + 1) * kMultipliers[table], buckets);
  }
  /// The item's bucket in `table`, counted over all tables.
  uint64_t BucketOf(const Value& value, uint32_t table) const {
    const uint64_t bucket = uint64_t{value.first} + ShiftOf(value.remainder, table);
    return uint64_t{table} * buckets + (bucket >= buckets ? bucket - buckets : bucket);
  }
  /// A cell's first bit.
  uint64_t CellAt(uint64_t bucket, uint32_t cell) const { return (bucket * cells + cell) * CellBits(); }
  friend bool operator==(const Geometry&, const Geometry&) = default;
};

/// Writes a cell, its first bit at `at`.
inline void PutCell(const Geometry& geometry, std::span<char> bytes, uint64_t at, uint32_t count,
                    uint32_t remainder) {
  PutBits(bytes, at, 2, count);
  PutBits(bytes, at + 2, geometry.remainder_bits, remainder);
}

/// The smallest filter for `count` items at `rate`, in (0, kRateMax], in which on average at most `overflows`
/// buckets get an item too many. About 10 microseconds.
Geometry SizeFor(size_t count, double rate, double overflows);

/// The fewest buckets that keep `rate` with `remainder_bits`.
uint32_t BucketsAtLeast(size_t count, double rate, uint32_t remainder_bits);

void AppendFields(const Geometry& geometry, std::string& out);

}  // namespace seen::d_left

namespace seen {

// The remainder and one of an item's four places determine the other three. So two items share a cell in all
// tables or in none, and a reader could remove one without removing the other. A count stops at 3.

/// Points into a payload of kind 4. Any thread. A look-up takes four cache lines, and reads all cells there.
class DLeftView {
 public:
  /// kMalformed: a field out of range, or a length other than the fields say.
  static Result<DLeftView> Parse(std::string_view payload);
  /// False: certainly not inserted.
  bool MightContain(Fingerprint fingerprint) const;
  /// One answer each: `answers[i]` is 1 if `fingerprints[i]` may be in, else 0. The spans are of one length.
  void MightContainEach(std::span<const Fingerprint> fingerprints, std::span<uint8_t> answers) const;

 private:
  DLeftView(const d_left::Geometry& geometry, std::string_view cells) : geometry_(geometry), cells_(cells) {}
  d_left::Geometry geometry_;
  std::string_view cells_;
};

/// Payloads of kind 4.
struct DLeftFilter {
  static constexpr bool kSizesExactly = false;  // it depends on how full the fullest bucket gets
  /// The size that Render takes, approximately.
  static size_t PayloadBytes(size_t count, double rate);
  /// Appends a payload of `fingerprints` (up to 64 million), unique, in any order, with the fewest bytes that
  /// were found. Sorts, then O(n).
  static void Render(std::span<const Fingerprint> fingerprints, double rate, std::string& out);
};

}  // namespace seen
