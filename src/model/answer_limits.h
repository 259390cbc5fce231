#pragma once
// Limits: which items of a user's delta count in an answer or a snapshot.

#include <cstdint>
#include <string_view>
#include <vector>

#include "model/delta.h"
#include "model/horizon.h"

namespace seen {

/// An item counts if any kind of segment holds it. Exposures count from day `horizon` on. The day of a kind 3
/// exposure is the day its item was created where `by_creation` is set, else the day it was shown. If the
/// exposures have more than `items_max` items, the newest days count. The day that crosses the limit is cut
/// by fingerprint order. Served items count until they end. Each declared kind counts in a window of its own.
/// Served items and each declared kind are cut to `items_max` separately.
struct AnswerLimits {
  Day horizon;
  uint32_t items_max = 10'000;
  DeltaLimits delta;
  uint32_t now_s = 0;  // served segments count while they end after it
  /// First day that counts, by the kind's number - 16. kLastOfDays: the kind doesn't count.
  std::array<Day, kDeclaredKindsMax> declared = horizon_detail::Filled(kLastOfDays);
  /// An item counts once it has at least this many exposures. Each exposure of kind 2 is one, and so is each
  /// segment of another kind. Above 1 only without `by_creation`.
  uint32_t exposures_min = 1;
  Day cooldown = kFirstOfDays;  // an item's newest exposure must not be before it
  bool by_creation = false;
  /// Also asks for what is similar to the seen items: kind 5, on the days on which a single exposure would
  /// count. At most kSimilarPerItem times items_max fingerprints, of the newest days. They never count as
  /// seen.
  bool similar = false;

  uint32_t SimilarMax() const { return TimesSimilar(items_max); }
  friend bool operator==(const AnswerLimits&, const AnswerLimits&) = default;
};

/// Sorted, unique. The straightforward way to compute what SeenReader finds.
std::vector<Fingerprint> SeenFingerprints(const Delta& delta, const AnswerLimits& limits);

/// The near and group fingerprints that count (model/hashes.h), regardless of `limits.similar`:
/// sorted, unique. The straightforward way to compute SeenReader::similar.
std::vector<Fingerprint> SimilarFingerprints(const Delta& delta, const AnswerLimits& limits);

/// A fingerprint that counts. `second`: the last second (since the epoch) in which something that counts may
/// have recorded it. For kind 3 this is the end of the item's day of creation, else the last second of its
/// segment.
struct CountedEnd {
  Fingerprint fingerprint;
  uint64_t second = 0;
  uint64_t first_second = 0;  // nothing that counts recorded it earlier
  /// The fingerprint counts at most as long as an exposure of this day. For a kind with a window of its own,
  /// it is the day whose exposures leave their window at the same time.
  Day day = kFirstOfDays;
  friend bool operator==(const CountedEnd&, const CountedEnd&) = default;
};

/// Sorted by fingerprint, unique.
std::vector<CountedEnd> CountedEnds(const Delta& delta, const AnswerLimits& limits);

/// Whether what counts in an encoded delta may differ between the limits of two moments. Cheap: it decodes no
/// fingerprints. Also true if the bytes are no delta: the code that reads them reports the error.
bool WindowCut(std::string_view encoded, const AnswerLimits& before, const AnswerLimits& now);

}  // namespace seen
