#pragma once
// The buckets of a cuckoo filter while it is filled: one integer a place, its low 32 bits the entry, 0 if
// free.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "filter/cuckoo_places.h"

namespace seen {

/// `Slot` is uint32_t, or uint64_t where more than the entry is kept. Whether a place is free is asked of
/// `IsFree`, bool(Slot). One thread.
template <typename Slot>
class CuckooTable {
 public:
  explicit CuckooTable(CuckooShape shape) : shape_(shape), slots_(shape.Places()) {}

  CuckooShape shape() const { return shape_; }
  const std::vector<Slot>& slots() const { return slots_; }
  Slot& operator[](uint64_t place) { return slots_[place]; }
  Slot operator[](uint64_t place) const { return slots_[place]; }
  static uint32_t EntryOf(Slot slot) { return static_cast<uint32_t>(slot); }

  /// The first of the eight places of (entry, bucket) that `matches`, bool(Slot); none: nullopt.
  template <typename Matches>
  std::optional<uint64_t> Find(uint32_t bucket, uint32_t entry, Matches matches) const {
    for (const uint32_t b : {bucket, shape_.Other(bucket, entry)}) {
      if (const auto place = FindIn(b, matches)) return place;
    }
    return std::nullopt;
  }

  /// Puts `slot` into `bucket` or its other one. Others make room by going to their other bucket, on the
  /// shortest way to a free place, which is searched breadth first before anything is moved. False: there is
  /// none among the first kSearched buckets met (all of them, if there are fewer); nothing has changed.
  template <typename IsFree>
  bool Insert(uint32_t bucket, Slot slot, IsFree is_free) {
    const uint32_t other = shape_.Other(bucket, EntryOf(slot));
    for (const uint32_t b : {bucket, other}) {
      if (const auto place = FindIn(b, is_free)) {
        slots_[*place] = slot;
        return true;
      }
    }
    return Search({bucket, other}, slot, is_free);
  }

 private:
  static constexpr uint32_t kSearched = 1000;
  // A bucket met on the search: the item at `place` of its parent's bucket could go there.
  struct Step {
    uint32_t bucket;
    uint16_t parent;  // itself: one to begin with
    uint16_t place;
  };
  // Buckets met before.
  class Met {
   public:
    // False: it was there.
    bool Add(uint32_t bucket) {
      size_t at = (bucket * 0x9e3779b1u) >> 21;
      for (; cells_[at] != 0; at = (at + 1) % cells_.size()) {
        if (cells_[at] == uint64_t{bucket} + 1) return false;
      }
      cells_[at] = uint64_t{bucket} + 1;
      return true;
    }

   private:
    std::array<uint64_t, 2048> cells_{};
  };

  template <typename Matches>
  std::optional<uint64_t> FindIn(uint32_t bucket, Matches matches) const {
    const uint64_t first = uint64_t{bucket} * kCuckooBucketPlaces;
    for (uint64_t place = first; place < first + kCuckooBucketPlaces; ++place) {
      if (matches(slots_[place])) return place;
    }
    return std::nullopt;
  }

  template <typename IsFree>
  [[gnu::noinline]] bool Search(std::array<uint32_t, 2> starts, Slot slot, IsFree is_free) {
    Met met;
    std::array<Step, kSearched> steps;
    uint32_t count = 0;
    for (const uint32_t bucket : starts) {
      if (met.Add(bucket)) {
        steps[count] = {bucket, static_cast<uint16_t>(count), 0};
        ++count;
      }
    }
    for (uint32_t at = 0; at < count; ++at) {
      for (uint16_t i = 0; i < kCuckooBucketPlaces; ++i) {
        const Slot mover = slots_[uint64_t{steps[at].bucket} * kCuckooBucketPlaces + i];
        const uint32_t bucket = shape_.Other(steps[at].bucket, EntryOf(mover));
        if (const auto free = FindIn(bucket, is_free)) {
          slots_[Move(steps, at, i, *free)] = slot;
          return true;
        }
        if (count < kSearched && met.Add(bucket)) steps[count++] = {bucket, static_cast<uint16_t>(at), i};
      }
    }
    return false;
  }

  // Moves the items of the way to `free`, the last one first. Returns the place that is free then.
  uint64_t Move(const std::array<Step, kSearched>& steps, uint32_t at, uint16_t place, uint64_t free) {
    for (;;) {
      const uint64_t from = uint64_t{steps[at].bucket} * kCuckooBucketPlaces + place;
      slots_[free] = slots_[from];
      free = from;
      if (steps[at].parent == at) return free;
      place = steps[at].place;
      at = steps[at].parent;
    }
  }

  CuckooShape shape_;
  std::vector<Slot> slots_;
};

}  // namespace seen
