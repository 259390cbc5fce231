#pragma once
// Fills a cuckoo table with a set that is known as a whole, more tightly than by adding items one at a time.
// Source: Khosla 2013, "Balls into Bins Made Faster". Each bucket has a label, which is at most its distance
// to a free place. An item goes to its bucket with the smaller label, and displaces the entry whose other
// bucket has the smallest label. Linear in the items up to the greatest load that is possible, which is 0.98
// for large tables.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/probed_cells.h"
#include "filter/cuckoo.h"
#include "model/hashes.h"

namespace seen {

template <typename Slot>
class CuckooBuild {
 public:
  explicit CuckooBuild(CuckooShape shape)
      : table_(shape), labels_(shape.buckets), label_max_(std::min(shape.buckets, kLabelMax)) {}

  /// False: not all items fit; then the table is of no use.
  [[nodiscard]] bool Insert(uint32_t bucket, Slot slot) {
    for (;;) {
      const uint32_t other = table_.shape().Other(bucket, Table::EntryOf(slot));
      if (Put(bucket, slot) || Put(other, slot)) return true;
      const bool here = labels_[bucket] <= labels_[other];
      const uint32_t target = here ? bucket : other;
      uint32_t label = labels_[here ? other : bucket];  // of the item's other bucket
      uint32_t least = kLabelMax + 1, next = 0;
      uint64_t mover = 0;
      for (uint64_t place = First(target); place < First(target) + kCuckooBucketPlaces; ++place) {
        const uint32_t to = table_.shape().Other(target, Table::EntryOf(table_[place]));
        if (labels_[to] < least) {
          least = labels_[to];
          next = to;
          mover = place;
        }
      }
      label = std::min(label, least) + 1;
      if (label > label_max_) return false;
      labels_[target] = static_cast<uint8_t>(label);
      std::swap(table_[mover], slot);
      bucket = next;
    }
  }
  void Prefetch(uint32_t bucket) const { PrefetchLineToWrite(&table_.slots()[First(bucket)]); }

  /// The table, with all that was inserted.
  CuckooTable<Slot> Take() && { return std::move(table_); }

 private:
  using Table = CuckooTable<Slot>;
  // A table that needs longer ways can hardly be filled at all (measured), and a table of fewer buckets has
  // none. The limit also bounds the work: to about six steps an item if the table can't be filled.
  static constexpr uint32_t kLabelMax = 25;

  static uint64_t First(uint32_t bucket) { return uint64_t{bucket} * kCuckooBucketPlaces; }
  bool Put(uint32_t bucket, Slot slot) {
    for (uint64_t place = First(bucket); place < First(bucket) + kCuckooBucketPlaces; ++place) {
      if (Table::EntryOf(table_[place]) != 0) continue;
      table_[place] = slot;
      return true;
    }
    return false;
  }

  Table table_;
  std::vector<uint8_t> labels_;
  uint32_t label_max_;
};

/// A table of `shape` with `slot_of(entry, index)`, Slot(uint32_t, size_t), of each fingerprint. The same
/// order of fingerprints gives the same table. nullopt: they don't fit.
template <typename Slot, typename SlotOf>
std::optional<CuckooTable<Slot>> BuildCuckooTable(std::span<const Fingerprint> fingerprints,
                                                  CuckooShape shape, SlotOf slot_of) {
  constexpr size_t kAhead = 16;  // cache misses are hidden behind this many other items
  CuckooBuild<Slot> build(shape);
  std::array<std::pair<uint32_t, Slot>, kAhead> ahead;  // with their first bucket
  const size_t count = fingerprints.size();
  for (size_t i = 0; i < count + kAhead; ++i) {
    auto& [first, slot] = ahead[i % kAhead];
    if (i >= kAhead && !build.Insert(first, slot)) return std::nullopt;
    if (i >= count) continue;
    const uint64_t hash = HashOf(fingerprints[i]);
    const uint32_t entry = shape.EntryOf(hash);
    first = shape.FirstOf(hash);
    slot = slot_of(entry, i);
    build.Prefetch(first);
    build.Prefetch(shape.Other(first, entry));
  }
  return std::move(build).Take();
}

}  // namespace seen
