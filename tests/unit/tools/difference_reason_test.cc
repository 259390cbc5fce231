#include "tools/compare/difference_reason.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "model/day.h"

namespace seen {
namespace {

using Json = nlohmann::json;

constexpr TimeMs kNow{1'763'700'000'000};  // 2025-11-21T04:40:00Z

Json Why(const std::string& because, const std::string& more = "{}") {
  Json why = Json::parse(R"({"item":"a","in_snapshot":null,"similar":null,"segments":[],"removed_until":null,
                             "erased_until":null,"exposures":null,"journal":null})");
  why["because"] = because;
  why["seen"] = because == "exposed" || because == "served";
  why.update(Json::parse(more));
  return why;
}

Json SegmentJson(const std::string& kind, int days_ago, bool counts) {
  const int64_t at = kNow.value - days_ago * kMsPerDay;
  return {{"kind", kind}, {"first_at_ms", at}, {"last_at_ms", at}, {"counts", counts}, {"until_ms", nullptr}};
}

std::string KeyOf(OnlySide side, const Json& why, const Json& segments = nullptr, TimeMs old_since = {0},
                  bool has_created_at = false) {
  FilterDifference difference;
  difference.side = side;
  difference.old_since = old_since;
  difference.has_created_at = has_created_at;
  return DifferenceReasonOf(difference, why, segments, kNow).key;
}

TEST(DifferenceReason, OfWhatOnlyThisFilterDropsIsWhatWhySays) {
  const auto shown = [](const std::string& kind, int days_ago) {
    Json why = Why("exposed");
    why["segments"] = {SegmentJson(kind, days_ago, true), SegmentJson("exposed", 29, true)};
    return KeyOf(OnlySide::kNew, why);
  };
  EXPECT_EQ(shown("exposed", 0), "exposed_today");
  EXPECT_EQ(shown("exposed", 1), "exposed_1_to_6_days_ago");
  EXPECT_EQ(shown("exposed", 7), "exposed_7_to_29_days_ago");
  EXPECT_EQ(shown("click", 6), "click_1_to_6_days_ago");
  EXPECT_EQ(KeyOf(OnlySide::kNew, Why("served")), "served");
  EXPECT_EQ(KeyOf(OnlySide::kNew, Why("similar")), "similar");
  EXPECT_EQ(KeyOf(OnlySide::kNew, Why("false_positive", R"({"false_positive_of":"fingerprint"})")),
            "fingerprint_collision");
  EXPECT_EQ(KeyOf(OnlySide::kNew, Why("false_positive", R"({"false_positive_of":"filter"})")),
            "changed_meanwhile");
  EXPECT_EQ(KeyOf(OnlySide::kNew, Why("not_seen")), "changed_meanwhile");
}

TEST(DifferenceReason, OfWhatIsKeptButDoesNotCount) {
  Json why = Why("not_seen");
  why["segments"] = {SegmentJson("exposed", 31, false)};
  FilterDifference difference;
  EXPECT_TRUE(NeedsSegments(difference, why));
  EXPECT_FALSE(NeedsSegments(difference, Why("not_seen")));
  EXPECT_EQ(KeyOf(OnlySide::kOld, why), "window_left");
  const int64_t at = why["segments"][0]["last_at_ms"];
  Json segments = {
      {"segments", {{{"kind", "repeated"}, {"from_ms", at}, {"to_ms", at + 1}, {"in_window", false}}}}};
  EXPECT_EQ(KeyOf(OnlySide::kOld, why, segments), "window_left");
  segments["segments"][0]["in_window"] = true;
  EXPECT_EQ(KeyOf(OnlySide::kOld, why, segments), "not_enough");
  why["segments"] = {SegmentJson("served", 1, false)};
  EXPECT_EQ(KeyOf(OnlySide::kOld, why, segments), "served_ended");
}

TEST(DifferenceReason, OfWhatIsNotKeptAtAll) {
  const auto journal = [](const char* exposures, const char* whole_from) {
    return Why("not_seen", std::string(R"({"exposures":)") + exposures + R"(,"journal":{"whole_from":)" +
                               whole_from + "}}");
  };
  EXPECT_EQ(KeyOf(OnlySide::kOld, Why("not_seen", R"({"removed_until":"2025-11-20"})")), "taken_back");
  EXPECT_EQ(KeyOf(OnlySide::kOld, Why("not_seen", R"({"erased_until":"2025-11-20"})")), "erased");
  EXPECT_EQ(KeyOf(OnlySide::kOld, journal(R"([{"kind":"exposed"}])", "null")), "window_left");
  EXPECT_EQ(KeyOf(OnlySide::kOld, journal("[]", "null")), "never_shown");
  EXPECT_EQ(KeyOf(OnlySide::kOld, journal("[]", R"("2025-10-22")")), "never_shown");
  EXPECT_EQ(KeyOf(OnlySide::kOld, journal("[]", R"("2025-10-23")")), "not_known");
  const TimeMs yesterday{kNow.value - kMsPerDay};
  EXPECT_EQ(KeyOf(OnlySide::kOld, journal("[]", R"("2025-11-20")"), nullptr, yesterday), "never_shown");
  EXPECT_EQ(KeyOf(OnlySide::kOld, journal("[]", R"("2025-11-21")"), nullptr, yesterday),
            "not_known_old_since_1_to_6_days_ago");
  EXPECT_EQ(KeyOf(OnlySide::kOld, Why("not_seen")), "not_known");
}

TEST(DifferenceReason, OfWhatIsSeenAfterAll) {
  Json why = Why("exposed");
  why["segments"] = {SegmentJson("exposed", 3, true)};
  EXPECT_EQ(KeyOf(OnlySide::kOld, why), "changed_meanwhile");
  EXPECT_EQ(KeyOf(OnlySide::kOld, why, nullptr, {0}, true), "created_later");
  EXPECT_EQ(KeyOf(OnlySide::kOld, Why("similar")), "similar_demoted");
  EXPECT_THROW(KeyOf(OnlySide::kOld, Json::object()), Json::exception);
}

}  // namespace
}  // namespace seen
