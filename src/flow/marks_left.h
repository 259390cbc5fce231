#pragma once
// How many marks of the store have a user whom the publisher doesn't follow. Not thread-safe.

#include <array>
#include <cstdint>

#include "flow/store_port.h"

namespace seen {

/// An estimate of how many different users were added. The memory is the same for all numbers: 1 KiB. The
/// standard error is 3%. Source: Flajolet et al., "HyperLogLog: the analysis of a near-optimal cardinality
/// estimation algorithm" (2007), figure 3. The hash has 64 bits, so large numbers need no correction.
class DistinctUsers {
 public:
  void Add(const UserRef& ref);
  double Estimate() const;

 private:
  static constexpr size_t kRegisters = 1024;
  std::array<uint8_t, kRegisters> ranks_{};
};

/// An overload leaves a user to a mark again and again, but the store has one mark of the user. A scan reads
/// the marks in ascending order. It reads those ahead of its place. The next scan reads those behind.
class MarksLeft {
 public:
  /// A checkpoint wrote the user's mark, for the first time or again. `behind`: a scan is under way and has
  /// passed the mark.
  void Add(const UserRef& ref, bool behind) { (behind ? behind_ : ahead_).Add(ref); }
  /// The scan has read so many marks more.
  void Scanned(uint64_t marks) { scanned_ += marks; }
  /// The next scan begins with the first mark.
  void ScanEnded();

  bool None() const { return UpperBound() == 0; }
  /// Exact if no user was added twice. Otherwise too high, by up to 30% of what the scan began with.
  uint64_t UpperBound() const;

 private:
  struct Part {
    uint64_t added = 0;
    DistinctUsers users;

    void Add(const UserRef& ref);
    uint64_t UpperBound() const;
  };
  Part ahead_, behind_;
  uint64_t scanned_ = 0;
};

}  // namespace seen
