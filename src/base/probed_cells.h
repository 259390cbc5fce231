#pragma once
// Open addressing with linear probing over words: what the indexes in tag_index.h and store/slot_index.h have
// in common. A cell's meaning is its index's; 0: free. Not thread-safe.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/prefetch.h"

namespace seen {

template <typename Word>
class ProbedCells {
 public:
  /// A power of two.
  explicit ProbedCells(size_t cells) : cells_(cells) {}

  /// Empties it; `cells` as above. Memory is used again.
  void Reset(size_t cells) {
    cells_.assign(cells, 0);
    size_ = 0;
  }

  size_t cells() const { return cells_.size(); }
  size_t size() const { return size_; }

  void Prefetch(uint32_t hash) const { PrefetchLine(&cells_[hash & Mask()]); }
  /// The first that may have this hash and `is(cell)`, or 0.
  template <typename Is>
  Word Find(uint32_t hash, Is is) const {
    for (size_t at = hash & Mask(); cells_[at] != 0; at = (at + 1) & Mask()) {
      if (is(cells_[at])) return cells_[at];
    }
    return 0;
  }
  /// There is a free one.
  void Insert(uint32_t hash, Word cell) {
    ++size_;
    Put(hash, cell);
  }
  /// Twice as many. `hash_of(cell)`: of those in it.
  template <typename HashOf>
  void Grow(HashOf hash_of) {
    std::vector<Word> old(cells_.size() * 2);
    old.swap(cells_);
    for (const Word cell : old) {
      if (cell != 0) Put(hash_of(cell), cell);
    }
  }
  /// `cell` is in it, under `hash`.
  template <typename HashOf>
  void Remove(uint32_t hash, Word cell, HashOf hash_of) {
    size_t hole = hash & Mask();
    while (cells_[hole] != cell) hole = (hole + 1) & Mask();
    // What was pushed past the hole moves back into it, unless it is at home behind it (Knuth, TAOCP 6.4, R).
    for (size_t at = hole;;) {
      at = (at + 1) & Mask();
      if (cells_[at] == 0) break;
      const size_t home = hash_of(cells_[at]) & Mask();
      if (((at - home) & Mask()) < ((at - hole) & Mask())) continue;
      cells_[hole] = cells_[at];
      hole = at;
    }
    cells_[hole] = 0;
    --size_;
  }

 private:
  size_t Mask() const { return cells_.size() - 1; }
  void Put(uint32_t hash, Word cell) {
    size_t at = hash & Mask();
    while (cells_[at] != 0) at = (at + 1) & Mask();
    cells_[at] = cell;
  }

  std::vector<Word> cells_;
  size_t size_ = 0;
};

}  // namespace seen
