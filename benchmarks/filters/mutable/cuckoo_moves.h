#pragma once
// A cuckoo table that takes slots one by one. Its slots move to make room.

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "filter/cuckoo.h"

namespace seen {

/// How many buckets are needed to insert `count` items one by one, and to go on while other items leave.
/// Fewer than one insertion of a hundred million fails.
inline uint32_t RoomyCuckooBuckets(size_t count) {
  return static_cast<uint32_t>(std::ceil(static_cast<double>(count) / (kCuckooBucketPlaces * 0.92))) + 8;
}

/// `Slot`: as for CuckooTable. `IsFree`, bool(Slot), says whether a place is free. One thread.
template <typename Slot>
class CuckooMoves {
 public:
  explicit CuckooMoves(CuckooShape shape) : table_(shape) {}

  const CuckooTable<Slot>& table() const { return table_; }
  CuckooShape shape() const { return table_.shape(); }
  Slot& operator[](uint64_t place) { return table_[place]; }
  Slot operator[](uint64_t place) const { return table_[place]; }

  /// The first of the eight places of (entry, bucket) that `matches`, bool(Slot), accepts. nullopt: none.
  template <typename Matches>
  std::optional<uint64_t> Find(uint32_t bucket, uint32_t entry, Matches matches) const {
    for (const uint32_t b : {bucket, table_.shape().Other(bucket, entry)}) {
      if (const auto place = FindIn(b, matches)) return place;
    }
    return std::nullopt;
  }

  /// Puts `slot` into `bucket` or its other bucket. Other slots make room: they move to their other buckets,
  /// along the shortest way to a free place. A breadth-first search finds this way before any slot moves.
  /// False: the first kSearched buckets have no free place (all buckets, if there are fewer); nothing has
  /// changed.
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
  // A bucket that the search has reached. The item at `place` of the parent's bucket could move here.
  struct Step {
    uint32_t bucket;
    uint16_t parent;  // itself: a start of the search
    uint16_t place;
  };
  // The buckets that the search has reached.
  class Visited {
   public:
    // False: the bucket was already there.
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

  // Moves the items on the way to `free`, the last item first. Returns the place that is then free.
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
