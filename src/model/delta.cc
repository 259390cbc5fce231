#include "model/delta.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include "model/delta_others.h"
#include "model/delta_view.h"

namespace seen {

namespace {

using Fingerprints = std::vector<Fingerprint>;

// Appends the fingerprints of `segment` that the other delta's `removals` don't take back. Removals of the
// later delta take back exposures of their own day and of earlier days. Removals of the earlier delta take
// back only exposures of earlier days.
void AppendSurvivors(const Segment& segment, const std::vector<Removal>& removals, bool removals_are_later,
                     Fingerprints& out) {
  if (removals.empty()) {
    out.insert(out.end(), segment.fingerprints.begin(), segment.fingerprints.end());
    return;
  }
  auto removal = removals.begin();
  for (const Fingerprint fingerprint : segment.fingerprints) {
    while (removal != removals.end() && removal->fingerprint < fingerprint) ++removal;
    const bool named = removal != removals.end() && removal->fingerprint == fingerprint;
    const bool gone =
        named && (removals_are_later ? segment.day <= removal->day : segment.day < removal->day);
    if (!gone) out.push_back(fingerprint);
  }
}

Fingerprints Union(const Fingerprints& a, const Fingerprints& b) {
  if (a.empty()) return b;
  if (b.empty()) return a;
  Fingerprints merged;
  merged.reserve(a.size() + b.size());
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(merged));
  return merged;
}

// Keeps the fingerprints that are among the day's `items_max` smallest. Fingerprints removed on that day or
// later count as if they were still there. Else the result would depend on whether a removal came before or
// after the cut.
void CutDay(Segment& segment, const std::vector<Removal>& removals, uint32_t items_max) {
  if (segment.fingerprints.size() + removals.size() <= items_max) return;
  size_t rank = 0;
  size_t kept = 0;
  auto removal = removals.begin();
  for (const Fingerprint fingerprint : segment.fingerprints) {
    for (; removal != removals.end() && removal->fingerprint < fingerprint; ++removal) {
      if (removal->day >= segment.day) ++rank;
    }
    if (removal != removals.end() && removal->fingerprint == fingerprint) ++removal;  // counts once
    if (rank >= items_max) break;
    ++rank;
    ++kept;
  }
  segment.fingerprints.resize(kept);
}

std::vector<Removal> LatestRemovals(const std::vector<Removal>& a, const std::vector<Removal>& b) {
  if (a.empty()) return b;
  if (b.empty()) return a;
  std::vector<Removal> merged;
  merged.reserve(a.size() + b.size());
  auto i = a.begin();
  auto j = b.begin();
  while (i != a.end() || j != b.end()) {
    if (j == b.end() || (i != a.end() && i->fingerprint < j->fingerprint)) {
      merged.push_back(*i++);
    } else if (i == a.end() || j->fingerprint < i->fingerprint) {
      merged.push_back(*j++);
    } else {
      merged.push_back(std::max(*i++, *j++));
    }
  }
  return merged;
}

// Drops the removals that the erasure makes redundant. `erased_is_later`: whether the erasure is in the later
// delta.
void DropErased(std::vector<Removal>& removals, std::optional<Day> erased, bool erased_is_later) {
  if (!erased) return;
  std::erase_if(removals, [&](const Removal& removal) {
    return erased_is_later ? removal.day <= *erased : removal.day < *erased;
  });
}

std::vector<Removal> RemovalsOf(const Delta& earlier, const Delta& later) {
  if (!earlier.erased && !later.erased) return LatestRemovals(earlier.removals, later.removals);
  std::vector<Removal> before = earlier.removals;
  std::vector<Removal> after = later.removals;
  DropErased(before, later.erased, true);
  DropErased(after, earlier.erased, false);
  return LatestRemovals(before, after);
}

// Two ids don't get the same key by chance. If they do all the same, the choice must not depend on the order.
const std::string& ChooseUserId(const std::string& a, const std::string& b) {
  if (a.empty()) return b;
  if (b.empty()) return a;
  return std::min(a, b);
}

Delta ComposeRange(std::span<const Delta> deltas, const DeltaLimits& limits) {
  if (deltas.empty()) return {};
  if (deltas.size() == 1) return deltas.front();
  if (deltas.size() == 2) return Compose(deltas[0], deltas[1], limits);
  const size_t half = deltas.size() / 2;
  return Compose(ComposeRange(deltas.first(half), limits), ComposeRange(deltas.subspan(half), limits),
                 limits);
}

}  // namespace

Delta Compose(const Delta& earlier, const Delta& later, const DeltaLimits& limits) {
  Delta result;
  result.user_id = ChooseUserId(earlier.user_id, later.user_id);
  result.erased = std::max(earlier.erased, later.erased);  // nullopt is less than any day
  result.removals = RemovalsOf(earlier, later);
  result.segments.reserve(std::max(earlier.segments.size(), later.segments.size()) + 1);

  auto i = earlier.segments.begin();
  auto j = later.segments.begin();
  while (i != earlier.segments.end() || j != later.segments.end()) {
    const bool take_earlier = i != earlier.segments.end() && (j == later.segments.end() || i->day <= j->day);
    const bool take_later = j != later.segments.end() && (i == earlier.segments.end() || j->day <= i->day);
    const Segment* from_earlier = take_earlier ? &*i++ : nullptr;
    const Segment* from_later = take_later ? &*j++ : nullptr;
    if (from_earlier && later.erased && from_earlier->day <= *later.erased) from_earlier = nullptr;
    if (from_later && earlier.erased && from_later->day < *earlier.erased) from_later = nullptr;
    if (!from_earlier && !from_later) continue;

    // A segment stays, empty, when all of its items are removed: its seconds must not depend on the grouping.
    Segment& segment = result.segments.emplace_back();
    Fingerprints survivors_earlier;
    Fingerprints survivors_later;
    if (from_earlier) {
      segment = {from_earlier->day, from_earlier->first_second, from_earlier->last_second, {}};
      AppendSurvivors(*from_earlier, later.removals, true, survivors_earlier);
    }
    if (from_later) {
      const bool first = !from_earlier;
      segment.day = from_later->day;
      segment.first_second =
          first ? from_later->first_second : std::min(segment.first_second, from_later->first_second);
      segment.last_second =
          first ? from_later->last_second : std::max(segment.last_second, from_later->last_second);
      AppendSurvivors(*from_later, earlier.removals, false, survivors_later);
    }
    segment.fingerprints = Union(survivors_earlier, survivors_later);
    CutDay(segment, result.removals, limits.items_per_day_max);
  }
  result.others = ComposeOthers(earlier, later, result.removals, limits);
  // Else an id would outlive the erasure, and the result would depend on the grouping.
  if (!result.HasSegments()) result.user_id.clear();
  return result;
}

Delta ComposeAll(std::span<const Delta> deltas, const DeltaLimits& limits) {
  // Halves, not a left fold: a large value is then composed O(log n) times, not n times. Associativity allows
  // it.
  return ComposeRange(deltas, limits);
}

namespace {

constexpr uint8_t kKindExposed = 0;

using delta_bytes::PutFingerprints;
using delta_bytes::ZigZag;

void PutRemovals(const std::vector<Removal>& removals, std::string& out) {
  std::vector<Fingerprint> fingerprints;
  fingerprints.reserve(removals.size());
  Day first = removals.front().day;
  for (const Removal& removal : removals) {
    fingerprints.push_back(removal.fingerprint);
    first = std::min(first, removal.day);
  }
  delta_bytes::PutVarint(fingerprints.size(), out);
  PutFingerprints(fingerprints, out);
  delta_bytes::PutVarint(ZigZag(first.since_epoch), out);
  for (const Removal& removal : removals) {
    delta_bytes::PutVarint(static_cast<uint64_t>(int64_t{removal.day.since_epoch} - first.since_epoch), out);
  }
}

}  // namespace

namespace delta_bytes {

void PutVarint(uint64_t value, std::string& out) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
}

void PutFingerprints(std::span<const Fingerprint> fingerprints, std::string& out) {
  const uint32_t parameter = RiceParameter(fingerprints.size(), fingerprints.back().value);
  out.push_back(static_cast<char>(parameter));
  PutVarint(RiceBytes(fingerprints, parameter), out);
  RiceEncode(fingerprints, parameter, out);
}

void PutHeader(uint8_t flags, std::string_view user_id, std::optional<Day> erased, std::string& out) {
  if (!user_id.empty()) flags |= kHasUserId;
  if (erased) flags |= kHasErased;
  out.push_back(static_cast<char>(delta_bytes::kDeltaVersion));
  out.push_back(static_cast<char>(flags));
  if (!user_id.empty()) {
    PutVarint(user_id.size(), out);
    out.append(user_id);
  }
  if (erased) PutVarint(ZigZag(erased->since_epoch), out);
}

void PutDay(Day day, std::optional<Day> previous, std::string& out) {
  out.push_back(static_cast<char>(kKindExposed));
  PutVarint(previous ? static_cast<uint64_t>(int64_t{day.since_epoch} - previous->since_epoch - 1)
                     : ZigZag(day.since_epoch),
            out);
}

void PutBody(uint32_t first_second, uint32_t last_second, std::span<const Fingerprint> fingerprints,
             std::string& out) {
  PutVarint(first_second, out);
  PutVarint(last_second - first_second, out);
  PutVarint(fingerprints.size(), out);
  if (!fingerprints.empty()) PutFingerprints(fingerprints, out);
}

}  // namespace delta_bytes

void EncodeDelta(const Delta& delta, std::string& out) {
  using namespace delta_bytes;
  size_t items = delta.removals.size();
  for (const Segment& segment : delta.segments) items += segment.fingerprints.size();
  out.reserve(out.size() + delta.user_id.size() + 16 * delta.segments.size() + 4 * items + 32);
  PutHeader((delta.removals.empty() ? 0 : kHasRemovals) | (delta.HasSegments() ? kHasSegments : 0),
            delta.user_id, delta.erased, out);
  if (!delta.removals.empty()) PutRemovals(delta.removals, out);
  if (!delta.HasSegments()) return;
  PutVarint(delta.segments.size() + delta.others.size(), out);
  std::optional<Day> previous;
  for (const Segment& segment : delta.segments) {
    PutDay(segment.day, previous, out);
    PutBody(segment.first_second, segment.last_second, segment.fingerprints, out);
    previous = segment.day;
  }
  PutOthers(delta.others, out);
}

Result<Delta> DecodeDelta(std::string_view bytes) {
  if (!bytes.empty() && static_cast<uint8_t>(bytes.front()) != delta_bytes::kDeltaVersion) {
    return Fail(Code::kCorrupt, "delta: version " + std::to_string(static_cast<uint8_t>(bytes.front())) +
                                    " is not " + std::to_string(delta_bytes::kDeltaVersion));
  }
  DeltaView view;
  Delta delta;
  if (!ParseDelta(bytes, view) || !DecodeView(view, delta)) return Fail(NotADelta(bytes));
  return delta;
}

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
