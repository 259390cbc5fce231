#include "model/answer_limits.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "model/delta_view.h"

namespace seen {
namespace {

// One fingerprint of a group. A group is a stretch of time; Cut drops older groups first.
struct Counted {
  int64_t group;
  Fingerprint fingerprint;
  uint64_t end;  // second
  uint64_t begin;
  int64_t day;  // as CountedEnd's
};

// An exposure, with its day and how often it happened: these decide whether its item counts at all.
struct Shown {
  Counted counted;
  Day day;
  uint32_t times;
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

void AddExposed(const Segment& segment, const AnswerLimits& limits, std::vector<Shown>& out) {
  if (segment.day.since_epoch < FirstDay(limits)) return;
  const int64_t start = segment.day.since_epoch * kSecondsPerDay;
  const auto second = [&](uint32_t of_day) {
    return static_cast<uint64_t>(std::max<int64_t>(0, start + of_day));
  };
  for (const Fingerprint fingerprint : segment.fingerprints) {
    out.push_back({{segment.day.since_epoch, fingerprint, second(segment.last_second),
                    second(segment.first_second), segment.day.since_epoch},
                   segment.day,
                   1});
  }
}

void AddRepeated(const OtherSegment& segment, const AnswerLimits& limits, std::vector<Shown>& out) {
  if (segment.bucket < FirstDay(limits)) return;
  for (size_t i = 0; i < segment.fingerprints.size(); ++i) {
    if (i > 0 && segment.fingerprints[i] == segment.fingerprints[i - 1]) {
      ++out.back().times;
    } else {
      out.push_back(
          {{segment.bucket, segment.fingerprints[i], EndOf(segment), BeginOf(segment), segment.bucket},
           segment.day(),
           1});
    }
  }
}

void AddByCreation(const OtherSegment& segment, const AnswerLimits& limits, std::vector<Shown>& out) {
  const uint64_t end = segment.StartSecond() + kDayWidth - 1;
  for (size_t i = 0; i < segment.fingerprints.size(); ++i) {
    const Day shown{static_cast<int32_t>(segment.times[i])};
    const int64_t windowed = limits.by_creation ? int64_t{segment.bucket} : int64_t{shown.since_epoch};
    if (windowed < limits.horizon.since_epoch) continue;
    if (limits.exposures_min <= 1 && shown < limits.cooldown) continue;
    out.push_back({{windowed, segment.fingerprints[i], end, segment.StartSecond(), windowed}, shown, 1});
  }
}

std::vector<Counted> CountedExposures(const Delta& delta, const AnswerLimits& limits) {
  std::vector<Shown> shown;
  for (const Segment& segment : delta.segments) AddExposed(segment, limits, shown);
  for (const OtherSegment& segment : delta.others) {
    if (segment.kind == SegmentKind::kRepeated) AddRepeated(segment, limits, shown);
    if (segment.kind == SegmentKind::kByCreation) AddByCreation(segment, limits, shown);
  }
  std::vector<Counted> counted;
  counted.reserve(shown.size());
  if (limits.exposures_min <= 1) {
    for (const Shown& one : shown) counted.push_back(one.counted);
    return counted;
  }
  struct Sum {
    uint64_t times = 0;
    Day newest = kFirstOfDays;
  };
  std::map<Fingerprint, Sum> sums;
  for (const Shown& one : shown) {
    Sum& sum = sums[one.counted.fingerprint];
    sum.times += one.times;
    sum.newest = std::max(sum.newest, one.day);
  }
  for (const Shown& one : shown) {
    const Sum& sum = sums[one.counted.fingerprint];
    if (sum.times >= limits.exposures_min && sum.newest >= limits.cooldown) counted.push_back(one.counted);
  }
  return counted;
}

// Keeps the newest groups, until they hold `items_max` fingerprints. Of the last group it keeps the smallest.
void Cut(std::vector<Counted>& counted, uint32_t items_max) {
  if (counted.size() <= items_max) return;
  std::sort(counted.begin(), counted.end(), [](const Counted& a, const Counted& b) {
    return std::tie(b.group, a.fingerprint) < std::tie(a.group, b.fingerprint);
  });
  std::vector<Counted> kept;
  std::set<Fingerprint> kept_items;
  for (const Counted& one : counted) {
    if (!kept_items.contains(one.fingerprint)) {
      if (kept_items.size() >= items_max) continue;  // a later entry may be of an item that is kept
      kept_items.insert(one.fingerprint);
    }
    kept.push_back(one);
  }
  counted = std::move(kept);
}

// Everything that counts, in no order.
std::vector<Counted> AllCounted(const Delta& delta, const AnswerLimits& limits) {
  std::vector<Counted> all = CountedExposures(delta, limits);
  Cut(all, limits.items_max);
  std::vector<Counted> row;  // of one kind
  const auto end_row = [&] {
    Cut(row, limits.items_max);
    all.insert(all.end(), row.begin(), row.end());
    row.clear();
  };
  SegmentKind kind{};
  for (const OtherSegment& segment : delta.others) {
    if (segment.kind != kind) end_row();
    kind = segment.kind;
    const bool counts = kind == SegmentKind::kServed
                            ? segment.EndSecond() > limits.now_s
                            : IsDeclared(kind) && limits.declared[DeclaredPlace(kind)] != kLastOfDays &&
                                  segment.bucket >= int64_t{limits.declared[DeclaredPlace(kind)].since_epoch};
    if (!counts) continue;
    for (const Fingerprint fingerprint : segment.fingerprints) {
      row.push_back({static_cast<int64_t>(segment.StartSecond()), fingerprint, EndOf(segment),
                     BeginOf(segment), DayOfOther(segment, limits)});
    }
  }
  end_row();
  return all;
}

}  // namespace

std::vector<CountedEnd> CountedEnds(const Delta& delta, const AnswerLimits& limits) {
  std::vector<Counted> all = AllCounted(delta, limits);
  std::sort(all.begin(), all.end(),
            [](const Counted& a, const Counted& b) { return a.fingerprint < b.fingerprint; });
  std::vector<CountedEnd> ends;
  ends.reserve(all.size());
  for (const Counted& one : all) {
    const Day day{static_cast<int32_t>(one.day)};
    if (ends.empty() || ends.back().fingerprint != one.fingerprint) {
      ends.push_back({one.fingerprint, one.end, one.begin, day});
      continue;
    }
    CountedEnd& end = ends.back();
    end.second = std::max(end.second, one.end);
    end.first_second = std::min(end.first_second, one.begin);
    end.day = std::max(end.day, day);
  }
  return ends;
}

std::vector<Fingerprint> SeenFingerprints(const Delta& delta, const AnswerLimits& limits) {
  std::vector<Fingerprint> seen;
  for (const CountedEnd& one : CountedEnds(delta, limits)) seen.push_back(one.fingerprint);
  return seen;
}

std::vector<Fingerprint> SimilarFingerprints(const Delta& delta, const AnswerLimits& limits) {
  const int64_t first_day = std::max(limits.horizon, limits.cooldown).since_epoch;
  std::vector<Counted> counted;
  for (const OtherSegment& segment : delta.others) {
    if (segment.kind != SegmentKind::kSimilar || int64_t{segment.bucket} < first_day) continue;
    for (const Fingerprint fingerprint : segment.fingerprints) {
      counted.push_back({segment.bucket, fingerprint, 0, 0, 0});
    }
  }
  Cut(counted, limits.SimilarMax());
  std::vector<Fingerprint> similar;
  similar.reserve(counted.size());
  for (const Counted& one : counted) similar.push_back(one.fingerprint);
  std::sort(similar.begin(), similar.end());
  similar.erase(std::unique(similar.begin(), similar.end()), similar.end());
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
