#pragma once
// A quotient filter over fingerprints: part of the hash is the place of a run of slots, the rest is stored in
// it, in order. A rank-and-select filter: 2.25 bits a slot say where the runs are. Source: Pandey, Bender,
// Johnson, Patro 2017, "A General-Purpose Counting Filter: Making Every Bit Count", section 4; Bender et al.
// 2012.
//
// It has no rate below two in 4.3 billion for each item: only half of the hash is used.
//
// Removing what was never inserted is refused where no slot has its quotient and remainder: always but at the
// false-positive rate. Where one has, it can't be told from an item that is in, and takes that one's slot:
// that one is then missed. An item inserted n times takes n slots and must be removed n times.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "filter/quotient_layout.h"
#include "filter/snapshot_format.h"
#include "model/fingerprint.h"

namespace seen {

/// A payload of kind 5. Points into it. Any thread. A look-up takes one to three cache lines.
class QuotientView {
 public:
  /// kMalformed: anything that doesn't hold together. O(payload): about a nanosecond for each byte.
  static Result<QuotientView> Parse(std::string_view payload);
  /// False: certainly not inserted.
  bool MightContain(Fingerprint fingerprint) const;
  /// One answer each: `answers[i]` is 1 if `fingerprints[i]` may be in, else 0. The spans are of one length.
  void MightContainEach(std::span<const Fingerprint> fingerprints, std::span<uint8_t> answers) const;

 private:
  QuotientView(const quotient::Geometry& geometry, std::string_view blocks)
      : geometry_(geometry), blocks_(blocks) {}
  quotient::Geometry geometry_;
  std::string_view blocks_;
};

/// Takes and gives back items, and grows. One thread.
class QuotientFilter {
 public:
  /// Empty, sized for `count` items (up to 64 million) at `rate` in (0, kRateMax]: 95% full when they are in.
  /// It takes some more, more slowly, at a higher rate.
  QuotientFilter(size_t count, double rate);
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
  Status Merge(const QuotientFilter& other);
  /// Makes room for twice the items with a bit of each remainder: an item's chance of a false positive stays
  /// as it is, so the rate doubles when twice as many are in. False: remainders have one bit, or it would
  /// have 2^31 quotients; nothing has changed. O(slots).
  [[nodiscard]] bool Grow();
  /// How many are in, each time it was inserted.
  size_t size() const { return size_; }
  /// Appends the payload.
  void Serialise(std::string& out) const;

  static constexpr bool kSizesExactly = false;  // where runs end is up to the items
  /// What Render takes, within a few bytes.
  static size_t PayloadBytes(size_t count, double rate);
  /// Appends a payload of `fingerprints`, unique, in any order: as full as can be. Sorts, then O(n).
  static void Render(std::span<const Fingerprint> fingerprints, double rate, std::string& out);

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
