#pragma once
// How many marks of the store have a user whom the publisher doesn't follow. Not thread-safe.

#include <cstdint>

#include "base/hyper_log_log.h"
#include "flow/store_port.h"

namespace seen {

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
    HyperLogLog<10> users;  // a standard error of 3%

    void Add(const UserRef& ref);
    uint64_t UpperBound() const;
  };
  Part ahead_, behind_;
  uint64_t scanned_ = 0;
};

}  // namespace seen
