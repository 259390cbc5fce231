#pragma once
// The ends of a user's items, looked up by fingerprint. Keeps its memory: meant to be used again.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "model/answer_limits.h"

namespace seen {

/// Not thread-safe. O(1) an operation.
class EndTable {
 public:
  /// Empties it and makes room for `count_max` fingerprints.
  void Reset(size_t count_max) {
    const size_t cells = std::bit_ceil(std::max<size_t>(count_max * 2, 2));
    cells_.assign(cells, 0);
    mask_ = cells - 1;
    shift_ = 32 - static_cast<uint32_t>(std::countr_zero(cells));
    values_.clear();
  }

  /// Of several ends of one fingerprint the newest second and day count, and the earliest first second.
  void Add(const CountedEnd& end) {
    uint32_t& cell = cells_[CellOf(end.fingerprint)];
    if (cell == 0) {
      values_.push_back(end);
      cell = static_cast<uint32_t>(values_.size());
      return;
    }
    CountedEnd& known = values_[cell - 1];
    known.second = std::max(known.second, end.second);
    known.first_second = std::min(known.first_second, end.first_second);
    known.day = std::max(known.day, end.day);
  }

  /// nullptr: there is none.
  const CountedEnd* Find(Fingerprint fingerprint) const {
    if (values_.empty()) return nullptr;
    const uint32_t cell = cells_[CellOf(fingerprint)];
    return cell == 0 ? nullptr : &values_[cell - 1];
  }

  /// In the order they were first added.
  std::span<const CountedEnd> values() const { return values_; }

 private:
  // Where it is, or where it would be.
  size_t CellOf(Fingerprint fingerprint) const {
    // Multiplied, so that values that share their upper bits don't share a cell.
    size_t at = shift_ == 32 ? 0 : (fingerprint.value * 0x9e3779b1u) >> shift_;
    while (cells_[at] != 0 && values_[cells_[at] - 1].fingerprint != fingerprint) at = (at + 1) & mask_;
    return at;
  }

  std::vector<uint32_t> cells_;  // a place in values_ + 1; 0: free
  std::vector<CountedEnd> values_;
  size_t mask_ = 0;
  uint32_t shift_ = 32;
};

}  // namespace seen
