#pragma once
// A dense sort of base/tag_index.h, for numbers below 2^24: four bytes a cell, eight bits of it from the
// hash, at most three quarters full. Not thread-safe.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace seen {

class SlotIndex {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;
  static constexpr uint32_t kNumberMax = (1u << 24) - 2;
  static constexpr size_t kBytesANumber = 11;  // at worst, right after it has grown

  SlotIndex() : cells_(kCellsMin) {}

  size_t size() const { return size_; }

  void Prefetch(uint32_t hash) const { __builtin_prefetch(&cells_[hash & Mask()]); }
  /// The first that may have this hash and `is(number)`, or kNone.
  template <typename Is>
  uint32_t Find(uint32_t hash, Is is) const {
    for (size_t at = hash & Mask(); cells_[at] != 0; at = (at + 1) & Mask()) {
      if (cells_[at] >> 24 == hash >> 24 && is(NumberIn(cells_[at]))) return NumberIn(cells_[at]);
    }
    return kNone;
  }
  /// `number`, at most kNumberMax, isn't in it yet. `hash_of(number)`: of those that are.
  template <typename HashOf>
  void Insert(uint32_t hash, uint32_t number, HashOf hash_of) {
    if (++size_ * 4 > cells_.size() * 3) {
      std::vector<uint32_t> old(cells_.size() * 2);
      old.swap(cells_);
      for (const uint32_t cell : old) {
        if (cell != 0) Put(hash_of(NumberIn(cell)), cell);
      }
    }
    Put(hash, (hash >> 24) << 24 | (number + 1));
  }
  /// `number` is in it, under `hash`.
  template <typename HashOf>
  void Remove(uint32_t hash, uint32_t number, HashOf hash_of) {
    size_t hole = hash & Mask();
    while (NumberIn(cells_[hole]) != number) hole = (hole + 1) & Mask();
    // What was pushed past the hole moves back into it, unless it is at home behind it (Knuth, TAOCP 6.4, R).
    for (size_t at = hole;;) {
      at = (at + 1) & Mask();
      if (cells_[at] == 0) break;
      const size_t home = hash_of(NumberIn(cells_[at])) & Mask();
      if (((at - home) & Mask()) < ((at - hole) & Mask())) continue;
      cells_[hole] = cells_[at];
      hole = at;
    }
    cells_[hole] = 0;
    --size_;
  }

 private:
  static constexpr size_t kCellsMin = 16;

  size_t Mask() const { return cells_.size() - 1; }
  static uint32_t NumberIn(uint32_t cell) { return (cell & 0xff'ffff) - 1; }
  void Put(uint32_t hash, uint32_t cell) {
    size_t at = hash & Mask();
    while (cells_[at] != 0) at = (at + 1) & Mask();
    cells_[at] = cell;
  }

  std::vector<uint32_t> cells_;  // upper 8 bits: the hash's; lower 24: number + 1; 0: free
  size_t size_ = 0;
};

}  // namespace seen
