#pragma once
// A Bloom filter with counters of four bits for bits, so that items can be removed. Four times the size of
// the filter it replaces. Source: Fan, Cao, Almeida, Broder 2000, section V.
//
// Removing what was never inserted is refused where one of its counters is 0: always but at the
// false-positive rate. Where all are above 0 it can't be told from an item that is in, and takes the counts
// of others: they may then be missed. An item inserted n times must be removed n times.
//
// A counter stops at 15 and stays there, as what it lost count of can't be known: removals then leave it
// above 0, a few more false positives and never a false negative. Within the size asked for fewer than one
// counter of 10^14 gets there.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "filter/snapshot_format.h"
#include "model/fingerprint.h"

namespace seen {

/// A payload of kind 3. Points into it. Any thread. A look-up takes about a nanosecond a probe
/// in cache, four probes for most misses.
class CountingBloomView {
 public:
  /// kMalformed: too short or too long, or k is none.
  static Result<CountingBloomView> Parse(std::string_view payload);
  /// False: certainly not inserted.
  bool MightContain(Fingerprint fingerprint) const;
  /// One answer each: `answers[i]` is 1 if `fingerprints[i]` may be in, else 0. The spans are of one length.
  void MightContainEach(std::span<const Fingerprint> fingerprints, std::span<uint8_t> answers) const;

 private:
  friend class CountingBloomFilter;
  CountingBloomView(uint32_t probes, std::string_view counters) : probes_(probes), counters_(counters) {}
  uint32_t probes_;
  std::string_view counters_;
};

/// Takes and gives back items. More than it is sized for raise its rate. One thread.
class CountingBloomFilter {
 public:
  /// Empty, sized for `count` items (up to 24 million) at `rate` in (0, kRateMax].
  CountingBloomFilter(size_t count, double rate);
  /// Probes that fall on one counter count once.
  void Insert(Fingerprint fingerprint);
  /// False: certainly not inserted.
  bool MightContain(Fingerprint fingerprint) const {
    return CountingBloomView(probes_, counters_).MightContain(fingerprint);
  }
  /// False: certainly never inserted, or removed since; nothing has changed. What it can't tell is said
  /// above.
  [[nodiscard]] bool Remove(Fingerprint fingerprint);
  /// Holds what both held, counts added up. kInvalidArgument: `other` has another number of counters or
  /// probes; nothing has changed.
  Status Merge(const CountingBloomFilter& other);
  /// Appends the payload.
  void Serialise(std::string& out) const;

  static constexpr bool kSizesExactly = true;
  static size_t PayloadBytes(size_t count, double rate);
  /// Appends a payload of `fingerprints`, unique, in any order: the fewest bytes that hold the rate over all
  /// k.
  static void Render(std::span<const Fingerprint> fingerprints, double rate, std::string& out);

 private:
  uint32_t probes_;
  std::string counters_;  // two a byte, the even one in the lower half
};

}  // namespace seen
