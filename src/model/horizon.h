#pragma once
// What of a delta may be dropped. An argument of folding and expiring: they know no clock.

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

/// As it is made by default nothing goes.
struct Horizon {
  Day exposed = kFirstOfDays;      // kinds 0 and 2: a segment before it goes
  Day by_creation = kFirstOfDays;  // kind 3, by the day of creation
  uint32_t served_second =
      0;  // a served or resolving segment goes if six widths past its end aren't after it
  std::array<Day, kDeclaredKindsMax> declared = horizon_detail::Filled(kFirstOfDays);  // by number - 16

  /// Removals and the erasure before it go, and whatever they might still concern: it must not be after any
  /// of the days above, nor after the day on which a served segment that is kept may begin (ServedFrom).
  Day taken_back = kFirstOfDays;

  /// Where it lies before `exposed`, by N days, a user doesn't vanish for N more days after the last segment
  /// of any kind went: that one stays so long, emptied. There is time then to publish that the set is empty.
  Day whole = kLastOfDays;

  /// All go by one day.
  static constexpr Horizon Of(Day day) {
    Horizon horizon;
    horizon.exposed = horizon.by_creation = horizon.taken_back = horizon.whole = day;
    horizon.declared = horizon_detail::Filled(day);
    horizon.served_second = static_cast<uint32_t>(
        std::clamp<int64_t>(day.since_epoch * kSecondsPerDay, 0, std::numeric_limits<uint32_t>::max()));
    return horizon;
  }

  /// First day on which a segment of `width_s` may begin that `served_second` keeps.
  Day ServedFrom(uint32_t width_s) const {
    const int64_t second = int64_t{served_second} - int64_t{kServedWidths + 1} * width_s;
    return DayOf(TimeMs{second * 1000});
  }
  int64_t GraceDays() const { return std::max<int64_t>(0, int64_t{exposed.since_epoch} - whole.since_epoch); }

  /// Whether it keeps a segment, with `days` of grace. `bucket` is the day of those without a width, `day`
  /// what removals compare with.
  bool Keeps(SegmentKind kind, int64_t bucket, uint64_t end_second, Day day, int64_t days) const {
    // Nothing in a segment of kind 3 was shown before it was created.
    const int64_t first = kind == SegmentKind::kByCreation ? bucket : day.since_epoch;
    if (first < TakenBack()) return false;
    return SecondsLeft(kind, bucket, end_second) + days * kSecondsPerDay >= 0;
  }
  /// Until it goes; less than 0: it went.
  int64_t SecondsLeft(SegmentKind kind, int64_t bucket, uint64_t end_second) const {
    if (HasWidth(kind)) return static_cast<int64_t>(end_second) - int64_t{served_second} - 1;
    const Day first = IsDeclared(kind)                   ? declared[DeclaredPlace(kind)]
                      : kind == SegmentKind::kByCreation ? by_creation
                                                         : exposed;
    return (bucket - first.since_epoch) * kSecondsPerDay;
  }
  /// First day of which removals and the erasure are kept.
  int64_t TakenBack() const { return taken_back.since_epoch - GraceDays(); }

  friend bool operator==(const Horizon&, const Horizon&) = default;
};

}  // namespace seen
