#pragma once
// The delta: one small algebra that is RocksDB's merge operand and value, the unit of the tail, and later the
// changelog record. (T, A): T says until which day a fingerprint (or everything) was removed, A holds
// (day, fingerprint), and the same of other kinds than exposures. Source: docs/ARCHITECTURE.md, "The delta".
//
// Laws (held by tests/unit/model/delta_laws_test.cc): composition is associative, has the empty delta as
// identity, is idempotent, and replaying the whole or any suffix of a log changes nothing; any grouping gives
// the same encoded bytes. Pure, no clock: the horizon is an argument. Any thread.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/result.h"
#include "model/day.h"
#include "model/fingerprint.h"
#include "model/horizon.h"
#include "model/segment_kind.h"

namespace seen {

/// What was shown on one UTC day.
struct Segment {
  Day day;
  uint32_t first_second = 0;              // of the day, 0 to 86,399: no exposure in it was earlier
  uint32_t last_second = 0;               // no exposure in it was later
  std::vector<Fingerprint> fingerprints;  // sorted, unique; may be empty after removals
  friend bool operator==(const Segment&, const Segment&) = default;
};

/// Where and when a segment of another kind than exposed lies. It begins at second `bucket` times `width_s`,
/// at most 2^32 - 1.
struct OtherHeader {
  SegmentKind kind = SegmentKind::kServed;
  uint32_t width_s = kDayWidth;  // of served and resolving ones the filter's; of all others a day
  uint32_t bucket = 0;
  uint32_t first_second = 0;  // of the bucket: nothing in it was earlier. Of kind 3: 0
  uint32_t last_second = 0;   // nothing in it was later. Of kind 3: 0
  uint32_t last_day = 0;      // of kind 3: no day on which it was shown is later; of all others 0

  uint64_t StartSecond() const { return uint64_t{bucket} * width_s; }
  /// Of a served or resolving one: when it ceases to count.
  uint64_t EndSecond() const { return (uint64_t{bucket} + 1 + kServedWidths) * width_s; }
  /// The day that removals and erasures compare with; of kind 3 the newest of several.
  Day day() const {
    const uint64_t day = kind == SegmentKind::kByCreation ? last_day : StartSecond() / kDayWidth;
    return {static_cast<int32_t>(day)};
  }
  friend bool operator==(const OtherHeader&, const OtherHeader&) = default;
};

/// The order of other segments in a delta.
inline auto PlaceOf(const OtherHeader& segment) {
  return std::make_tuple(segment.kind, segment.width_s, segment.bucket);
}

struct OtherSegment : OtherHeader {
  std::vector<Fingerprint> fingerprints;  // sorted; unique except of kind 2; may be empty after removals
  /// Of timed kinds, one for each fingerprint. Kind 2: the second of the day, ascending where a fingerprint
  /// repeats. Kind 3: the newest day it was shown, not before `bucket`. Kind 4: the least partition time, in
  /// seconds after the bucket's start (0 if before it).
  std::vector<uint32_t> times;
  friend bool operator==(const OtherSegment&, const OtherSegment&) = default;
};

/// `fingerprint` was taken back on `day`: exposures up to that day, and earlier in the log on it, don't
/// count.
struct Removal {
  Fingerprint fingerprint;
  Day day;
  friend auto operator<=>(const Removal&, const Removal&) = default;
};

struct Delta {
  std::string user_id;                    // empty where unknown, and where there are no segments
  std::optional<Day> erased;              // everything was removed until this day
  std::vector<Removal> removals;          // sorted by fingerprint, unique
  std::vector<Segment> segments;          // sorted by day, unique
  std::vector<OtherSegment> others = {};  // sorted by PlaceOf, unique

  bool HasSegments() const { return !segments.empty() || !others.empty(); }
  friend bool operator==(const Delta&, const Delta&) = default;
};

/// How one filter's changes become segments.
struct DeltaLimits {
  /// Against bots: of a segment's fingerprints only the smallest so many are kept. Removed fingerprints count
  /// against it, else the result would depend on the grouping; see docs/ARCHITECTURE.md.
  uint32_t items_per_day_max = 50'000;
  uint32_t served_width_s = 300;  // of served and resolving segments; at least 1
  bool repeated = false;          // exposures are kept with their seconds, as kind 2

  /// Of a segment of that kind. An item is like several.
  uint32_t ItemsMax(SegmentKind kind) const {
    return kind == SegmentKind::kSimilar ? TimesSimilar(items_per_day_max) : items_per_day_max;
  }
  friend bool operator==(const DeltaLimits&, const DeltaLimits&) = default;
};

/// What `earlier` and then `later` amount to. O(n). The laws ask that all deltas with segments have an id,
/// and the same one.
Delta Compose(const Delta& earlier, const Delta& later, const DeltaLimits& limits);

/// All of `deltas` in log order. Equal to folding with Compose, but each fingerprint is touched once or
/// twice.
Delta ComposeAll(std::span<const Delta> deltas, const DeltaLimits& limits);

/// Drops what `horizon` lets go: segments, removals and the erasure. Expire(Compose(a, b)) is
/// Expire(Compose(Expire(a), Expire(b))), whichever of the inner ones are left out.
void Expire(Delta& delta, const Horizon& horizon);

/// The fingerprints that count: those of exposures on `horizon` or later, no more than `items_max`; see
/// model/delta_seen.h, which also knows of other kinds. Sorted, unique.
std::vector<Fingerprint> SeenFingerprints(const Delta& delta, Day horizon, uint32_t items_max);

/// Appends the encoding (schemas/store.md) to `out`. A function of the delta alone.
void EncodeDelta(const Delta& delta, std::string& out);

/// kCorrupt for anything EncodeDelta can't have written; never reads past `bytes`.
Result<Delta> DecodeDelta(std::string_view bytes);

}  // namespace seen
