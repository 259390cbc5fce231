#pragma once
// The ends of a user's items, looked up by fingerprint. Keeps its memory: use it again and again.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/probed_cells.h"
#include "model/answer_limits.h"

namespace seen {

/// Not thread-safe. O(1) an operation.
class EndTable {
 public:
  /// Empties it and makes room for `count_max` fingerprints.
  void Reset(size_t count_max) {
    cells_.Reset(std::bit_ceil(std::max<size_t>(count_max * 2, 2)));
    values_.clear();
  }

  /// If a fingerprint has several ends, the newest second and day count, and the earliest first second.
  void Add(const CountedEnd& end) {
    const uint32_t cell = CellOf(end.fingerprint);
    if (cell == 0) {
      values_.push_back(end);
      return cells_.Insert(end.fingerprint.value, static_cast<uint32_t>(values_.size()));
    }
    CountedEnd& known = values_[cell - 1];
    known.second = std::max(known.second, end.second);
    known.first_second = std::min(known.first_second, end.first_second);
    known.day = std::max(known.day, end.day);
  }

  /// nullptr: there is none.
  const CountedEnd* Find(Fingerprint fingerprint) const {
    const uint32_t cell = CellOf(fingerprint);
    return cell == 0 ? nullptr : &values_[cell - 1];
  }

  /// In the order they were first added.
  std::span<const CountedEnd> values() const { return values_; }

 private:
  uint32_t CellOf(Fingerprint fingerprint) const {
    return cells_.Find(fingerprint.value,
                       [&](uint32_t cell) { return values_[cell - 1].fingerprint == fingerprint; });
  }

  ProbedCells<uint32_t> cells_{2};  // a place in values_ + 1
  std::vector<CountedEnd> values_;
};

}  // namespace seen
