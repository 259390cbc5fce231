#pragma once
// The places that an item of a d-left filter may have: schemas/snapshot.md, "d-left counting Bloom filter".

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "filter/bits.h"
#include "filter/fingerprint_hash.h"

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
