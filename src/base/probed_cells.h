#pragma once
// Open addressing with linear probing over words: the common part of the indexes below. Each index defines
// what its cells mean; 0 is a free cell. Not thread-safe.

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

/// Maps 32-bit tags to numbers of objects that are kept elsewhere: one word per cell, at most half full. Tags
/// should be hashes. Several numbers may have the same tag.
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

/// A dense variant of TagIndex for numbers below 2^24. A cell has four bytes, eight bits of them from the
/// hash. At most three quarters of the cells are full.
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
