#include "topics/retention_watch.h"

#include <gtest/gtest.h>

#include "model/day.h"

namespace seen {
namespace {

using Heard = Result<std::optional<int64_t>>;

TEST(RetentionWatch, WarnsOnceOfARetentionBelowTheWindowAndNamesTheRemedy) {
  RetentionWatch watch("exposures", 30);
  EXPECT_EQ(watch.Heard(std::optional<int64_t>()), "") << "unlimited";
  EXPECT_EQ(watch.Heard(std::optional(30 * kMsPerDay)), "") << "just as long";
  const std::string warning = watch.Heard(std::optional(7 * kMsPerDay));
  for (const char* const part :
       {"exposures", "7.0 days", "retention.ms = 604800000", "30 days", "2678400000"})
    EXPECT_NE(warning.find(part), std::string::npos) << part << ": " << warning;
  EXPECT_EQ(watch.retention_ms(), 7 * kMsPerDay);
  EXPECT_EQ(watch.Heard(std::optional(7 * kMsPerDay)), "");
  EXPECT_NE(watch.Heard(std::optional(8 * kMsPerDay)), "") << "it was changed, and is still too short";
  EXPECT_EQ(watch.Heard(std::optional(40 * kMsPerDay)), "");
  EXPECT_NE(watch.Heard(std::optional(7 * kMsPerDay)), "");
}

TEST(RetentionWatch, SaysOnceThatBrokersForbidTheQuestionAndNothingWhileTheyAreAway) {
  RetentionWatch watch("exposures", 30);
  EXPECT_EQ(watch.Heard(Heard(Fail(Code::kUnavailable, "no answer"))), "");
  const Heard forbidden = Fail(Code::kDenied, "Topic authorization failed");
  EXPECT_NE(watch.Heard(forbidden).find("Topic authorization failed"), std::string::npos);
  EXPECT_EQ(watch.Heard(forbidden), "");
  EXPECT_EQ(watch.retention_ms(), std::nullopt);
}

TEST(RetentionWatch, TheLongestWindowIsOfAllFiltersAndKinds) {
  Config config;
  config.filters.resize(2);
  config.filters[0].window_days = 7;
  config.filters[1].window_days = 14;
  EXPECT_EQ(LongestWindowDays(config), 14);
  config.filters[0].kinds.push_back({"bought", 365});
  EXPECT_EQ(LongestWindowDays(config), 365);
}

}  // namespace
}  // namespace seen
