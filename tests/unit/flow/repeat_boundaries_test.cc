// Boundaries of the number of exposures, of cooldowns and of served items' time to live. A row per case.
#include "unit/flow/boundary_fixture.h"

namespace seen {
namespace {

using test::BoundaryTest;
using test::kDay;
using test::kHour;
using test::kSecond;
using test::Row;
using test::SeenUntil;
using test::Sent;

class RepeatBoundaries : public BoundaryTest {};
TEST_P(RepeatBoundaries, Hold) { Run(GetParam()); }

constexpr int64_t kMidnight = 20'413 * kDay;
constexpr int64_t kAt = kMidnight + 9 * kHour;
constexpr int64_t End(int64_t days) { return kMidnight + (days + 1) * kDay; }

std::vector<Row> Repeats() {
  const auto times = [](uint32_t exposures_min) {
    return [exposures_min](FilterPolicy& filter) {
      filter.exposures_min = exposures_min;
      filter.limits.repeated = exposures_min > 1;
    };
  };
  const auto each_second = [](int count) {
    std::vector<Sent> sent;
    for (int i = 0; i < count; ++i) sent.push_back({"exposed", "a", kAt + i * kSecond});
    return sent;
  };
  const Sent first = {"exposed", "a", kAt}, second = {"exposed", "a", kAt + kSecond},
             third = {"exposed", "a", kAt + 2 * kSecond};
  const Sent next_day = {"exposed", "a", kAt + kDay}, day_after = {"exposed", "a", kAt + 2 * kDay};
  return {
      {"OneOfOne", times(1), {first}, {{kAt, "a", true}}},
      {"OneOfTwo", times(2), {first}, {{kAt, "a", false}}},
      {"TwoOfTwo", times(2), {first, second}, {{kAt + kSecond, "a", true}}},
      {"TwoOfThree", times(3), {first, second}, {{kAt + kSecond, "a", false}}},
      {"ThreeOfThree", times(3), {first, second, third}, {{kAt + 2 * kSecond, "a", true}}},
      {"ThreeOfThreeInAnyOrder", times(3), {third, first, second}, {{kAt + 2 * kSecond, "a", true}}},
      {"TheSameOneThriceIsOne", times(3), {first, first, first}, {{kAt, "a", false}}},
      {"TheSameOneThriceIsNotTwo", times(2), {first, first, first}, {{kAt, "a", false}}},
      {"TwoOfOneSecondAreOne", times(2), {first, {"exposed", "a", kAt + 999}}, {{kAt + 999, "a", false}}},
      {"ThreeDays",
       times(3),
       {first, next_day, day_after},
       SeenUntil(End(30), {{kAt + 2 * kDay, "a", true}})},
      {"FourOfThreeLastADayLonger",
       times(3),
       {first, next_day, day_after, {"exposed", "a", kAt + 2 * kDay + kSecond}},
       SeenUntil(End(31))},
      {"OthersExposuresDoNotCount",
       times(2),
       {first, {"exposed", "b", kAt + kSecond}},
       {{kAt + kSecond, "a", false}, {kAt + kSecond, "b", false}}},
      {"RemovedTheyCountAnew",
       times(2),
       {first, second, {"removed", "a", kAt + kDay}, {"exposed", "a", kAt + 2 * kDay}},
       {{kAt + 2 * kDay, "a", false}}},
      {"RemovedAndShownTwiceAgain",
       times(2),
       {first, second, {"removed", "a", kAt + kDay}, day_after, {"exposed", "a", kAt + 2 * kDay + kSecond}},
       {{kAt + 2 * kDay + kSecond, "a", true}}},
      {"SixtyFourOfADayAreKept", times(64), each_second(64), {{kAt + 63 * kSecond, "a", true}}},
      {"SixtyThreeOfSixtyFour", times(64), each_second(63), {{kAt + 63 * kSecond, "a", false}}},
  };
}
INSTANTIATE_TEST_SUITE_P(Repeats, RepeatBoundaries, testing::ValuesIn(Repeats()), test::NameOf);

std::vector<Row> Cooldowns() {
  const auto cooldown = [](int32_t days, uint32_t exposures_min = 1) {
    return [=](FilterPolicy& filter) {
      filter.cooldown_days = days;
      filter.exposures_min = exposures_min;
      filter.limits.repeated = exposures_min > 1;
    };
  };
  return {
      {"ItComesBackAfterTheCooldown", cooldown(7), {{"exposed", "a", kAt}}, SeenUntil(End(7))},
      {"TheLastMsOfADay", cooldown(7), {{"exposed", "a", kMidnight + kDay - 1}}, SeenUntil(End(7))},
      {"ItsNewestExposureCounts",
       cooldown(7),
       {{"exposed", "a", kAt}, {"exposed", "a", kAt + 3 * kDay}},
       SeenUntil(End(10))},
      {"AnOlderOneThatComesLateDoesNot",
       cooldown(7),
       {{"exposed", "a", kAt + 3 * kDay}, {"exposed", "a", kAt, "", kAt + 3 * kDay}},
       SeenUntil(End(10))},
      {"AsLongAsTheWindow", cooldown(30), {{"exposed", "a", kAt}}, SeenUntil(End(30))},
      {"TwoInTheWindowTheNewestWithinTheCooldown",
       cooldown(7, 2),
       {{"exposed", "a", kAt}, {"exposed", "a", kAt + 20 * kDay}},
       SeenUntil(End(27), {{kAt + 20 * kDay, "a", true}})},
      {"TheFirstOfTwoHasLeftTheWindow",
       cooldown(7, 2),
       {{"exposed", "a", kAt}, {"exposed", "a", kAt + 28 * kDay}},
       SeenUntil(End(30), {{kAt + 28 * kDay, "a", true}})},
  };
}
INSTANTIATE_TEST_SUITE_P(Cooldowns, RepeatBoundaries, testing::ValuesIn(Cooldowns()), test::NameOf);

std::vector<Row> Served() {
  const auto ttl = [](uint32_t seconds) {
    return [seconds](FilterPolicy& filter) {
      filter.limits.served_width_s = std::max<uint32_t>(1, seconds / kServedWidths);
    };
  };
  // A bucket of 300 s begins at kAt. An item served in it counts until 1,800 s after the bucket's end.
  const int64_t end = kAt + 2'100 * kSecond;
  return {
      {"FirstSecondOfAStretch",
       ttl(1'800),
       {{"served", "a", kAt}},
       SeenUntil(end, {{kAt, "a", true}, {end - kSecond, "a", true}})},
      {"LastSecondOfAStretch",
       ttl(1'800),
       {{"served", "a", kAt + 299'999}},
       {{end - kSecond, "a", true}, {end, "a", false}}},
      {"FirstSecondOfTheNext",
       ttl(1'800),
       {{"served", "a", kAt + 300 * kSecond}},
       {{end, "a", true}, {end + 299 * kSecond, "a", true}, {end + 300 * kSecond, "a", false}}},
      {"ServedAgain",
       ttl(1'800),
       {{"served", "a", kAt}, {"served", "a", kAt + 1'000 * kSecond}},
       {{end, "a", true}, {end + 899 * kSecond, "a", true}, {end + 900 * kSecond, "a", false}}},
      {"OfOneSecondsTtl",
       ttl(1),
       {{"served", "a", kAt}},
       {{kAt + 6'999, "a", true}, {kAt + 7'000, "a", false}}},
      {"OfADaysTtl", ttl(86'400), {{"served", "a", kMidnight}}, SeenUntil(kMidnight + 28 * kHour)},
      {"AcrossMidnight",
       ttl(1'800),
       {{"served", "a", kMidnight - kSecond}},
       {{kMidnight + 1'799 * kSecond, "a", true}, {kMidnight + 1'800 * kSecond, "a", false}}},
      {"ReadBeforeItsEnd",
       ttl(1'800),
       {{"served", "a", kAt, "", end - kSecond}},
       {{end - kSecond, "a", true}, {end, "a", false}}},
      {"ReadAtItsEnd", ttl(1'800), {{"served", "a", kAt, "", end}}, {{kAt, "a", false}, {end, "a", false}}},
      {"ServedThenExposed",
       ttl(1'800),
       {{"served", "a", kAt}, {"exposed", "a", kAt + 60 * kSecond}},
       SeenUntil(End(30), {{end, "a", true}})},
      {"ExposedThenServed",
       ttl(1'800),
       {{"exposed", "a", kAt}, {"served", "a", kAt + 60 * kSecond}},
       SeenUntil(End(30), {{end, "a", true}})},
      {"ServedThenRemoved",
       ttl(1'800),
       {{"served", "a", kAt}, {"served", "b", kAt}, {"removed", "a", kAt + 60 * kSecond}},
       {{kAt + 60 * kSecond, "a", false}, {kAt + 60 * kSecond, "b", true}}},
      {"ServedYesterdayRemovedToday",
       ttl(1'800),
       {{"served", "a", kMidnight - kSecond}, {"removed", "a", kMidnight + kSecond}},
       {{kMidnight + kSecond, "a", false}}},
      {"RemovedThenServed",
       ttl(1'800),
       {{"removed", "a", kAt}, {"served", "a", kAt + kSecond}},
       {{kAt + kSecond, "a", true}, {end, "a", false}}},
      {"ServedCountsAtOnceWhereMoreExposuresAreAskedFor",
       [](FilterPolicy& filter) {
         filter.exposures_min = 3;
         filter.limits.repeated = true;
       },
       {{"served", "a", kAt}},
       SeenUntil(end, {{kAt, "a", true}})},
  };
}
INSTANTIATE_TEST_SUITE_P(Served, RepeatBoundaries, testing::ValuesIn(Served()), test::NameOf);

}  // namespace
}  // namespace seen
