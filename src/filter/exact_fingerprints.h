#pragma once
// The set itself: sorted fingerprints as Golomb-Rice coded gaps. Nothing but two ids of one fingerprint is
// ever wrong, at the price of decoding all of it to answer. About 34 - log2(n) bits an item.
// Bytes: schemas/snapshot.md, "11: fingerprints". Source: Rice and Plaunt 1971 (model/rice.h).

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/fingerprint.h"
#include "model/rice.h"

namespace seen {

/// Points into a payload. Any thread.
class ExactFingerprintsView {
 public:
  /// kMalformed: anything but exactly such a code; it is decoded once to know. A code's bytes are at most
  /// kRiceBytesMax.
  static Result<ExactFingerprintsView> Parse(std::string_view payload);
  /// Whether it is in. Decodes all of it for each call, some 2 ns an item: ask for many at once, or take
  /// Fingerprints() and keep them.
  bool MightContain(Fingerprint fingerprint) const;
  /// `answers[i]` is 1 if `fingerprints[i]` is in, else 0; the spans are of one length. Decodes once.
  void MightContainEach(std::span<const Fingerprint> fingerprints, std::span<uint8_t> answers) const;
  /// All that are in, ascending.
  std::vector<Fingerprint> Fingerprints() const;

 private:
  explicit ExactFingerprintsView(const RiceCode& code) : code_(code) {}
  RiceCode code_;
};

/// Payloads of kind 11.
struct ExactFingerprintsFilter {
  static constexpr bool kSizesExactly = false;  // the gaps of a set decide: PayloadBytes is the mean
  /// Of `count` random fingerprints, up to 2^26; `rate` changes nothing.
  static size_t PayloadBytes(size_t count, double rate);
  /// Appends a payload of `fingerprints`, unique, in any order, with the parameter that takes the fewest
  /// bytes.
  static void Render(std::span<const Fingerprint> fingerprints, double rate, std::string& out);
};

}  // namespace seen
