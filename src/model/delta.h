#pragma once
// The delta: a small algebra. Its bytes are RocksDB's merge operand and value, and the rows of the state
// topic hold them. A tail's changes become deltas. A delta is (T, A). T says until which day a fingerprint
// (or everything) was removed. A holds (day, fingerprint), and the same for other kinds than exposures.
// Source: docs/ARCHITECTURE.md, "The delta".
//
// Laws (tested by tests/unit/model/delta_laws_test.cc): Composition is associative and idempotent, and the
// empty delta is its identity. Replaying the whole or any suffix of a log changes nothing. Any grouping gives
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
#include "model/hashes.h"
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

/// The kind and the stretch of time of a segment that is of another kind than exposed. The stretch begins at
/// second `bucket` times `width_s`, which is at most 2^32 - 1.
struct OtherHeader {
  SegmentKind kind = SegmentKind::kServed;
  uint32_t width_s = kDayWidth;  // the filter's for served and resolving segments; a day for all others
  uint32_t bucket = 0;
  uint32_t first_second = 0;  // of the bucket: nothing in the segment was earlier. Kind 3: 0
  uint32_t last_second = 0;   // nothing in the segment was later. Kind 3: 0
  uint32_t last_day = 0;      // kind 3: nothing in it was shown on a later day. All others: 0

  uint64_t StartSecond() const { return uint64_t{bucket} * width_s; }
  /// When a served or resolving segment ceases to count.
  uint64_t EndSecond() const { return (uint64_t{bucket} + 1 + kServedWidths) * width_s; }
  /// The day that removals and erasures compare with. For kind 3 the newest day on which something was shown.
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
  std::vector<Fingerprint> fingerprints;  // sorted; unique except for kind 2; may be empty after removals
  /// For timed kinds, one for each fingerprint. Kind 2: the second of the day, ascending where a fingerprint
  /// repeats. Kind 3: the newest day it was shown, not before `bucket`. Kind 4: the least partition time at
  /// which it was read, in seconds after the bucket's start (0 if before it).
  std::vector<uint32_t> times;
  friend bool operator==(const OtherSegment&, const OtherSegment&) = default;
};

/// `fingerprint` was taken back on `day`. Its exposures on earlier days don't count, nor those on that day
/// that are earlier in the log.
struct Removal {
  Fingerprint fingerprint;
  Day day;
  friend auto operator<=>(const Removal&, const Removal&) = default;
};

struct Delta {
  std::string user_id;                    // empty where unknown, and where there are no segments
  std::optional<Day> erased;              // everything was removed up to this day
  std::vector<Removal> removals;          // sorted by fingerprint, unique
  std::vector<Segment> segments;          // sorted by day, unique
  std::vector<OtherSegment> others = {};  // sorted by PlaceOf, unique

  bool HasSegments() const { return !segments.empty() || !others.empty(); }
  friend bool operator==(const Delta&, const Delta&) = default;
};

/// How one filter's changes become segments.
struct DeltaLimits {
  /// Against bots: a segment keeps at most this many fingerprints, the smallest. Removed fingerprints count
  /// against the limit, else the result would depend on the grouping; see docs/ARCHITECTURE.md.
  uint32_t items_per_day_max = 50'000;
  uint32_t served_width_s = 300;  // of served and resolving segments; at least 1
  bool repeated = false;          // exposures are kept with their seconds, as kind 2

  /// The limit for a segment of that kind. Kind 5 has more space, because an item is similar to several
  /// others.
  uint32_t ItemsMax(SegmentKind kind) const {
    return kind == SegmentKind::kSimilar ? TimesSimilar(items_per_day_max) : items_per_day_max;
  }
  friend bool operator==(const DeltaLimits&, const DeltaLimits&) = default;
};

/// The delta of `earlier`, followed by `later`. O(n). The laws require that all deltas with segments have an
/// id, and the same one.
Delta Compose(const Delta& earlier, const Delta& later, const DeltaLimits& limits);

/// Composes all of `deltas`, which are in log order. Equal to a left fold with Compose. But each fingerprint
/// takes part in O(log n) compositions of n deltas, not in O(n).
Delta ComposeAll(std::span<const Delta> deltas, const DeltaLimits& limits);

/// Drops the segments, removals and the erasure that `horizon` doesn't keep. Expire(Compose(a, b)) equals
/// Expire(Compose(Expire(a), Expire(b))), also if one or both inner Expire are left out.
void Expire(Delta& delta, const Horizon& horizon);

/// The fingerprints that count by an AnswerLimits (model/answer_limits.h) with this `horizon` and
/// `items_max`: at most `items_max` of exposures on `horizon` or later. Sorted, unique.
std::vector<Fingerprint> SeenFingerprints(const Delta& delta, Day horizon, uint32_t items_max);

/// Appends the encoding (schemas/store.md) to `out`. A function of the delta alone.
void EncodeDelta(const Delta& delta, std::string& out);

/// kCorrupt for anything EncodeDelta can't have written; never reads past `bytes`.
Result<Delta> DecodeDelta(std::string_view bytes);

}  // namespace seen
