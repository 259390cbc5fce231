#pragma once
// Payloads written from schemas/snapshot.md as plainly as possible. They may have what the daemon never
// writes: evicted entries, numbers that wrap, runs in another order, fields at the ends of their ranges.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "model/day.h"
#include "model/hashes.h"

namespace seen::golden {

/// Fills each byte from its least significant bit on.
class BitString {
 public:
  void Append(uint64_t value, uint32_t width) {
    for (uint32_t i = 0; i < width; ++i, ++bits_) {
      if (bits_ % 8 == 0) bytes_ += '\0';
      if ((value >> i & 1) != 0)
        bytes_.back() = static_cast<char>(static_cast<uint8_t>(bytes_.back()) | 1 << (bits_ % 8));
    }
  }
  /// Fills the rest of the last byte with ones.
  void Pad() {
    while (bits_ % 8 != 0) Append(1, 1);
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
  size_t bits_ = 0;
};

enum class Padding { kZeros, kOnes };

/// Kind 4. An item with a count of 0 was removed: its cell keeps the remainder.
struct CountedItem {
  Fingerprint fingerprint;
  uint32_t count;
};
struct DLeftShape {
  uint32_t remainder_bits, cells, buckets;
};
std::string DLeftPayload(const DLeftShape& shape, std::span<const CountedItem> items,
                         Padding padding = Padding::kZeros);

/// Kind 5. The remainders of a run ascend or descend. `ghosts` aren't in: the remainder of each stands in the
/// slot before its quotient's, if that slot belongs to no run.
enum class RunOrder { kAscending, kDescending };
std::string QuotientPayload(uint32_t remainder_bits, uint32_t quotients, std::span<const Fingerprint> items,
                            RunOrder order, Padding padding = Padding::kZeros,
                            std::span<const Fingerprint> ghosts = {});

/// Kind 6. No entry is moved to make room: there must be room (Check).
std::string CuckooPayload(uint32_t entry_bits, uint32_t buckets, std::span<const Fingerprint> items,
                          Padding padding = Padding::kZeros);

/// Kind 7. Room as in kind 6. The number of the last item is `next` - 1. All items keep their places, also
/// those that `capacity` has evicted.
struct IndexedRow {
  Day day;
  uint32_t first_number;
};
struct IndexedShape {
  uint32_t entry_bits, number_bits, buckets, next, capacity;
  std::vector<IndexedRow> rows;
};
std::string IndexedPayload(const IndexedShape& shape, std::span<const Fingerprint> by_number,
                           Padding padding = Padding::kZeros);

/// Kind 10.
struct ChainRow {
  Day day;
  uint32_t first_second, last_second, blocks;
  std::vector<Fingerprint> items;
};
std::string ChainPayload(std::span<const ChainRow> rows);

/// Kind 11. `values` ascend.
std::string FingerprintsPayload(uint32_t k, std::span<const Fingerprint> values);

std::vector<Fingerprint> PrintsOf(std::span<const std::string> ids);

}  // namespace seen::golden
