#pragma once
// Maps users' keys to numbers of entries that are kept elsewhere. Readable while it is written.
//
// Threads: one writer and any number of readers; neither waits for the other. An open-addressed table of
// (tag, number), at most half full. A larger table replaces a full one. The old table is kept until the index
// is destroyed: a reader that still uses it misses only what came after its look-up began.

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/probed_cells.h"
#include "model/hashes.h"

namespace seen {

class UserIndex {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  /// Makes space for `users`, which is a guess.
  explicit UserIndex(uint32_t users) {
    const uint32_t cells = std::bit_ceil(std::min(users, kCellsMax / 4) * 2 + 1);
    Use(std::make_unique<Table>(std::max(cells, kCellsMin)));
  }

  /// Any thread.
  void Prefetch(const UserKey& key) const {
    const Table& table = *current_.load(std::memory_order_acquire);
    PrefetchLine(&table.cells[table.Home(key)]);
  }
  /// Any thread. The first number under the key's tag for which `is(number)` is true, or kNone.
  template <typename Is>
  uint32_t Find(const UserKey& key, Is is) const {
    const Table& table = *current_.load(std::memory_order_acquire);
    for (uint32_t at = table.Home(key);; at = (at + 1) & table.mask) {
      const uint64_t cell = table.cells[at].load(std::memory_order_acquire);
      if (cell == 0) return kNone;
      if (TagIn(cell) == TagOf(key) && is(NumberIn(cell))) return NumberIn(cell);
    }
  }
  /// Writer. `number` must not be in the index yet. `key_of(number)`: the key of a number that is.
  template <typename KeyOf>
  void Insert(const UserKey& key, uint32_t number, KeyOf key_of) {
    if (size_ * 2 >= tables_.back()->mask) Grow(key_of);
    tables_.back()->Put(key, number);
    ++size_;
  }
  /// Writer.
  uint32_t size() const { return size_; }
  uint64_t grown_bytes() const { return grown_bytes_; }  // of all tables but the first
  /// Writer. All numbers, each with its key's tag in the upper half. In no order.
  std::vector<uint64_t> TagsAndNumbers() const {
    std::vector<uint64_t> all;
    all.reserve(size_);
    const Table& table = *tables_.back();
    for (uint32_t at = 0; at <= table.mask; ++at) {
      const uint64_t cell = table.cells[at].load(std::memory_order_relaxed);
      if (cell != 0) all.push_back(cell - 1);
    }
    return all;
  }

 private:
  static constexpr uint32_t kCellsMin = 1024;
  static constexpr uint32_t kCellsMax = 1u << 30;

  // A cell's upper half is the key's tag: the key's first 32 bits. The lower half is number + 1. 0: free.
  static uint32_t TagOf(const UserKey& key) { return static_cast<uint32_t>(key.high >> 32); }
  static uint32_t TagIn(uint64_t cell) { return static_cast<uint32_t>(cell >> 32); }
  static uint32_t NumberIn(uint64_t cell) { return static_cast<uint32_t>(cell) - 1; }

  struct Table {
    explicit Table(uint32_t size) : mask(size - 1), cells(new std::atomic<uint64_t>[size]()) {}
    uint32_t Home(const UserKey& key) const { return static_cast<uint32_t>(key.low) & mask; }
    void Put(const UserKey& key, uint32_t number) {
      uint32_t at = Home(key);
      while (cells[at].load(std::memory_order_relaxed) != 0) at = (at + 1) & mask;
      cells[at].store(uint64_t{TagOf(key)} << 32 | (number + 1), std::memory_order_release);
    }
    const uint32_t mask;
    const std::unique_ptr<std::atomic<uint64_t>[]> cells;
  };

  template <typename KeyOf>
  void Grow(KeyOf key_of) {
    const Table& old = *tables_.back();
    auto grown = std::make_unique<Table>((old.mask + 1) * 2);
    for (uint32_t at = 0; at <= old.mask; ++at) {
      const uint64_t cell = old.cells[at].load(std::memory_order_relaxed);
      if (cell != 0) grown->Put(key_of(NumberIn(cell)), NumberIn(cell));
    }
    grown_bytes_ += uint64_t{grown->mask + 1} * sizeof(uint64_t);
    Use(std::move(grown));
  }
  void Use(std::unique_ptr<Table> table) {
    current_.store(table.get(), std::memory_order_release);
    tables_.push_back(std::move(table));
  }

  std::vector<std::unique_ptr<Table>> tables_;  // writer; the last is current
  std::atomic<const Table*> current_;
  uint32_t size_ = 0;         // writer
  uint64_t grown_bytes_ = 0;  // writer
};

}  // namespace seen
