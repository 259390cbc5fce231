#pragma once
// The buckets of a cuckoo filter while it is filled. Each place is one integer. Its low 32 bits are the
// entry, 0 if the place is free.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "filter/cuckoo_places.h"

namespace seen {

/// `Slot` is uint32_t, or uint64_t if more than the entry is kept. One thread.
template <typename Slot>
class CuckooTable {
 public:
  explicit CuckooTable(CuckooShape shape) : shape_(shape), slots_(shape.Places()) {}

  CuckooShape shape() const { return shape_; }
  const std::vector<Slot>& slots() const { return slots_; }
  Slot& operator[](uint64_t place) { return slots_[place]; }
  Slot operator[](uint64_t place) const { return slots_[place]; }
  static uint32_t EntryOf(Slot slot) { return static_cast<uint32_t>(slot); }

 private:
  CuckooShape shape_;
  std::vector<Slot> slots_;
};

}  // namespace seen
