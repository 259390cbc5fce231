#pragma once
// A Bloom filter with counters of four bits instead of bits, so that a reader could remove items. It takes
// four times the size of a Bloom filter. A counter stops at 15. Source: Fan, Cao, Almeida, Broder 2000,
// section V.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "filter/snapshot_format.h"
#include "model/hashes.h"

namespace seen {

/// Points into a payload of kind 3. Any thread. A look-up takes about a nanosecond per probe in cache; most
/// misses take four probes.
class CountingBloomView {
 public:
  /// kMalformed: too short or too long, or k is out of range.
  static Result<CountingBloomView> Parse(std::string_view payload);
  /// False: certainly not inserted.
  bool MightContain(Fingerprint fingerprint) const;
  /// One answer each: `answers[i]` is 1 if `fingerprints[i]` may be in, else 0. The spans are of one length.
  void MightContainEach(std::span<const Fingerprint> fingerprints, std::span<uint8_t> answers) const;

 private:
  CountingBloomView(uint32_t probes, std::string_view counters) : probes_(probes), counters_(counters) {}
  uint32_t probes_;
  std::string_view counters_;  // two per byte, the even one in the lower half
};

/// Payloads of kind 3.
struct CountingBloomFilter {
  static constexpr bool kSizesExactly = true;
  static size_t PayloadBytes(size_t count, double rate);
  /// Appends a payload of `fingerprints` (up to 24 million), unique, in any order. Takes the fewest bytes
  /// that keep the rate, over all k.
  static void Render(std::span<const Fingerprint> fingerprints, double rate, std::string& out);
  /// Adds `fingerprints` to `payload`, which CountingBloomView::Parse accepts. Probes of one item that fall
  /// on the same counter count once.
  static void Insert(std::span<const Fingerprint> fingerprints, std::span<char> payload);
};

}  // namespace seen
