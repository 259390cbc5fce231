#pragma once
// A quotient filter that takes and gives back items, and grows: kind 5 of schemas/snapshot.md.
//
// Removing what was never inserted is refused where no slot has its quotient and remainder: always but at the
// false-positive rate. Where one has, it can't be told from an item that is in, and takes that one's slot:
// that one is then missed. An item inserted n times takes n slots and must be removed n times.

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
  /// Empty, sized for `count` items (up to 64 million) at `rate` in (0, kRateMax]: 95% full when they are in.
  /// It takes some more, more slowly, at a higher rate.
  MutableQuotient(size_t count, double rate);
  /// False: full, nothing has changed; Grow() makes room. Cost: a cluster of slots is shifted, some hundred
  /// when nearly full.
  [[nodiscard]] bool Insert(Fingerprint fingerprint);
  /// False: certainly not inserted.
  bool MightContain(Fingerprint fingerprint) const;
  /// False: certainly never inserted, or removed since; nothing has changed. What it can't tell is said
  /// above.
  [[nodiscard]] bool Remove(Fingerprint fingerprint);
  /// Holds what both held. kInvalidArgument: `other` has another geometry, or they don't fit: Grow() both.
  /// Nothing has changed then. O(slots).
  Status Merge(const MutableQuotient& other);
  /// Makes room for twice the items with a bit of each remainder: an item's chance of a false positive stays
  /// as it is, so the rate doubles when twice as many are in. False: remainders have one bit, or it would
  /// have 2^31 quotients; nothing has changed. O(slots).
  [[nodiscard]] bool Grow();
  /// How many are in, each time it was inserted.
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
