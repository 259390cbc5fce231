#pragma once
// Maps 32-bit tags to numbers of objects that are kept elsewhere. An open-addressed index with linear
// probing, one word per cell, at most half full. Tags should be hashes. Several numbers may have the same
// tag. Not thread-safe.

#include <cstddef>
#include <cstdint>

#include "base/probed_cells.h"

namespace seen {

class TagIndex {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;
  static constexpr size_t kBytesANumber = 32;  // at worst, right after it has grown

  size_t size() const { return cells_.size(); }

  void Prefetch(uint32_t tag) const { cells_.Prefetch(tag); }
  /// The first number with this tag for which `is(number)` holds, or kNone.
  template <typename Is>
  uint32_t Find(uint32_t tag, Is is) const {
    return NumberIn(
        cells_.Find(tag, [&](uint64_t cell) { return TagIn(cell) == tag && is(NumberIn(cell)); }));
  }
  /// `number` must not be in the index yet.
  void Insert(uint32_t tag, uint32_t number) {
    if ((cells_.size() + 1) * 2 > cells_.cells()) cells_.Grow(TagIn);
    cells_.Insert(tag, CellOf(tag, number));
  }
  /// `number` must be in the index, under `tag`.
  void Remove(uint32_t tag, uint32_t number) { cells_.Remove(tag, CellOf(tag, number), TagIn); }

 private:
  // Upper half: tag; lower half: number + 1. A free cell reads as number kNone.
  static uint64_t CellOf(uint32_t tag, uint32_t number) { return uint64_t{tag} << 32 | (number + 1); }
  static uint32_t TagIn(uint64_t cell) { return static_cast<uint32_t>(cell >> 32); }
  static uint32_t NumberIn(uint64_t cell) { return static_cast<uint32_t>(cell) - 1; }

  ProbedCells<uint64_t> cells_{64};
};

}  // namespace seen
