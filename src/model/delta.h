#pragma once
// The delta: one small algebra that is RocksDB's merge operand and value, the unit of the tail, and later the
// changelog record. (T, A): T says until which day a fingerprint (or everything) was removed, A holds
// (day, fingerprint). Source: docs/ARCHITECTURE.md, "The delta".
//
// Laws (held by tests/unit/model/delta_laws_test.cc): composition is associative, has the empty delta as
// identity, is idempotent, and replaying the whole or any suffix of a log changes nothing; any grouping gives
// the same encoded bytes. Pure, no clock: the horizon is an argument. Any thread.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/day.h"
#include "model/fingerprint.h"

namespace seen {

/// What was shown on one UTC day.
struct Segment {
  Day day;
  uint32_t first_second = 0;              // of the day, 0 to 86,399: no exposure in it was earlier
  uint32_t last_second = 0;               // no exposure in it was later
  std::vector<Fingerprint> fingerprints;  // sorted, unique; may be empty after removals
  friend bool operator==(const Segment&, const Segment&) = default;
};

/// `fingerprint` was taken back on `day`: exposures up to that day, and earlier in the log on it, don't
/// count.
struct Removal {
  Fingerprint fingerprint;
  Day day;
  friend auto operator<=>(const Removal&, const Removal&) = default;
};

struct Delta {
  std::string user_id;            // empty where unknown
  std::optional<Day> erased;      // everything was removed until this day
  std::vector<Removal> removals;  // sorted by fingerprint, unique
  std::vector<Segment> segments;  // sorted by day, unique
  friend bool operator==(const Delta&, const Delta&) = default;
};

/// Against bots: of a day's fingerprints only the smallest `items_per_day_max` are kept. Removed fingerprints
/// count against it, else the result would depend on the grouping; see docs/ARCHITECTURE.md.
struct DeltaLimits {
  uint32_t items_per_day_max = 50'000;
};

/// What `earlier` and then `later` amount to. O(n).
Delta Compose(const Delta& earlier, const Delta& later, const DeltaLimits& limits);

/// All of `deltas` in log order. Equal to folding with Compose, but each fingerprint is touched once or
/// twice.
Delta ComposeAll(std::span<const Delta> deltas, const DeltaLimits& limits);

/// Drops what lies before `horizon`: segments, removals and the erasure. Commutes with composition.
void Expire(Delta& delta, Day horizon);

/// The fingerprints that count: those of segments on `horizon` or later; where they are more than
/// `items_max`, newest segments first until they hold `items_max`, the crossing one cut by fingerprint order.
/// Sorted, unique.
std::vector<Fingerprint> SeenFingerprints(const Delta& delta, Day horizon, uint32_t items_max);

/// Appends the encoding (schemas/store.md) to `out`. A function of the delta alone.
void EncodeDelta(const Delta& delta, std::string& out);

/// kCorrupt for anything EncodeDelta can't have written; never reads past `bytes`.
Result<Delta> DecodeDelta(std::string_view bytes);

}  // namespace seen
