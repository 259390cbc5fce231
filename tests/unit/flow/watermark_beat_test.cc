#include "flow/watermark_beat.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace seen {
namespace {

TEST(WatermarkBeat, SaysWhatSchemasSnapshotSays) {
  PartitionStatus status;
  status.partition = 3;
  status.partition_time = {1'763'700'000'123};
  status.next_offset = 4'711;
  status.lag_messages = 17;
  status.marks_outstanding = 2;
  const auto json = nlohmann::json::parse(
      WatermarkText(status, {"the \"group\"", "seend-1", "host:8080"}, {1'763'700'001'000}));
  EXPECT_EQ(json, nlohmann::json({{"version", 1},
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

TEST(WatermarkBeat, NeverSaysThatAllIsReadWhileTheLogsEndIsUnknown) {
  for (const int64_t lag : {0, 17}) {
    PartitionStatus status;
    status.lag_messages = lag;
    status.lag_is_known = false;
    const auto json = nlohmann::json::parse(WatermarkText(status, {"group", "", ""}, {1}));
    EXPECT_EQ(json["lag_known"], false);
    EXPECT_EQ(json["lag_messages"], std::max<int64_t>(1, lag)) << "readers take 0 for: as fresh as the beat";
  }
}

TEST(WatermarkBeat, SaysHowFarAllIsPublishedAndThatAReplicaIsOne) {
  PartitionStatus status;
  status.published_to = 99;
  const auto json = nlohmann::json::parse(WatermarkText(status, {"group", "", "", true}, {1}));
  EXPECT_EQ(json["published_to"], 99);
  EXPECT_EQ(json["role"], "replica");
}

}  // namespace
}  // namespace seen
