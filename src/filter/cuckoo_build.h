#pragma once
// Fills a cuckoo table with a set that is known at once, more tightly than one by one. Source: Khosla 2013,
// "Balls into Bins Made Faster": each bucket has a label, at most its distance to a free place; an item goes
// to the smaller one, and what has to give way goes where that is smallest. Linear in the items up to the
// loads at which it can be done at all, which is 0.98 of large tables.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/prefetch.h"
#include "filter/cuckoo_table.h"
#include "model/fingerprint.h"

namespace seen {

template <typename Slot>
class CuckooBuild {
 public:
  explicit CuckooBuild(CuckooShape shape)
      : table_(shape), labels_(shape.buckets), label_max_(std::min(shape.buckets, kLabelMax)) {}

  /// False: no way was found for all of them; the table is of no use then.
  [[nodiscard]] bool Insert(uint32_t bucket, Slot slot) {
    for (;;) {
      const uint32_t other = table_.shape().Other(bucket, Table::EntryOf(slot));
      if (Put(bucket, slot) || Put(other, slot)) return true;
      const bool here = labels_[bucket] <= labels_[other];
      const uint32_t target = here ? bucket : other;
      uint32_t label = labels_[here ? other : bucket];  // where the item could go itself
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

  /// All that was inserted.
  CuckooTable<Slot> Take() && { return std::move(table_); }

 private:
  using Table = CuckooTable<Slot>;
  // Where longer ways would be needed it can hardly be done at all (measured), and a table of fewer buckets
  // has none. It bounds the work too: to some six steps an item where it can't be done.
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

/// A table of `shape` with `slot_of(entry, index)`, Slot(uint32_t, size_t), of each of `fingerprints`; the
/// same for the same order. Nullopt: they don't fit.
template <typename Slot, typename SlotOf>
std::optional<CuckooTable<Slot>> BuildCuckooTable(std::span<const Fingerprint> fingerprints,
                                                  CuckooShape shape, SlotOf slot_of) {
  constexpr size_t kAhead = 16;  // the misses of the cache are hidden behind so many others
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
