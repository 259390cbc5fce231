#include "tools/ask/status_screen.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace seen {
namespace {

constexpr TimeMs kNow{1'700'000'000'000};

nlohmann::json Status() {
  return nlohmann::json::parse(R"({
    "version": "1.2.3", "ready": true, "troubles": [], "started_at_ms": 1699996400000, "brokers": "k:9092",
    "brokers_reachable": true, "instance_id": "a", "role": "owner", "owner_group": "seend", "topic": "exposures",
    "partitions_total": 12, "partitions_refused": [], "partitions_unowned": [], "state_topic": null,
    "partitions": [
      {"partition": 0, "state": "ready", "reason": "", "lag_messages": 0, "age_ms": 120, "marks_outstanding": 3,
       "last_checkpoint_at_ms": 1699999995000, "store": {"bytes": 12582912}, "lost_ranges": [],
       "filters": [{"filter": "home", "complete_since": null}]},
      {"partition": 11, "state": "held", "reason": "the disk is full", "lag_messages": 1234567, "age_ms": null,
       "marks_outstanding": 0, "last_checkpoint_at_ms": null, "store": {"bytes": 0},
       "lost_ranges": [{"messages": 7}], "filters": [{"filter": "home", "complete_since": 1698796800000}]}]})");
}

TEST(StatusScreen, ShowsWhatIsWrongFirstAndAlignsWhatIsMany) {
  nlohmann::json status = Status();
  status["troubles"] = {"partition 11: the disk is full"};
  const StatusScreen screen = MakeStatusScreen(status, kNow);
  EXPECT_FALSE(screen.is_well);
  EXPECT_EQ(screen.verdict, "READY, with troubles");
  EXPECT_EQ(
      screen.text,
      "  ! partition 11: the disk is full\n"
      "daemon      1.2.3 as a, owner, up 60 min\n"
      "brokers     k:9092, reachable\n"
      "topic       exposures: 2 of 12 partitions here\n"
      "\n"
      "partition  state        lag    age  unpublished  checkpoint     store  lost  filters\n"
      "        0  ready          0  0.1 s            3   5.0 s ago  12.0 MiB        whole\n"
      "       11  held   1,234,567      ?            0    none yet       0 B     7  home since 2023-11-01\n"
      "partition 11: the disk is full\n");
}

TEST(StatusScreen, LeavesOutWhatSaysNothing) {
  nlohmann::json status = Status();
  status["partitions"].erase(1);
  const StatusScreen screen = MakeStatusScreen(status, kNow);
  EXPECT_TRUE(screen.is_well);
  EXPECT_EQ(screen.verdict, "READY");
  EXPECT_EQ(screen.text.find("lost"), std::string::npos);
  EXPECT_EQ(screen.text.find("refused"), std::string::npos);
}

TEST(StatusScreen, NamesReplicasRestoresAndPartitionsOfNobody) {
  nlohmann::json status = Status();
  status["ready"] = false;
  status["role"] = "replica";
  status["brokers_reachable"] = false;
  status["partitions_unowned"] = {1, 2, 3};
  status["partitions_refused"] = {{{"partition", 4}}};
  status["state_topic"] = {{"restores", {{{"partition", 5}, {"share", 0.25}, {"seconds_left", 90.0}}}}};
  const StatusScreen screen = MakeStatusScreen(status, kNow);
  EXPECT_EQ(screen.verdict, "NOT READY");
  for (const char* part : {"replica, of group seend", "OUT OF REACH", "1 refused", "3 unowned",
                           "restores    partition 5: 25%, 90 s left"})
    EXPECT_NE(screen.text.find(part), std::string::npos) << part << "\n" << screen.text;
}

TEST(StatusScreen, TakesTheStatusOfAnotherVersion) {
  for (const char* text : {"{}", R"({"partitions": [{}], "troubles": null, "state_topic": {}})",
                           R"({"partitions": 5, "ready": true})"}) {
    EXPECT_FALSE(MakeStatusScreen(nlohmann::json::parse(text), kNow).text.empty()) << text;
  }
}

TEST(StatusScreen, WritesSpansInTheLargestUnitThatSaysEnough) {
  EXPECT_EQ(SpanText(-5), "0.0 s");
  EXPECT_EQ(SpanText(300), "0.3 s");
  EXPECT_EQ(SpanText(12'000), "12 s");
  EXPECT_EQ(SpanText(240'000), "4 min");
  EXPECT_EQ(SpanText(3 * 3'600'000), "3 h");
  EXPECT_EQ(SpanText(9 * 86'400'000LL), "9 d");
}

}  // namespace
}  // namespace seen
