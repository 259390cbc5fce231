#pragma once
// A quotient filter that inserts and removes items, and grows: kind 5 of schemas/snapshot.md.
//
// Remove refuses an item that was never inserted if no slot has the item's quotient and remainder. The
// refusal fails only at the false-positive rate: if a slot has both, the item looks like an inserted item.
// Then Remove takes the slot of the inserted item, and the filter misses that item. An item inserted n times
// takes n slots and must be removed n times.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"
#include "filter/quotient.h"

namespace seen {

/// One thread.
class MutableQuotient {
 public:
  /// Empty, sized for `count` items (up to 64 million) at `rate` in (0, kRateMax]. With `count` items it is
  /// 95% full. It takes some more items, more slowly, at a higher rate.
  MutableQuotient(size_t count, double rate);
  /// False: the filter is full, and nothing has changed; Grow() makes room. Cost: shifts a cluster of slots,
  /// some hundred slots if the filter is nearly full.
  [[nodiscard]] bool Insert(Fingerprint fingerprint);
  /// False: certainly not inserted.
  bool MightContain(Fingerprint fingerprint) const;
  /// False: certainly never inserted, or removed since; nothing has changed. The comment at the top says
  /// which items Remove can't tell apart.
  [[nodiscard]] bool Remove(Fingerprint fingerprint);
  /// Adds the items of `other`. kInvalidArgument: `other` has another geometry, or the items of both don't
  /// fit; nothing has changed. Remedy: Grow() both. O(slots).
  Status Merge(const MutableQuotient& other);
  /// Makes room for twice the items. For this, each remainder gives up a bit. A single item causes as many
  /// false positives as before, so the rate doubles when twice as many items are in. False: remainders have
  /// one bit, or there would be 2^31 quotients; nothing has changed. O(slots).
  [[nodiscard]] bool Grow();
  /// The number of items. An item counts as often as it was inserted.
  size_t size() const { return size_; }
  /// Appends the payload.
  void Serialise(std::string& out) const;

 private:
  quotient::Reader Reader() const { return {geometry_, blocks_}; }
  std::span<char> Bytes() { return blocks_; }
  void Shift(uint64_t from, uint64_t to, bool up);
  void PutRunEnd(uint64_t slot, bool is_end);
  void FlipOccupied(uint64_t quotient);
  void AddToOffsets(uint64_t quotient, uint64_t slot, int step);

  quotient::Geometry geometry_;
  std::string blocks_;
  size_t size_ = 0;
};

}  // namespace seen
