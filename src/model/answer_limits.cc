#include "model/answer_limits.h"

#include <algorithm>
#include <map>
#include <span>
#include <tuple>

#include "model/delta_seen.h"
#include "model/delta_view.h"

namespace seen {
namespace {

// A stretch of time in which something was shown.
struct Stretch {
  int64_t group = 0;  // Cut drops older groups first
  uint64_t end = 0;   // second
  uint64_t begin = 0;
  int64_t day = 0;           // as CountedEnd's
  Day shown = kFirstOfDays;  // of an exposure: with the others it decides whether the item counts at all
};

// An item in a stretch. A user may have millions, so it is small.
struct Counted {
  Fingerprint fingerprint;
  uint32_t stretch;  // its place in AllCounted::stretches
};

int64_t FirstDay(const AnswerLimits& limits) {
  // If one exposure is enough, an item counts exactly if one of its exposures is within horizon and
  // cool-down.
  return limits.exposures_min > 1 ? limits.horizon.since_epoch
                                  : std::max(limits.horizon, limits.cooldown).since_epoch;
}

uint64_t BeginOf(const OtherSegment& segment) { return segment.StartSecond() + segment.first_second; }
uint64_t EndOf(const OtherSegment& segment) { return segment.StartSecond() + segment.last_second; }

// For a segment with a window of its own: the day whose exposures leave their window when the segment does.
// Served segments end sooner.
int64_t DayOfOther(const OtherSegment& segment, const AnswerLimits& limits) {
  if (!IsDeclared(segment.kind)) return static_cast<int64_t>(EndOf(segment)) / kSecondsPerDay;
  const Day first = limits.declared[DeclaredPlace(segment.kind)];
  return int64_t{segment.bucket} + limits.horizon.since_epoch - first.since_epoch;
}

// Everything that counts, in no order. A fingerprint may come more than once.
class AllCounted {
 public:
  AllCounted(const Delta& delta, const AnswerLimits& limits) : limits_(limits) {
    size_t items = 0;
    for (const Segment& segment : delta.segments) items += segment.fingerprints.size();
    for (const OtherSegment& segment : delta.others) items += segment.fingerprints.size();
    counted_.reserve(items);
    for (const Segment& segment : delta.segments) AddExposed(segment);
    for (const OtherSegment& segment : delta.others) {
      if (segment.kind == SegmentKind::kRepeated) AddRepeated(segment);
      if (segment.kind == SegmentKind::kByCreation) AddByCreation(segment);
    }
    if (limits.exposures_min > 1) DropShownTooLittle();
    Cut(0);
    AddWithOwnWindows(delta);
    SortByFingerprint();
  }

  // By fingerprint.
  std::span<const Counted> counted() const { return counted_; }
  const Stretch& StretchOf(const Counted& one) const { return stretches_[one.stretch]; }

 private:
  void SortByFingerprint() {
    std::sort(counted_.begin(), counted_.end(),
              [](const Counted& a, const Counted& b) { return a.fingerprint < b.fingerprint; });
  }

  uint32_t Add(const Stretch& stretch) {
    stretches_.push_back(stretch);
    return static_cast<uint32_t>(stretches_.size() - 1);
  }

  void AddExposed(const Segment& segment) {
    if (segment.day.since_epoch < FirstDay(limits_)) return;
    const int64_t start = segment.day.since_epoch * kSecondsPerDay;
    const auto second = [&](uint32_t of_day) {
      return static_cast<uint64_t>(std::max<int64_t>(0, start + of_day));
    };
    const uint32_t stretch = Add({segment.day.since_epoch, second(segment.last_second),
                                  second(segment.first_second), segment.day.since_epoch, segment.day});
    for (const Fingerprint fingerprint : segment.fingerprints) counted_.push_back({fingerprint, stretch});
  }

  // An item comes as often as it was shown.
  void AddRepeated(const OtherSegment& segment) {
    if (segment.bucket < FirstDay(limits_)) return;
    const uint32_t stretch =
        Add({segment.bucket, EndOf(segment), BeginOf(segment), segment.bucket, segment.day()});
    for (const Fingerprint fingerprint : segment.fingerprints) counted_.push_back({fingerprint, stretch});
  }

  void AddByCreation(const OtherSegment& segment) {
    const uint64_t end = segment.StartSecond() + kDayWidth - 1;
    std::map<Day, uint32_t> stretches;  // by the day shown
    for (size_t i = 0; i < segment.fingerprints.size(); ++i) {
      const Day shown{static_cast<int32_t>(segment.times[i])};
      const int64_t windowed = limits_.by_creation ? int64_t{segment.bucket} : int64_t{shown.since_epoch};
      if (windowed < limits_.horizon.since_epoch) continue;
      if (limits_.exposures_min <= 1 && shown < limits_.cooldown) continue;
      const auto [stretch, is_new] = stretches.try_emplace(shown);
      if (is_new) stretch->second = Add({windowed, end, segment.StartSecond(), windowed, shown});
      counted_.push_back({segment.fingerprints[i], stretch->second});
    }
  }

  // Of served items and of each declared kind.
  void AddWithOwnWindows(const Delta& delta) {
    SegmentKind kind{};
    size_t from = counted_.size();
    for (const OtherSegment& segment : delta.others) {
      if (segment.kind != kind) {
        Cut(from);
        from = counted_.size();
      }
      kind = segment.kind;
      const bool counts =
          kind == SegmentKind::kServed
              ? segment.EndSecond() > limits_.now_s
              : IsDeclared(kind) && limits_.declared[DeclaredPlace(kind)] != kLastOfDays &&
                    segment.bucket >= int64_t{limits_.declared[DeclaredPlace(kind)].since_epoch};
      if (!counts) continue;
      const uint32_t stretch = Add({static_cast<int64_t>(segment.StartSecond()), EndOf(segment),
                                    BeginOf(segment), DayOfOther(segment, limits_)});
      for (const Fingerprint fingerprint : segment.fingerprints) counted_.push_back({fingerprint, stretch});
    }
    Cut(from);
  }

  void DropShownTooLittle() {
    SortByFingerprint();
    auto kept = counted_.begin();
    for (auto from = counted_.begin(); from != counted_.end();) {
      auto to = from;
      Day newest = kFirstOfDays;
      for (; to != counted_.end() && to->fingerprint == from->fingerprint; ++to) {
        newest = std::max(newest, StretchOf(*to).shown);
      }
      const bool counts = to - from >= std::ptrdiff_t{limits_.exposures_min} && newest >= limits_.cooldown;
      for (; from != to; ++from) {
        if (counts) *kept++ = *from;
      }
    }
    counted_.erase(kept, counted_.end());
  }

  // Cuts what was added from place `from` on. It keeps the newest groups, until they hold items_max items. It
  // keeps the smallest fingerprints of the last group.
  void Cut(size_t from) {
    if (counted_.size() - from <= limits_.items_max) return;
    // A heap, because a heavy user has many times more items than count.
    const auto counts_less = [&](const Counted& a, const Counted& b) {
      return std::tie(StretchOf(a).group, b.fingerprint) < std::tie(StretchOf(b).group, a.fingerprint);
    };
    const auto first = counted_.begin() + static_cast<std::ptrdiff_t>(from);
    auto kept = counted_.end();
    std::make_heap(first, kept, counts_less);
    FingerprintSet items;
    items.Reset(limits_.items_max);
    for (; kept != first && items.size() < limits_.items_max; items.Insert(kept->fingerprint))
      std::pop_heap(first, kept--, counts_less);
    // An older entry may be of an item that is kept.
    const auto goes = [&](const Counted& one) { return !items.Contains(one.fingerprint); };
    counted_.erase(std::remove_if(first, kept, goes), kept);
  }

  const AnswerLimits& limits_;
  std::vector<Stretch> stretches_;
  std::vector<Counted> counted_;
};

}  // namespace

std::vector<CountedEnd> CountedEnds(const Delta& delta, const AnswerLimits& limits) {
  const AllCounted all(delta, limits);
  std::vector<CountedEnd> ends;
  ends.reserve(all.counted().size());
  for (const Counted& one : all.counted()) {
    const Stretch& stretch = all.StretchOf(one);
    const Day day{static_cast<int32_t>(stretch.day)};
    if (ends.empty() || ends.back().fingerprint != one.fingerprint) {
      ends.push_back({one.fingerprint, stretch.end, stretch.begin, day});
      continue;
    }
    CountedEnd& end = ends.back();
    end.second = std::max(end.second, stretch.end);
    end.first_second = std::min(end.first_second, stretch.begin);
    end.day = std::max(end.day, day);
  }
  return ends;
}

std::vector<Fingerprint> SeenFingerprints(const Delta& delta, const AnswerLimits& limits) {
  const AllCounted all(delta, limits);
  std::vector<Fingerprint> seen;
  seen.reserve(std::min<size_t>(all.counted().size(), limits.items_max));
  for (const Counted& one : all.counted()) {
    if (seen.empty() || seen.back() != one.fingerprint) seen.push_back(one.fingerprint);
  }
  return seen;
}

std::vector<Fingerprint> SimilarFingerprints(const Delta& delta, const AnswerLimits& limits) {
  const int64_t first_day = std::max(limits.horizon, limits.cooldown).since_epoch;
  size_t count = 0;
  const auto counts = [&](const OtherSegment& segment) {
    return segment.kind == SegmentKind::kSimilar && int64_t{segment.bucket} >= first_day;
  };
  for (const OtherSegment& segment : delta.others) count += counts(segment) ? segment.fingerprints.size() : 0;
  count = std::min<size_t>(count, limits.SimilarMax());
  FingerprintSet newest;
  newest.Reset(count);
  for (auto segment = delta.others.rbegin(); segment != delta.others.rend(); ++segment) {
    if (!counts(*segment)) continue;
    for (const Fingerprint fingerprint : segment->fingerprints) {
      if (newest.size() == count) break;
      newest.Insert(fingerprint);
    }
  }
  std::vector<Fingerprint> similar(newest.values().begin(), newest.values().end());
  std::sort(similar.begin(), similar.end());
  return similar;
}

std::vector<Fingerprint> SeenFingerprints(const Delta& delta, Day horizon, uint32_t items_max) {
  AnswerLimits limits;
  limits.horizon = horizon;
  limits.items_max = items_max;
  return SeenFingerprints(delta, limits);
}

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
