#pragma once
// A cuckoo table that takes slots one by one: what is in moves to make room.

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "filter/cuckoo_table.h"

namespace seen {

/// How many buckets take `count` items one by one, and go on taking while others leave, but for fewer than
/// one of a hundred million times.
inline uint32_t RoomyCuckooBuckets(size_t count) {
  return static_cast<uint32_t>(std::ceil(static_cast<double>(count) / (kCuckooBucketPlaces * 0.92))) + 8;
}

/// `Slot` as of CuckooTable. Whether a place is free is asked of `IsFree`, bool(Slot). One thread.
template <typename Slot>
class CuckooMoves {
 public:
  explicit CuckooMoves(CuckooShape shape) : table_(shape) {}

  const CuckooTable<Slot>& table() const { return table_; }
  CuckooShape shape() const { return table_.shape(); }
  Slot& operator[](uint64_t place) { return table_[place]; }
  Slot operator[](uint64_t place) const { return table_[place]; }

  /// The first of the eight places of (entry, bucket) that `matches`, bool(Slot); none: nullopt.
  template <typename Matches>
  std::optional<uint64_t> Find(uint32_t bucket, uint32_t entry, Matches matches) const {
    for (const uint32_t b : {bucket, table_.shape().Other(bucket, entry)}) {
      if (const auto place = FindIn(b, matches)) return place;
    }
    return std::nullopt;
  }

  /// Puts `slot` into `bucket` or its other one. Others make room by going to their other bucket, on the
  /// shortest way to a free place, which is searched breadth first before anything is moved. False: there is
  /// none among the first kSearched buckets (all of them, if there are fewer); nothing has changed.
  template <typename IsFree>
  bool Insert(uint32_t bucket, Slot slot, IsFree is_free) {
    const uint32_t other = table_.shape().Other(bucket, CuckooTable<Slot>::EntryOf(slot));
    for (const uint32_t b : {bucket, other}) {
      if (const auto place = FindIn(b, is_free)) {
        table_[*place] = slot;
        return true;
      }
    }
    return Search({bucket, other}, slot, is_free);
  }

 private:
  static constexpr uint32_t kSearched = 1000;
  // A bucket that the search has come to: the item at `place` of its parent's bucket could go there.
  struct Step {
    uint32_t bucket;
    uint16_t parent;  // itself: one to begin with
    uint16_t place;
  };
  // Buckets that the search has come to.
  class Visited {
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
      if (matches(table_[place])) return place;
    }
    return std::nullopt;
  }

  template <typename IsFree>
  [[gnu::noinline]] bool Search(std::array<uint32_t, 2> starts, Slot slot, IsFree is_free) {
    Visited visited;
    std::array<Step, kSearched> steps;
    uint32_t count = 0;
    for (const uint32_t bucket : starts) {
      if (visited.Add(bucket)) {
        steps[count] = {bucket, static_cast<uint16_t>(count), 0};
        ++count;
      }
    }
    for (uint32_t at = 0; at < count; ++at) {
      for (uint16_t i = 0; i < kCuckooBucketPlaces; ++i) {
        const Slot mover = table_[uint64_t{steps[at].bucket} * kCuckooBucketPlaces + i];
        const uint32_t bucket = table_.shape().Other(steps[at].bucket, CuckooTable<Slot>::EntryOf(mover));
        if (const auto free = FindIn(bucket, is_free)) {
          table_[Move(steps, at, i, *free)] = slot;
          return true;
        }
        if (count < kSearched && visited.Add(bucket)) steps[count++] = {bucket, static_cast<uint16_t>(at), i};
      }
    }
    return false;
  }

  // Moves the items of the way to `free`, the last one first. Returns the place that is free then.
  uint64_t Move(const std::array<Step, kSearched>& steps, uint32_t at, uint16_t place, uint64_t free) {
    for (;;) {
      const uint64_t from = uint64_t{steps[at].bucket} * kCuckooBucketPlaces + place;
      table_[free] = table_[from];
      free = from;
      if (steps[at].parent == at) return free;
      place = steps[at].place;
      at = steps[at].parent;
    }
  }

  CuckooTable<Slot> table_;
};

}  // namespace seen
