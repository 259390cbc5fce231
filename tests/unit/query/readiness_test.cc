#include <gtest/gtest.h>

#include "query/daemon_status.h"

namespace seen {
namespace {

constexpr int64_t kLagMax = 100;

PartitionStatus Partition(int32_t number, std::string state, std::string reason = "") {
  PartitionStatus partition;
  partition.partition = number;
  partition.answers = state == "ready" || state == "held" || state == "unassigned";
  partition.assigned = state != "unassigned";
  partition.state = std::move(state);
  partition.reason = std::move(reason);
  return partition;
}

DaemonStatus With(std::vector<PartitionStatus> partitions) {
  DaemonStatus status;
  status.topic = "exposures";
  for (const PartitionStatus& partition : partitions) {
    if (partition.IsRefused()) status.unread.refused.push_back({partition.partition, partition.reason, {}});
  }
  status.partitions = std::move(partitions);
  return status;
}

TEST(ReadinessTest, ADaemonThatPassesRequestsOnIsReadyWithoutPartitions) {
  DaemonStatus status = With({});
  status.passes_on = true;
  EXPECT_TRUE(JudgeReadiness(status, kLagMax, {}, false).ready);
  EXPECT_FALSE(JudgeReadiness(status, kLagMax, {"partitions are being opened"}, false).ready);
  status = With({Partition(0, "opening")});
  status.passes_on = true;
  EXPECT_FALSE(JudgeReadiness(status, kLagMax, {}, false).ready) << "its own come first";
  EXPECT_TRUE(JudgeReadiness(status, kLagMax, {}, true).ready);
  status = With({Partition(0, "unassigned")});
  status.partitions[0].answers = false;
  status.passes_on = true;
  EXPECT_TRUE(JudgeReadiness(status, kLagMax, {}, false).ready) << "the new owner answers for it";
  status.not_ready_reason = "Kafka was never reached";
  EXPECT_FALSE(JudgeReadiness(status, kLagMax, {}, true).ready);
}

TEST(ReadinessTest, WaitsForEveryPartitionThatIsReadAndThenStaysWhileAnyAnswers) {
  struct Case {
    const char* name;
    std::vector<PartitionStatus> partitions;
    bool at_first;  // expected before the daemon was ready once
    bool later;     // expected after it was ready once
    size_t troubles;
  };
  PartitionStatus behind = Partition(1, "ready");
  behind.lag_messages = kLagMax + 1;
  PartitionStatus given_away = Partition(1, "unassigned");
  given_away.lag_messages = kLagMax + 1;
  PartitionStatus never_read = Partition(1, "unassigned");
  never_read.answers = false;
  const Case cases[] = {
      {"nothing is assigned", {}, false, false, 1},
      {"all are ready", {Partition(0, "ready"), Partition(1, "ready")}, true, true, 0},
      {"one catches up", {Partition(0, "ready"), Partition(1, "catching_up")}, false, true, 1},
      {"one opens", {Partition(0, "ready"), Partition(1, "opening")}, false, true, 1},
      {"one is stopped", {Partition(0, "ready"), Partition(1, "stopped")}, true, true, 1},
      {"one is too far behind", {Partition(0, "ready"), behind}, false, true, 1},
      {"the only one is too far behind", {behind}, false, false, 1},
      {"one is held, and answers", {Partition(0, "ready"), Partition(1, "held")}, true, true, 1},
      {"all are held, and answer", {Partition(0, "held"), Partition(1, "held")}, true, true, 2},
      {"all are unassigned, and answer", {Partition(0, "unassigned")}, true, true, 1},
      {"one was given away, and gets older", {Partition(0, "ready"), given_away}, true, true, 1},
      {"one was given away before it answered", {Partition(0, "ready"), never_read}, true, true, 1},
      {"the only one was given away before it answered", {never_read}, false, false, 1},
      {"all are stopped", {Partition(0, "stopped"), Partition(1, "stopped")}, false, false, 2},
  };
  for (const Case& c : cases) {
    const auto at_first = JudgeReadiness(With(c.partitions), kLagMax, {}, false);
    const auto later = JudgeReadiness(With(c.partitions), kLagMax, {}, true);
    EXPECT_EQ(at_first.ready, c.at_first) << c.name;
    EXPECT_EQ(later.ready, c.later) << c.name;
    EXPECT_EQ(later.troubles.size(), c.troubles) << c.name;
    EXPECT_EQ(at_first.reason.empty(), at_first.ready) << c.name;
  }
}

TEST(ReadinessTest, IsNotReadyWhileNothingWorks) {
  DaemonStatus status = With({Partition(0, "ready")});
  status.not_ready_reason = "starting";
  const auto readiness = JudgeReadiness(status, kLagMax, {}, true);
  EXPECT_FALSE(readiness.ready);
  EXPECT_EQ(readiness.reason, "starting");
}

TEST(ReadinessTest, SaysOnceForAllPartitionsThatUpdatesAreNotTaken) {
  DaemonStatus status = With({Partition(0, "ready"), Partition(1, "ready"), Partition(2, "ready")});
  for (PartitionStatus& partition : status.partitions) partition.updates.emplace();
  status.partitions[0].updates->problem = status.partitions[2].updates->problem = "Unknown partition";
  const auto readiness = JudgeReadiness(status, kLagMax, {}, true);
  EXPECT_TRUE(readiness.ready);
  ASSERT_EQ(readiness.troubles.size(), 1u);
  EXPECT_TRUE(readiness.troubles[0].starts_with(
      "the topic of updates (updates.topic) takes no records of partitions 0, 2: Unknown partition."))
      << readiness.troubles[0];
}

TEST(ReadinessTest, BecomesReadyOnlyWhenNothingElseIsWaitedFor) {
  const DaemonStatus status = With({Partition(0, "ready")});
  EXPECT_FALSE(JudgeReadiness(status, kLagMax, {"partitions are being opened"}, false).ready);
  EXPECT_TRUE(JudgeReadiness(status, kLagMax, {"partitions are being opened"}, true).ready);
}

TEST(ReadinessTest, NamesRefusedAndUnownedPartitionsAndIsReadyForTheOthers) {
  DaemonStatus status = With({Partition(0, "ready")});
  status.unread = {{{3, "there is no state. Remedy: mount it", {}}}, {5, 6}};
  status.rekeying = RekeyingStatus{};
  status.rekeying->source_topic = "raw";
  status.rekeying->unread.unowned = {1};
  status.items = ItemsStatus{};
  status.items->ordered_topic = "items";
  status.items->unread.refused = {{0, "the topic was recreated", {}}};
  const auto readiness = JudgeReadiness(status, kLagMax, {}, false);
  EXPECT_TRUE(readiness.ready);
  EXPECT_EQ(readiness.reason, "");
  ASSERT_EQ(readiness.troubles.size(), 4U);
  EXPECT_EQ(readiness.troubles[0],
            R"(partition 3 of "exposures" is refused: there is no state. Remedy: mount it)");
  EXPECT_TRUE(readiness.troubles[1].find(R"(partitions 5, 6 of "exposures")") != std::string::npos);
  EXPECT_TRUE(readiness.troubles[2].find(R"(partitions 1 of "raw")") != std::string::npos);
  EXPECT_EQ(readiness.troubles[3], R"(partition 0 of "items" is refused: the topic was recreated)");
}

TEST(ReadinessTest, IsNotReadyWhereEverythingIsRefused) {
  DaemonStatus status = With({});
  status.unread.refused = {{0, "no state", {}}, {1, "no state", {}}};
  const auto readiness = JudgeReadiness(status, kLagMax, {}, true);
  EXPECT_FALSE(readiness.ready);
  EXPECT_EQ(readiness.reason,
            R"(partition 0 of "exposures" is refused: no state; and 1 more: see "troubles" in /v1/status)");
}

TEST(ReadinessTest, SaysThatBrokersDontAnswerAndStaysReady) {
  PartitionStatus partition = Partition(0, "ready");
  partition.lag_is_known = false;
  const auto readiness = JudgeReadiness(With({partition}), kLagMax, {}, true);
  EXPECT_TRUE(readiness.ready);
  ASSERT_EQ(readiness.troubles.size(), 1U);
  EXPECT_TRUE(readiness.troubles[0].find("brokers don't answer") != std::string::npos);
}

}  // namespace
}  // namespace seen
