#pragma once
// A standard Bloom filter over fingerprints: each sets k bits of the whole. The fewest bits that items can
// take with independent bits, k cache lines a look-up. Source: Bloom 1970.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "filter/snapshot_format.h"
#include "model/fingerprint.h"

namespace seen {

/// A payload of kind 2. Points into it. Any thread. A look-up takes about a nanosecond a probe
/// in cache, four probes for most misses.
class BloomView {
 public:
  /// kMalformed: too short or too long, or k is none.
  static Result<BloomView> Parse(std::string_view payload);
  /// False: certainly not inserted.
  bool MightContain(Fingerprint fingerprint) const;
  /// One answer each: `answers[i]` is 1 if `fingerprints[i]` may be in, else 0. The spans are of one length.
  void MightContainEach(std::span<const Fingerprint> fingerprints, std::span<uint8_t> answers) const;

 private:
  BloomView(uint32_t probes, std::string_view bits) : probes_(probes), bits_(bits) {}
  uint32_t probes_;
  std::string_view bits_;
};

/// Payloads of kind 2.
struct BloomFilter {
  static constexpr bool kSizesExactly = true;  // Render takes PayloadBytes
  static size_t PayloadBytes(size_t count, double rate);
  /// Appends a payload of `fingerprints` (up to 97 million), unique, in any order: the fewest bytes that hold
  /// the rate over all k.
  static void Render(std::span<const Fingerprint> fingerprints, double rate, std::string& out);
  /// Adds `fingerprints` to `payload`, which BloomView::Parse takes. More than it is sized for raise its
  /// rate.
  static void Insert(std::span<const Fingerprint> fingerprints, std::span<char> payload);
};

}  // namespace seen
