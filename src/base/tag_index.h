#pragma once
// From 32-bit tags to the numbers of things kept elsewhere: an open-addressed index of one word a cell,
// linear probing, at most half full. Tags should be hashes; several numbers may have the same. Not
// thread-safe.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace seen {

class TagIndex {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;
  static constexpr size_t kBytesANumber = 32;  // at worst, right after it has grown

  TagIndex() : cells_(kCellsMin) {}

  size_t size() const { return size_; }

  void Prefetch(uint32_t tag) const { __builtin_prefetch(&cells_[tag & Mask()]); }
  /// The first with this tag that `is(number)`, or kNone.
  template <typename Is>
  uint32_t Find(uint32_t tag, Is is) const {
    for (size_t at = tag & Mask(); cells_[at] != 0; at = (at + 1) & Mask()) {
      if (TagIn(cells_[at]) == tag && is(NumberIn(cells_[at]))) return NumberIn(cells_[at]);
    }
    return kNone;
  }
  /// `number` isn't in it yet.
  void Insert(uint32_t tag, uint32_t number) {
    if (++size_ * 2 > cells_.size()) Grow();
    Put(uint64_t{tag} << 32 | (number + 1));
  }
  /// `number` is in it, under `tag`.
  void Remove(uint32_t tag, uint32_t number) {
    size_t hole = tag & Mask();
    while (static_cast<uint32_t>(cells_[hole]) != number + 1) hole = (hole + 1) & Mask();
    // What was pushed past the hole moves back into it, unless it is at home behind it (Knuth, TAOCP 6.4, R).
    for (size_t at = hole;;) {
      at = (at + 1) & Mask();
      if (cells_[at] == 0) break;
      const size_t home = TagIn(cells_[at]) & Mask();
      if (((at - home) & Mask()) < ((at - hole) & Mask())) continue;
      cells_[hole] = cells_[at];
      hole = at;
    }
    cells_[hole] = 0;
    --size_;
  }

 private:
  static constexpr size_t kCellsMin = 64;

  size_t Mask() const { return cells_.size() - 1; }
  static uint32_t TagIn(uint64_t cell) { return static_cast<uint32_t>(cell >> 32); }
  static uint32_t NumberIn(uint64_t cell) { return static_cast<uint32_t>(cell) - 1; }
  void Put(uint64_t cell) {
    size_t at = TagIn(cell) & Mask();
    while (cells_[at] != 0) at = (at + 1) & Mask();
    cells_[at] = cell;
  }
  void Grow() {
    std::vector<uint64_t> old(cells_.size() * 2);
    old.swap(cells_);
    for (const uint64_t cell : old) {
      if (cell != 0) Put(cell);
    }
  }

  std::vector<uint64_t> cells_;  // upper half: tag; lower half: number + 1; 0: free
  size_t size_ = 0;
};

}  // namespace seen
