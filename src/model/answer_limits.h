#pragma once
// Which of what a user's delta holds counts in an answer or a snapshot.

#include <cstdint>
#include <string_view>
#include <vector>

#include "model/delta.h"
#include "model/horizon.h"

namespace seen {

/// Exposures count on days from `horizon` on (kind 3: if created then, where `by_creation`, else by the day
/// it was shown); where they are of more than `items_max` items, those of the newest days, the crossing day
/// cut by fingerprint order. Served ones count until they end, declared ones in windows of their own; each of
/// these is cut to `items_max` by itself. An item counts that any of them holds.
struct AnswerLimits {
  Day horizon;
  uint32_t items_max = 10'000;
  DeltaLimits delta;
  uint32_t now_s = 0;  // served segments count while they end after it
  /// By number - 16. kLastOfDays: the kind doesn't count.
  std::array<Day, kDeclaredKindsMax> declared = horizon_detail::Filled(kLastOfDays);
  /// An item counts from so many exposures on: those of kind 2, and one for each segment of another kind.
  /// Above 1 not together with `by_creation`.
  uint32_t exposures_min = 1;
  Day cooldown = kFirstOfDays;  // an item's newest exposure must not be before it
  bool by_creation = false;
  /// What is like the seen is asked for as well: kind 5, of days on which one exposure would count, at most
  /// kSimilarPerItem times items_max of the newest days. It never counts as seen.
  bool similar = false;

  uint32_t SimilarMax() const { return TimesSimilar(items_max); }
  friend bool operator==(const AnswerLimits&, const AnswerLimits&) = default;
};

/// Sorted, unique. The plain way to what SeenReader finds.
std::vector<Fingerprint> SeenFingerprints(const Delta& delta, const AnswerLimits& limits);

/// Near and group fingerprints that count (model/similar_fingerprint.h), whatever `limits.similar` says:
/// sorted, unique. The plain way to SeenReader::similar.
std::vector<Fingerprint> SimilarFingerprints(const Delta& delta, const AnswerLimits& limits);

/// A fingerprint that counts, and the last second (since the epoch) in which something that counts may have
/// given it: of kind 3 of its day of creation, else of its segment.
struct CountedEnd {
  Fingerprint fingerprint;
  uint64_t second = 0;
  uint64_t first_second = 0;  // nothing that counts gave it earlier
  /// It counts as long as an exposure of this day does, or not so long: what has a window of its own is shown
  /// as if of another day.
  Day day = kFirstOfDays;
  friend bool operator==(const CountedEnd&, const CountedEnd&) = default;
};

/// By fingerprint, unique.
std::vector<CountedEnd> CountedEnds(const Delta& delta, const AnswerLimits& limits);

/// Whether what counts of an encoded delta may differ between two moments' limits: cheap, nothing is decoded.
/// True also if it isn't a delta: whoever reads it will say so.
bool WindowCut(std::string_view encoded, const AnswerLimits& before, const AnswerLimits& now);

}  // namespace seen
