#include <algorithm>

#include "model/answer_limits.h"
#include "model/delta_view.h"

namespace seen {
namespace {

// Whether a bound that moved from `a` to `b` has passed something on [first, last].
bool Passed(Day a, Day b, int64_t first, int64_t last) {
  const auto [low, high] = std::minmax(a, b);
  return last >= low.since_epoch && first < high.since_epoch;
}

bool ShownCut(int64_t first, int64_t last, const AnswerLimits& before, const AnswerLimits& now) {
  return Passed(before.horizon, now.horizon, first, last) ||
         Passed(before.cooldown, now.cooldown, first, last);
}

bool OtherCut(const OtherView& other, const AnswerLimits& before, const AnswerLimits& now) {
  switch (other.kind) {
    case SegmentKind::kServed:
      return (other.EndSecond() > before.now_s) != (other.EndSecond() > now.now_s);
    case SegmentKind::kRepeated:
      return ShownCut(other.bucket, other.bucket, before, now);
    case SegmentKind::kByCreation:
      return ShownCut(other.bucket, other.last_day, before, now);
    case SegmentKind::kSimilar:
      return now.similar && ShownCut(other.bucket, other.bucket, before, now);
    case SegmentKind::kExposed:
    case SegmentKind::kResolving:
      return false;
  }
  const size_t place = DeclaredPlace(other.kind);
  return Passed(before.declared[place], now.declared[place], other.bucket, other.bucket);
}

}  // namespace

bool WindowCut(std::string_view encoded, const AnswerLimits& before, const AnswerLimits& now) {
  if (before.items_max != now.items_max || before.exposures_min != now.exposures_min ||
      before.by_creation != now.by_creation || before.similar != now.similar) {
    return true;
  }
  thread_local DeltaView view;
  if (!ParseDelta(encoded, view)) return true;
  return std::any_of(view.segments.begin(), view.segments.end(),
                     [&](const SegmentView& segment) {
                       const int64_t day = segment.day.since_epoch;
                       return segment.fingerprints.count > 0 && ShownCut(day, day, before, now);
                     }) ||
         std::any_of(view.others.begin(), view.others.end(), [&](const OtherView& other) {
           return other.fingerprints.count > 0 && OtherCut(other, before, now);
         });
}

}  // namespace seen
