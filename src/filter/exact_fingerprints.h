#pragma once
// The set itself: sorted fingerprints as Golomb-Rice coded gaps. It is only wrong about two ids with the same
// fingerprint. In exchange, each answer decodes the whole set. About 34 - log2(n) bits an item. Bytes:
// schemas/snapshot.md, "11: fingerprints". Source: Rice and Plaunt 1971 (model/rice.h).

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/hashes.h"
#include "model/rice.h"

namespace seen {

/// Points into a payload. Any thread.
class ExactFingerprintsView {
 public:
  /// kMalformed: anything except exactly such a code, which Parse decodes once to find out. A code has at
  /// most kRiceBytesMax bytes.
  static Result<ExactFingerprintsView> Parse(std::string_view payload);
  /// Whether it is in the set. Each call decodes the whole set, about 2 ns an item. So ask for many at once,
  /// or take Fingerprints() and keep them.
  bool MightContain(Fingerprint fingerprint) const;
  /// `answers[i]` is 1 if `fingerprints[i]` is in, else 0; the spans are of one length. Decodes once.
  void MightContainEach(std::span<const Fingerprint> fingerprints, std::span<uint8_t> answers) const;
  /// All fingerprints of the set, ascending.
  std::vector<Fingerprint> Fingerprints() const;

 private:
  explicit ExactFingerprintsView(const RiceCode& code) : code_(code) {}
  RiceCode code_;
};

/// Payloads of kind 11.
struct ExactFingerprintsFilter {
  static constexpr bool kSizesExactly = false;  // it depends on a set's gaps: PayloadBytes is the mean
  /// For `count` random fingerprints, up to 2^26; `rate` has no effect.
  static size_t PayloadBytes(size_t count, double rate);
  /// Appends a payload of `fingerprints`, unique, in any order, with the parameter that takes the fewest
  /// bytes.
  static void Render(std::span<const Fingerprint> fingerprints, double rate, std::string& out);
};

}  // namespace seen
