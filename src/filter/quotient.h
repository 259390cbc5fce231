#pragma once
// A quotient filter over fingerprints. One part of the hash is the place of a run of slots. The run stores
// the rest, in order. A rank-and-select filter: 2.25 bits per slot say where the runs are. Source: Pandey,
// Bender, Johnson, Patro 2017, "A General-Purpose Counting Filter: Making Every Bit Count", section 4; Bender
// et al. 2012.
//
// The rate is at least two in 4.3 billion for each item, because the filter uses only half of the hash.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "filter/quotient_layout.h"
#include "filter/snapshot_format.h"
#include "model/hashes.h"

namespace seen {

/// Points into a payload of kind 5. Any thread. A look-up takes one to three cache lines.
class QuotientView {
 public:
  /// kMalformed: fields or bits that contradict each other. O(payload): about a nanosecond per byte.
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

/// Payloads of kind 5.
struct QuotientFilter {
  static constexpr bool kSizesExactly = false;  // it depends on where the runs end
  /// The size that Render takes, within a few bytes.
  static size_t PayloadBytes(size_t count, double rate);
  /// Appends a payload of `fingerprints` (up to 64 million), unique, in any order, as full as possible.
  /// Sorts, then O(n).
  static void Render(std::span<const Fingerprint> fingerprints, double rate, std::string& out);
};

}  // namespace seen
