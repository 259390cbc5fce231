#pragma once
// Open addressing with linear probing over words: the common part of the indexes in tag_index.h and
// store/slot_index.h. Each index defines what its cells mean; 0 is a free cell. Not thread-safe.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace seen {

// Fetches a cache line before it is needed.

/// Takes any address, also one that can't be read. If a function contains only __builtin_prefetch, GCC
/// assumes that it has no effect and removes the calls (seen with GCC 12). The empty statement keeps the
/// calls.
inline void PrefetchLine(const void* address) {
  __builtin_prefetch(address);
  asm volatile("");
}

/// As PrefetchLine, for a line that the caller will write.
inline void PrefetchLineToWrite(const void* address) {
  __builtin_prefetch(address, 1);
  asm volatile("");
}

template <typename Word>
class ProbedCells {
 public:
  /// `cells`: a power of two.
  explicit ProbedCells(size_t cells) : cells_(cells) {}

  /// Empties the table. `cells`: a power of two. Uses the same memory again.
  void Reset(size_t cells) {
    cells_.assign(cells, 0);
    size_ = 0;
  }

  size_t cells() const { return cells_.size(); }
  size_t size() const { return size_; }

  void Prefetch(uint32_t hash) const { PrefetchLine(&cells_[hash & Mask()]); }
  /// The first cell on the probe path of `hash` for which `is(cell)` holds, or 0.
  template <typename Is>
  Word Find(uint32_t hash, Is is) const {
    for (size_t at = hash & Mask(); cells_[at] != 0; at = (at + 1) & Mask()) {
      if (is(cells_[at])) return cells_[at];
    }
    return 0;
  }
  /// At least one cell must be free.
  void Insert(uint32_t hash, Word cell) {
    ++size_;
    Put(hash, cell);
  }
  /// Doubles the number of cells. `hash_of(cell)`: the hash of a cell in the table.
  template <typename HashOf>
  void Grow(HashOf hash_of) {
    std::vector<Word> old(cells_.size() * 2);
    old.swap(cells_);
    for (const Word cell : old) {
      if (cell != 0) Put(hash_of(cell), cell);
    }
  }
  /// `cell` must be in the table, under `hash`.
  template <typename HashOf>
  void Remove(uint32_t hash, Word cell, HashOf hash_of) {
    size_t hole = hash & Mask();
    while (cells_[hole] != cell) hole = (hole + 1) & Mask();
    // A cell that was pushed past the hole moves back into the hole, unless its home lies behind the hole
    // (Knuth, TAOCP 6.4, R).
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
