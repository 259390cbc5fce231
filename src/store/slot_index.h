#pragma once
// A dense variant of base/tag_index.h for numbers below 2^24. A cell has four bytes, eight bits of them from
// the hash. At most three quarters of the cells are full. Not thread-safe.

#include <cstddef>
#include <cstdint>

#include "base/probed_cells.h"

namespace seen {

class SlotIndex {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;
  static constexpr uint32_t kNumberMax = (1u << 24) - 2;
  static constexpr size_t kBytesANumber = 11;  // at worst, right after it has grown

  size_t size() const { return cells_.size(); }

  void Prefetch(uint32_t hash) const { cells_.Prefetch(hash); }
  /// The first number that may have this hash and for which `is(number)` holds, or kNone.
  template <typename Is>
  uint32_t Find(uint32_t hash, Is is) const {
    return NumberIn(
        cells_.Find(hash, [&](uint32_t cell) { return cell >> 24 == hash >> 24 && is(NumberIn(cell)); }));
  }
  /// `number`, at most kNumberMax, must not be in the index yet. `hash_of(number)`: the hash of a number in
  /// the index.
  template <typename HashOf>
  void Insert(uint32_t hash, uint32_t number, HashOf hash_of) {
    if ((cells_.size() + 1) * 4 > cells_.cells() * 3) cells_.Grow(OfCells(hash_of));
    cells_.Insert(hash, CellOf(hash, number));
  }
  /// `number` must be in the index, under `hash`.
  template <typename HashOf>
  void Remove(uint32_t hash, uint32_t number, HashOf hash_of) {
    cells_.Remove(hash, CellOf(hash, number), OfCells(hash_of));
  }

 private:
  // Upper 8 bits: from the hash; lower 24: number + 1. The number in a free cell is kNone.
  static uint32_t CellOf(uint32_t hash, uint32_t number) { return (hash >> 24) << 24 | (number + 1); }
  static uint32_t NumberIn(uint32_t cell) { return (cell & 0xff'ffff) - 1; }
  template <typename HashOf>
  static auto OfCells(HashOf hash_of) {
    return [hash_of](uint32_t cell) { return hash_of(NumberIn(cell)); };
  }

  ProbedCells<uint32_t> cells_{16};
};

}  // namespace seen
