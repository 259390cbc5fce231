#include <algorithm>
#include <limits>
#include <tuple>
#include <vector>

#include "model/delta.h"

namespace seen {
namespace {

bool Keeps(const Horizon& horizon, const Segment& segment, int64_t days) {
  return horizon.Keeps(SegmentKind::kExposed, segment.day.since_epoch, 0, segment.day, days);
}
bool Keeps(const Horizon& horizon, const OtherSegment& segment, int64_t days) {
  return horizon.Keeps(segment.kind, segment.bucket, segment.EndSecond(), segment.day(), days);
}
Day DayOf(const Segment& segment) { return segment.day; }
Day DayOf(const OtherSegment& segment) { return segment.day(); }
void MakeEmpty(Segment& segment) { segment.fingerprints.clear(); }
void MakeEmpty(OtherSegment& segment) { segment.fingerprints.clear(), segment.times.clear(); }

// Decides which of the segments that expired within the grace stay.
class Lately {
 public:
  explicit Lately(const Horizon& horizon) : horizon_(horizon), days_(horizon.GraceDays()) {}

  void Look(const auto& segments) {
    for (const auto& segment : segments) {
      if (Keeps(horizon_, segment, days_)) found_.push_back({DayOf(segment), SecondsLeft(segment), &segment});
    }
  }
  // The segments that no other one dominates (as new, and kept as long).
  std::vector<const void*> Stay() {
    std::stable_sort(found_.begin(), found_.end(), [](const Found& a, const Found& b) {
      return std::tie(b.day, b.seconds_left) < std::tie(a.day, a.seconds_left);
    });
    std::vector<const void*> stay;
    int64_t longest = std::numeric_limits<int64_t>::min();
    for (const Found& found : found_) {
      if (found.seconds_left <= longest) continue;
      longest = found.seconds_left;
      stay.push_back(found.segment);
    }
    return stay;
  }

 private:
  struct Found {
    Day day;
    int64_t seconds_left;  // until it goes; less than 0 if it went
    const void* segment;
  };
  int64_t SecondsLeft(const Segment& segment) const {
    return horizon_.SecondsLeft(SegmentKind::kExposed, segment.day.since_epoch, 0);
  }
  int64_t SecondsLeft(const OtherSegment& segment) const {
    return horizon_.SecondsLeft(segment.kind, segment.bucket, segment.EndSecond());
  }

  const Horizon& horizon_;
  const int64_t days_;
  std::vector<Found> found_;
};

void Drop(auto& segments, const Horizon& horizon, const std::vector<const void*>& stay) {
  auto to = segments.begin();
  for (auto& segment : segments) {
    const bool kept = Keeps(horizon, segment, 0);
    if (!kept && std::find(stay.begin(), stay.end(), &segment) == stay.end()) continue;
    if (!kept) MakeEmpty(segment);
    if (&*to != &segment) *to = std::move(segment);
    ++to;
  }
  segments.erase(to, segments.end());
}

}  // namespace

// Why this commutes with composition: removals and erasures live longer than everything they could concern.
// Of the segments that expired within the grace, only those stay that no other one dominates (as new, and
// kept as long). An erasure that takes the dominating segment also takes the dominated one, and the
// dominating one lives longer.
void Expire(Delta& delta, const Horizon& horizon) {
  const int64_t taken_back = horizon.TakenBack();
  if (delta.erased && delta.erased->since_epoch < taken_back) delta.erased.reset();
  std::erase_if(delta.removals, [&](const Removal& removal) { return removal.day.since_epoch < taken_back; });
  std::vector<const void*> stay;
  if (horizon.GraceDays() > 0) {
    Lately lately(horizon);
    lately.Look(delta.segments);
    lately.Look(delta.others);
    stay = lately.Stay();
  }
  Drop(delta.segments, horizon, stay);
  Drop(delta.others, horizon, stay);
  if (!delta.HasSegments()) delta.user_id.clear();
}

}  // namespace seen
