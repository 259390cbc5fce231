// The millisecond from which on an exposure doesn't count any more. A row per case.
#include <chrono>

#include "unit/flow/boundary_fixture.h"

namespace seen {
namespace {

using test::BoundaryTest;
using test::kDay;
using test::kHour;
using test::Row;
using test::SeenUntil;
using test::Sent;

class WindowBoundaries : public BoundaryTest {};
TEST_P(WindowBoundaries, Hold) { Run(GetParam()); }

constexpr int64_t kMidnight = 20'413 * kDay;  // 2025-11-21

int64_t MidnightOf(int year, unsigned month, unsigned day) {
  const std::chrono::sys_days date{std::chrono::year(year) / std::chrono::month(month) /
                                   std::chrono::day(day)};
  return date.time_since_epoch().count() * kDay;
}

std::function<void(FilterPolicy&)> Window(int32_t days) {
  return [days](FilterPolicy& filter) { filter.window_days = days; };
}

// One exposure, seen until the last moment before `end_ms`.
Row Until(std::string name, int32_t window_days, int64_t at_ms, int64_t end_ms) {
  return {std::move(name),
          Window(window_days),
          {{"exposed", "a", at_ms}},
          SeenUntil(end_ms, {{at_ms, "a", true}})};
}

std::vector<Row> Midnights() {
  std::vector<Row> rows;
  for (const int32_t days : {1, 30, 3'650}) {
    const int64_t end = kMidnight + (days + 1) * kDay;
    const std::string of = "Of" + std::to_string(days);
    rows.push_back(Until(of + "FirstMsOfADay", days, kMidnight, end));
    rows.push_back(Until(of + "Noon", days, kMidnight + 12 * kHour, end));
    rows.push_back(Until(of + "LastMsOfADay", days, kMidnight + kDay - 1, end));
    rows.push_back(Until(of + "LastMsOfTheDayBefore", days, kMidnight - 1, end - kDay));
    // The time of the event's own record decides whether the event is too late.
    const int64_t record = kMidnight + days * kDay + 5 * kHour;
    rows.push_back({of + "ReadOnItsLastDay",
                    Window(days),
                    {{"exposed", "a", kMidnight, "", record}},
                    SeenUntil(end, {{record, "a", true}})});
    rows.push_back({of + "ReadADayTooLate",
                    Window(days),
                    {{"exposed", "a", kMidnight - 1, "", record}},
                    {{kMidnight, "a", false}, {record, "a", false}}});
  }
  return rows;
}

std::vector<Row> LeapDays() {
  const int64_t feb28 = MidnightOf(2028, 2, 28), feb29 = MidnightOf(2028, 2, 29);
  return {
      Until("DayBeforeTheLeapDay", 1, feb28 + kHour, MidnightOf(2028, 3, 1)),
      Until("OneDayFromTheLeapDay", 1, feb29 + kHour, MidnightOf(2028, 3, 2)),
      Until("ThirtyDaysFromTheLeapDay", 30, feb29 + kHour, MidnightOf(2028, 3, 31)),
      Until("ThirtyDaysAcrossTheLeapDay", 30, MidnightOf(2028, 2, 10), MidnightOf(2028, 3, 12)),
      Until("AYearFromTheLeapDay", 365, feb29 + kDay - 1, MidnightOf(2029, 3, 1)),
      Until("AYearToTheLeapDay", 365, MidnightOf(2027, 3, 1), feb29 + kDay),
      Until("FourYearsFromLeapDayToLeapDay", 1'461, feb29, MidnightOf(2032, 3, 1)),
  };
}

std::vector<Row> LateOnes() {
  const auto day = [](int64_t days) { return kMidnight + days * kDay + 7 * kHour; };
  return {
      {"DaysComeInReverse",
       Window(3),
       {{"exposed", "c", day(2), "", day(2)},
        {"exposed", "b", day(1), "", day(2)},
        {"exposed", "a", day(0), "", day(2)}},
       {{kMidnight + 4 * kDay - 1, "a", true},
        {kMidnight + 4 * kDay, "a", false},
        {kMidnight + 4 * kDay, "b", true},
        {kMidnight + 5 * kDay, "b", false},
        {kMidnight + 6 * kDay - 1, "c", true},
        {kMidnight + 6 * kDay, "c", false}}},
      {"AnOlderExposureShortensNothing",
       Window(3),
       {{"exposed", "a", day(2)}, {"exposed", "a", day(0), "", day(2)}},
       SeenUntil(kMidnight + 6 * kDay)},
      {"ANewerExposureProlongs",
       Window(3),
       {{"exposed", "a", day(0)}, {"exposed", "a", day(3)}},
       SeenUntil(kMidnight + 7 * kDay)},
      {"ALateOneDoesNotUndoARemoval",
       Window(3),
       {{"exposed", "a", day(1)}, {"removed", "a", day(2)}, {"exposed", "a", day(0), "", day(2)}},
       {{day(2), "a", false}}},
      {"ALateRemovalLeavesWhatCameAfterIt",
       Window(3),
       {{"exposed", "a", day(2)},
        {"exposed", "b", day(1)},
        {"removed", "a", day(1), "", day(2)},
        {"removed", "b", day(1), "", day(2)}},
       {{day(2), "a", true}, {day(2), "b", false}}},
      {"OfOneDayTheLogDecides",
       Window(3),
       {{"exposed", "a", day(0)},
        {"removed", "a", day(0)},
        {"removed", "b", day(0)},
        {"exposed", "b", day(0)}},
       {{day(0), "a", false}, {day(0), "b", true}}},
  };
}

INSTANTIATE_TEST_SUITE_P(Midnights, WindowBoundaries, testing::ValuesIn(Midnights()), test::NameOf);
INSTANTIATE_TEST_SUITE_P(LeapDays, WindowBoundaries, testing::ValuesIn(LeapDays()), test::NameOf);
INSTANTIATE_TEST_SUITE_P(LateOnes, WindowBoundaries, testing::ValuesIn(LateOnes()), test::NameOf);

// --- by creation

std::string Created(int64_t ms) { return R"(,"item_created_at":)" + std::to_string(ms); }

std::vector<Row> ByCreation() {
  const auto by_creation = [](FilterPolicy& filter) {
    filter.window_days = 30;
    filter.window_by = WindowBy::kItemCreatedAt;
  };
  const int64_t shown = kMidnight + 9 * kHour;
  const auto of = [&](std::string name, std::string more, int64_t end_ms) -> Row {
    return {std::move(name),
            by_creation,
            {{"exposed", "a", shown, std::move(more)}},
            SeenUntil(end_ms, {{shown, "a", true}})};
  };
  return {
      of("CreatedToday", Created(kMidnight), kMidnight + 31 * kDay),
      of("CreatedTwentyDaysBefore", Created(kMidnight - 20 * kDay), kMidnight + 11 * kDay),
      of("CreatedInTheLastMsOfADay", Created(kMidnight - 20 * kDay - 1), kMidnight + 10 * kDay),
      of("CreatedThirtyDaysBefore", Created(kMidnight - 30 * kDay), kMidnight + kDay),
      {"CreatedBeforeTheWindow",
       by_creation,
       {{"exposed", "a", shown, Created(kMidnight - 30 * kDay - 1)}},
       {{kMidnight, "a", false}, {shown, "a", false}}},
      of("WithoutATimeItGoesByTheExposure", "", kMidnight + 31 * kDay),
      of("CreatedLaterThanShownGoesByTheExposure", Created(shown + 3 * kDay), kMidnight + 31 * kDay),
      {"ShownAgainItIsNotProlonged",
       by_creation,
       {{"exposed", "a", shown, Created(kMidnight - 20 * kDay)},
        {"exposed", "a", shown + 5 * kDay, Created(kMidnight - 20 * kDay)}},
       SeenUntil(kMidnight + 11 * kDay)},
      {"RemovedByTheDayItWasShown",
       by_creation,
       {{"exposed", "a", shown, Created(kMidnight - 20 * kDay)},
        {"exposed", "b", shown, Created(kMidnight - 20 * kDay)},
        {"removed", "a", shown + kDay},
        {"removed", "b", shown - kDay, "", shown + kDay}},
       {{shown + kDay, "a", false}, {shown + kDay, "b", true}}},
  };
}
INSTANTIATE_TEST_SUITE_P(ByCreation, WindowBoundaries, testing::ValuesIn(ByCreation()), test::NameOf);

// --- declared kinds

std::vector<Row> Declared() {
  const auto kinds = [](FilterPolicy& filter) {
    filter.window_days = 30;
    filter.kinds = {{"clicked", kDeclaredKindFirst, 7}, {"purchased", kDeclaredKindFirst + 1, 365}};
  };
  const int64_t at = kMidnight + 9 * kHour;
  const auto end = [](int64_t days) { return kMidnight + (days + 1) * kDay; };
  return {
      {"AShorterWindow", kinds, {{"clicked", "a", at}}, SeenUntil(end(7))},
      {"ALongerWindow", kinds, {{"purchased", "a", at}}, SeenUntil(end(365))},
      {"ExposedAndClickedTheExposureStays",
       kinds,
       {{"exposed", "a", at}, {"clicked", "a", at}},
       SeenUntil(end(30), {{end(7), "a", true}})},
      {"ExposedAndPurchasedThePurchaseStays",
       kinds,
       {{"exposed", "a", at}, {"purchased", "a", at}, {"exposed", "b", at}},
       SeenUntil(end(365), {{end(30), "a", true}, {end(30), "b", false}})},
      {"ReadOnTheLastDayOfItsOwnWindow",
       kinds,
       {{"purchased", "a", at, "", at + 365 * kDay}, {"clicked", "b", at, "", at + 7 * kDay}},
       {{at + 7 * kDay, "b", true}, {at + 365 * kDay, "a", true}}},
      {"ReadTooLateForItsOwnWindow",
       kinds,
       {{"clicked", "b", at, "", at + 8 * kDay}, {"purchased", "a", at, "", at + 366 * kDay}},
       {{at, "a", false}, {at, "b", false}}},
      {"RemovedOutsideOfTheFiltersWindow",
       kinds,
       {{"purchased", "a", at}, {"purchased", "b", at}, {"removed", "a", at + 100 * kDay}},
       {{at + 100 * kDay, "a", false}, {at + 100 * kDay, "b", true}}},
      {"AFilterWithoutTheKindIgnoresIt",
       [](FilterPolicy& filter) {
         filter.kinds = {{"clicked", kDeclaredKindFirst, 7}};
       },
       {{"purchased", "a", at}, {"clicked", "b", at}},
       {{at, "a", false}, {at, "b", true}}},
  };
}
INSTANTIATE_TEST_SUITE_P(DeclaredKinds, WindowBoundaries, testing::ValuesIn(Declared()), test::NameOf);

}  // namespace
}  // namespace seen
