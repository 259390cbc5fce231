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
  friend class BloomFilter;
  BloomView(uint32_t probes, std::string_view bits) : probes_(probes), bits_(bits) {}
  uint32_t probes_;
  std::string_view bits_;
};

/// Takes items as they come; nothing can be removed. More than it is sized for raise its rate. One thread.
class BloomFilter {
 public:
  /// Empty, sized for `count` items (up to 97 million) at `rate` in (0, kRateMax].
  BloomFilter(size_t count, double rate);
  void Insert(Fingerprint fingerprint);
  /// False: certainly not inserted.
  bool MightContain(Fingerprint fingerprint) const {
    return BloomView(probes_, bits_).MightContain(fingerprint);
  }
  /// Holds what either held. kInvalidArgument: `other` has another number of bits or probes; nothing has
  /// changed.
  Status Merge(const BloomFilter& other);
  /// Appends the payload.
  void Serialise(std::string& out) const;

  static constexpr bool kSizesExactly = true;
  static size_t PayloadBytes(size_t count, double rate);
  /// Appends a payload of `fingerprints`, unique, in any order: the fewest bytes that hold the rate over all
  /// k.
  static void Render(std::span<const Fingerprint> fingerprints, double rate, std::string& out);

 private:
  uint32_t probes_;
  std::string bits_;
};

}  // namespace seen
