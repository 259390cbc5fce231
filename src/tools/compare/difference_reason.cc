#include "tools/compare/difference_reason.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "model/day.h"
#include "tools/ask/calendar.h"

namespace seen {
namespace {

using Json = nlohmann::json;

struct AgeClass {
  std::string_view key;
  std::string_view words;
};

// Counts whole UTC days, as windows do.
AgeClass AgeOf(TimeMs time, TimeMs now) {
  const int days = DayOf(now).since_epoch - DayOf(time).since_epoch;
  if (days < 1) return {"today", "today"};
  if (days < 7) return {"1_to_6_days_ago", "1 to 6 days ago"};
  if (days < 30) return {"7_to_29_days_ago", "7 to 29 days ago"};
  return {"30_days_ago_or_more", "30 or more days ago"};
}

// The latest last second of the segments that count, which lies on the item's day.
TimeMs LastShown(const Json& why) {
  TimeMs last{0};
  for (const Json& segment : why.at("segments")) {
    if (segment.at("counts").get<bool>())
      last.value = std::max(last.value, segment.at("last_at_ms").get<int64_t>());
  }
  return last;
}

std::string CountingKind(const Json& why) {
  for (const Json& segment : why.at("segments")) {
    if (segment.at("counts").get<bool>()) return segment.at("kind").get<std::string>();
  }
  return "exposed";
}

DifferenceReason WhyOnlyNew(const Json& why, TimeMs now) {
  const auto because = why.at("because").get<std::string>();
  if (because == "exposed") {
    const AgeClass age = AgeOf(LastShown(why), now);
    const std::string kind = CountingKind(why);
    if (kind != "exposed")
      return {fmt::format("{}_{}", kind, age.key), fmt::format("event of kind {}, {}", kind, age.words)};
    return {fmt::format("exposed_{}", age.key), fmt::format("shown {}", age.words)};
  }
  if (because == "served") return {"served", "returned by the recommender a moment ago, not yet shown"};
  if (because == "similar") return {"similar", "not shown itself, but like an item that was shown"};
  if (because == "false_positive" && why.at("false_positive_of") == "fingerprint")
    return {"fingerprint_collision", "never shown: it shares its fingerprint with an item that was shown"};
  return {"changed_meanwhile", "this filter changed between the comparison and the question why"};
}

// A kept exposure may not count because of its age, or of a limit of number (exposures_min, items_max).
bool SegmentIsInWindow(const Json& segments, int64_t at_ms) {
  for (const Json& segment : segments.at("segments")) {
    const bool holds =
        segment.at("from_ms").get<int64_t>() <= at_ms && at_ms < segment.at("to_ms").get<int64_t>();
    if (holds && segment.at("kind") != "served" && segment.at("in_window").get<bool>()) return true;
  }
  return false;
}

DifferenceReason KeptButNotCounted(const Json& why, const Json& segments) {
  constexpr std::string_view kLeft = "shown, but it has left this filter's window";
  bool any_shown = false;
  for (const Json& segment : why.at("segments")) {
    if (segment.at("kind") == "served") continue;
    any_shown = true;
    if (segments.is_object() && SegmentIsInWindow(segments, segment.at("last_at_ms").get<int64_t>())) {
      return {"not_enough",
              "shown, but fewer times than this filter's exposures_min, or beyond its items_max"};
    }
  }
  if (any_shown) return {"window_left", std::string(kLeft)};
  return {"served_ended", "returned by the recommender and never shown; its time as served has ended"};
}

// Whether the journal would have the exposure that the old filter remembers. Few old filters know its time.
// Otherwise assume the oldest: most old filters forget within a month.
bool JournalWouldKnow(const FilterDifference& difference, const Json& why, TimeMs now) {
  if (why.at("exposures").is_null() || !why.at("journal").is_object()) return false;
  const Json& whole_from = why.at("journal").at("whole_from");
  if (whole_from.is_null()) return true;
  constexpr int kOldFilterDays = 30;
  const Day shown =
      difference.old_since.value != 0 ? DayOf(difference.old_since) : DayOf(now) - kOldFilterDays;
  return whole_from.get<std::string>() <= DayText(shown);  // both have the form 2026-11-21
}

DifferenceReason NotKept(const FilterDifference& difference, const Json& why, TimeMs now) {
  if (!why.at("removed_until").is_null()) return {"taken_back", "taken back: shown, and then removed"};
  if (!why.at("erased_until").is_null()) return {"erased", "the user was erased"};
  const Json& exposures = why.at("exposures");
  if (!exposures.is_null() && !exposures.empty())
    return {"window_left", "shown, but it has left this filter's window"};
  if (JournalWouldKnow(difference, why, now))
    return {"never_shown", "never shown to this user according to the journal: the old filter errs"};
  if (difference.old_since.value != 0) {
    const AgeClass age = AgeOf(difference.old_since, now);
    return {fmt::format("not_known_old_since_{}", age.key),
            fmt::format("not known here; the old filter has it from {}", age.words)};
  }
  return {"not_known", "not known here: never shown (the old filter errs), or its exposure is missing here"};
}

DifferenceReason WhyOnlyOld(const FilterDifference& difference, const Json& why, const Json& segments,
                            TimeMs now) {
  if (why.at("seen").get<bool>()) {
    if (difference.has_created_at)
      return {"created_later", "shown only on days before the creation time that the request gives"};
    return {"changed_meanwhile", "this filter changed between the comparison and the question why"};
  }
  if (why.at("because") == "similar")
    return {"similar_demoted", "not shown itself, but like an item that was shown: this filter puts it last"};
  if (!why.at("segments").empty()) return KeptButNotCounted(why, segments);
  return NotKept(difference, why, now);
}

}  // namespace

bool NeedsSegments(const FilterDifference& difference, const Json& why) {
  return difference.side == OnlySide::kOld && !why.at("seen").get<bool>() && why.at("because") != "similar" &&
         !why.at("segments").empty();
}

DifferenceReason DifferenceReasonOf(const FilterDifference& difference, const Json& why, const Json& segments,
                                    TimeMs now) {
  return difference.side == OnlySide::kNew ? WhyOnlyNew(why, now)
                                           : WhyOnlyOld(difference, why, segments, now);
}

DifferenceReason NoReason() { return {"no_answer", "the daemon gave no answer to why"}; }

}  // namespace seen
