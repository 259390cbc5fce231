#include "owner/beat.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace seen {
namespace {

TEST(Beat, SaysWhatSchemasSnapshotSays) {
  const Beat beat{.from = {"the \"group\"", "seend-1", "host:8080"},
                  .partition = 3,
                  .partition_time = {1'763'700'000'123},
                  .next_offset = 4'711,
                  .lag_messages = 17,
                  .unpublished_users = 2,
                  .at = {1'763'700'001'000}};
  EXPECT_EQ(nlohmann::json::parse(EncodeBeat(beat)), nlohmann::json({{"version", 1},
                                                                     {"group", "the \"group\""},
                                                                     {"instance", "seend-1"},
                                                                     {"address", "host:8080"},
                                                                     {"partition", 3},
                                                                     {"partition_time_ms", 1'763'700'000'123},
                                                                     {"next_offset", 4'711},
                                                                     {"lag_messages", 17},
                                                                     {"unpublished_users", 2},
                                                                     {"heartbeat_ms", 1'763'700'001'000}}));
}

TEST(Beat, NeverSaysThatAllIsReadWhileTheLogsEndIsUnknown) {
  for (const int64_t lag : {0, 17}) {
    const auto json = nlohmann::json::parse(EncodeBeat({.lag_messages = lag, .lag_is_known = false}));
    EXPECT_EQ(json["lag_known"], false);
    EXPECT_EQ(json["lag_messages"], std::max<int64_t>(1, lag)) << "readers take 0 for: as fresh as the beat";
  }
}

TEST(Beat, IsReadAsItWasWritten) {
  const Beat beat{.from = {"group", "seend-1", "host:8080", true},
                  .partition = 3,
                  .state = "ready",
                  .next_offset = 4'711,
                  .lag_messages = 17,
                  .lag_is_known = false,
                  .published_to = 99};
  const std::string text = EncodeBeat(beat);
  EXPECT_EQ(nlohmann::json::parse(text)["role"], "replica");
  const auto read = ParseBeat(text);
  ASSERT_TRUE(read);
  EXPECT_EQ(EncodeBeat(*read), text);
}

TEST(Beat, OfAnEarlierVersionNamesNeitherInstanceNorState) {
  const auto beat = ParseBeat(R"({"version":1,"group":"seen","partition":1,"lag_messages":5})");
  ASSERT_TRUE(beat);
  EXPECT_EQ(beat->from.instance, "");
  EXPECT_EQ(beat->state, "");
  EXPECT_EQ(beat->published_to, -1);
  for (const char* text : {"", "[]", "{}", R"({"partition":-1})", R"({"partition":"1"})"})
    EXPECT_FALSE(ParseBeat(text)) << text;
}

// Both groups would replace each other's snapshots for ever.
TEST(OtherGroups, AGroupPublishesNowIfItsBeatIsNewerThanBefore) {
  constexpr const char* kOther = R"({"group":"other","partition":0})";
  OtherGroups before("seen");
  before.Hear("0", 10, kOther);
  before.Hear("1", 11, R"({"group":"seen","partition":1})");
  before.Hear("2", 12, R"({"partition":2})");
  EXPECT_EQ(before.Any(), "other");
  OtherGroups now = before;
  EXPECT_EQ(now.WritesSince(before), std::nullopt) << "the other group has stopped";
  now.Hear("1", 20, R"({"group":"seen","partition":1})");
  EXPECT_EQ(now.WritesSince(before), std::nullopt);
  now.Hear("0", 21, kOther);
  EXPECT_EQ(now.WritesSince(before), "other");
  now.Hear("0", 22, R"({"group":"seen","partition":0})");
  EXPECT_EQ(now.Any(), std::nullopt);
}

}  // namespace
}  // namespace seen
