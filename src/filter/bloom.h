#pragma once
// A standard Bloom filter over fingerprints: each sets k bits anywhere in the filter. With independent bits
// no filter takes fewer. A look-up costs k cache lines. Source: Bloom 1970.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "filter/snapshot_format.h"
#include "model/fingerprint.h"

namespace seen {

/// Points into a payload of kind 2. Any thread. A look-up takes about a nanosecond per probe in cache; most
/// misses take four probes.
class BloomView {
 public:
  /// kMalformed: too short or too long, or k is out of range.
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
  /// Appends a payload of `fingerprints` (up to 97 million), unique, in any order. Takes the fewest bytes
  /// that keep the rate, over all k.
  static void Render(std::span<const Fingerprint> fingerprints, double rate, std::string& out);
  /// Adds `fingerprints` to `payload`, which BloomView::Parse accepts. More items than it is sized for raise
  /// its rate.
  static void Insert(std::span<const Fingerprint> fingerprints, std::span<char> payload);
};

}  // namespace seen
