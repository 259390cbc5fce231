#pragma once
// Says what may be dropped from a delta. It is an argument of folding and expiring, because they have no
// clock.

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

#include "model/day.h"
#include "model/segment_kind.h"

namespace seen {

inline constexpr Day kFirstOfDays{std::numeric_limits<int32_t>::min()};
inline constexpr Day kLastOfDays{std::numeric_limits<int32_t>::max()};

namespace horizon_detail {
constexpr std::array<Day, kDeclaredKindsMax> Filled(Day day) {
  std::array<Day, kDeclaredKindsMax> days;
  days.fill(day);
  return days;
}
}  // namespace horizon_detail

/// The default horizon drops nothing.
struct Horizon {
  Day exposed = kFirstOfDays;      // kinds 0, 2 and 5: segments before this day are dropped
  Day by_creation = kFirstOfDays;  // kind 3, by the day of creation
  uint32_t served_second = 0;      // served and resolving segments: dropped unless EndSecond is after it
  std::array<Day, kDeclaredKindsMax> declared = horizon_detail::Filled(kFirstOfDays);  // by number - 16

  /// Removals and the erasure before this day are dropped, and so is everything they could concern. It must
  /// not be after any of the days above. Nor may it be after ServedFrom, the first day on which a kept served
  /// segment may begin.
  Day taken_back = kFirstOfDays;

  /// If `whole` is N days before `exposed`, a user stays for N more days after the last segment of any kind
  /// expired. That segment stays for these days, emptied. So there is time to publish that the set is empty.
  Day whole = kLastOfDays;

  /// One day for all kinds.
  static constexpr Horizon Of(Day day) {
    Horizon horizon;
    horizon.exposed = horizon.by_creation = horizon.taken_back = horizon.whole = day;
    horizon.declared = horizon_detail::Filled(day);
    horizon.served_second = static_cast<uint32_t>(
        std::clamp<int64_t>(day.since_epoch * kSecondsPerDay, 0, std::numeric_limits<uint32_t>::max()));
    return horizon;
  }

  /// The first day on which a segment of `width_s` may begin and still be kept by `served_second`.
  Day ServedFrom(uint32_t width_s) const {
    const int64_t second = int64_t{served_second} - int64_t{kServedWidths + 1} * width_s;
    return DayOf(TimeMs{second * 1000});
  }
  int64_t GraceDays() const { return std::max<int64_t>(0, int64_t{exposed.since_epoch} - whole.since_epoch); }

  /// Whether the horizon keeps a segment, with `days` of grace. `bucket`: the day, for kinds without a width.
  /// `day`: what removals compare with.
  bool Keeps(SegmentKind kind, int64_t bucket, uint64_t end_second, Day day, int64_t days) const {
    // Nothing in a segment of kind 3 was shown before its day of creation.
    const int64_t first = kind == SegmentKind::kByCreation ? bucket : day.since_epoch;
    if (first < TakenBack()) return false;
    return SecondsLeft(kind, bucket, end_second) + days * kSecondsPerDay >= 0;
  }
  /// Seconds until the segment expires. Less than 0: it has expired.
  int64_t SecondsLeft(SegmentKind kind, int64_t bucket, uint64_t end_second) const {
    if (HasWidth(kind)) return static_cast<int64_t>(end_second) - int64_t{served_second} - 1;
    const Day first = IsDeclared(kind)                   ? declared[DeclaredPlace(kind)]
                      : kind == SegmentKind::kByCreation ? by_creation
                                                         : exposed;
    return (bucket - first.since_epoch) * kSecondsPerDay;
  }
  /// First day whose removals and erasure are kept.
  int64_t TakenBack() const { return taken_back.since_epoch - GraceDays(); }

  friend bool operator==(const Horizon&, const Horizon&) = default;
};

}  // namespace seen
