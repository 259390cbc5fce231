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
  const auto json = nlohmann::json::parse(WatermarkText(status, "the \"group\"", {1'763'700'001'000}));
  EXPECT_EQ(json, nlohmann::json({{"version", 1},
                                  {"group", "the \"group\""},
                                  {"partition", 3},
                                  {"partition_time_ms", 1'763'700'000'123},
                                  {"next_offset", 4'711},
                                  {"lag_messages", 17},
                                  {"unpublished_users", 2},
                                  {"heartbeat_ms", 1'763'700'001'000}}));
}

}  // namespace
}  // namespace seen
