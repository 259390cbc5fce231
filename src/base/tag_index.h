#pragma once
// From 32-bit tags to the numbers of things kept elsewhere: an open-addressed index of one word a cell,
// linear probing, at most half full. Tags should be hashes; several numbers may have the same. Not
// thread-safe.

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
  /// The first with this tag that `is(number)`, or kNone.
  template <typename Is>
  uint32_t Find(uint32_t tag, Is is) const {
    return NumberIn(
        cells_.Find(tag, [&](uint64_t cell) { return TagIn(cell) == tag && is(NumberIn(cell)); }));
  }
  /// `number` isn't in it yet.
  void Insert(uint32_t tag, uint32_t number) {
    if ((cells_.size() + 1) * 2 > cells_.cells()) cells_.Grow(TagIn);
    cells_.Insert(tag, CellOf(tag, number));
  }
  /// `number` is in it, under `tag`.
  void Remove(uint32_t tag, uint32_t number) { cells_.Remove(tag, CellOf(tag, number), TagIn); }

 private:
  // Upper half: tag; lower half: number + 1. Of a free cell the number is kNone.
  static uint64_t CellOf(uint32_t tag, uint32_t number) { return uint64_t{tag} << 32 | (number + 1); }
  static uint32_t TagIn(uint64_t cell) { return static_cast<uint32_t>(cell >> 32); }
  static uint32_t NumberIn(uint64_t cell) { return static_cast<uint32_t>(cell) - 1; }

  ProbedCells<uint64_t> cells_{64};
};

}  // namespace seen
