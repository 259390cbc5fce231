#pragma once
// Maps many fingerprints to a number each, for one question. Keeps its memory. Not thread-safe; O(1) an
// operation.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>

#include "base/probed_cells.h"
#include "model/fingerprint.h"

namespace seen {

class FingerprintTable {
 public:
  /// Empties the table and makes room for `count_max` fingerprints.
  void Reset(size_t count_max) {
    constexpr size_t kKeptMax = 1 << 18;  // cells; a larger table is given back
    const size_t cells = std::bit_ceil(std::max<size_t>(count_max * 2, 64));
    if (cells_.cells() > kKeptMax && cells < cells_.cells()) cells_ = ProbedCells<uint64_t>(2);
    cells_.Reset(cells);
  }
  /// The first number that is given to a fingerprint stays.
  void Insert(Fingerprint fingerprint, uint32_t number) {
    if (Find(fingerprint)) return;
    cells_.Insert(fingerprint.value, uint64_t{fingerprint.value} << 32 | (number + 1));
  }
  std::optional<uint32_t> Find(Fingerprint fingerprint) const {
    const uint64_t cell = cells_.Find(fingerprint.value, [fingerprint](uint64_t candidate) {
      return candidate >> 32 == fingerprint.value;
    });
    if (cell == 0) return std::nullopt;
    return static_cast<uint32_t>(cell) - 1;
  }

 private:
  ProbedCells<uint64_t> cells_{2};  // upper half: fingerprint; lower: number + 1. 0: free
};

}  // namespace seen
