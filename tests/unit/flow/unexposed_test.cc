// Served and never shown.
#include "unit/flow/flow_fixture.h"

namespace seen {
namespace {

class UnexposedTest : public test::TimedTest {
 protected:
  static constexpr uint32_t kGrace = 600;
  // When an item served at kNow is due: the end of its bucket, plus TTL, plus grace.
  static constexpr int64_t kDueMs = (kNow / 300'000 + 1 + 6) * 300'000 + kGrace * 1000;

  UnexposedTest() { options.unexposed = UnexposedPolicy{300, kGrace}; }
  /// The wall clock goes along with the records.
  void Send(std::string value, int64_t timestamp_ms) {
    clock.SetWall(std::max(clock.WallNow().value, timestamp_ms));
    TimedTest::Send(std::move(value), timestamp_ms);
  }
  void Tick(int64_t timestamp_ms) { Send(Event("exposed", "tick", timestamp_ms, "clockwork"), timestamp_ms); }
  /// The records of unexposed items that were published, and how often each.
  std::map<std::string, int> Told() const { return topic.told; }
  void Settle() {
    Checkpoint();
    Publish();
    Checkpoint();
  }
};

TEST_F(UnexposedTest, IsToldOfOncePartitionTimeHasPassedBucketTtlAndGrace) {
  Open();
  Send(Event("served", "a", kNow, "u1", R"(,"scene":"home","position":3,"request_id":"r\"1")"), kNow);
  Send(Event("served", "b", kNow), kNow);
  Send(Event("exposed", "b", kNow + 60'000), kNow + 60'000);
  Tick(kDueMs);
  Settle();
  EXPECT_TRUE(Told().empty());
  Tick(kDueMs + 1'000);
  Settle();
  EXPECT_EQ(Told(),
            (std::map<std::string, int>{
                {R"({"user_id":"u1","item_id":"a","served_at":1763700000000,"scene":"home","position":3,)"
                 R"("request_id":"r\"1"})",
                 1}}));
  EXPECT_TRUE(durable.served.empty());
  EXPECT_EQ(flow->unexposed->GetStatus().resolved, 1u);
}

TEST_F(UnexposedTest, OnlyAnExposureReadInTimeResolves) {
  Open();
  Send(Event("served", "late", kNow), kNow);
  Send(Event("served", "just", kNow), kNow);
  Send(Event("served", "before", kNow), kNow);
  Send(Event("exposed", "before", kNow - 400'000), kNow);        // in an earlier bucket: another showing
  Send(Event("exposed", "just", kDueMs), kDueMs);                // partition time is at due time, not past it
  Send(Event("exposed", "late", kNow + 1'000), kDueMs + 1'000);  // shown in time, but read too late
  Settle();
  Tick(kDueMs + 2'000);
  Settle();
  EXPECT_EQ(Told().size(), 2u);
  int late = 0, before = 0;
  for (const auto& [json, times] : Told()) {
    late += json.find("\"late\"") != std::string::npos ? times : 0;
    before += json.find("\"before\"") != std::string::npos ? times : 0;
  }
  EXPECT_EQ(late, 1);
  EXPECT_EQ(before, 1);
}

TEST_F(UnexposedTest, AnExposureMayComeBeforeItsServing) {
  Open();
  Send(Event("exposed", "a", kNow + 2'000), kNow);
  Send(Event("served", "a", kNow), kNow);
  Tick(kDueMs + 2'000);
  Settle();
  EXPECT_TRUE(Told().empty());
}

TEST_F(UnexposedTest, NothingIsLostInACrashAtAnyStep) {
  for (int crash = 0; crash < 5; ++crash) {
    durable = {};
    topic.told.clear();
    topic.topic.clear();
    log.clear();
    Open();
    Send(Event("served", "a" + std::to_string(crash), kNow), kNow);
    if (crash == 0) Open();
    Checkpoint();
    if (crash == 1) Open();
    Tick(kDueMs + 2'000);
    Checkpoint();
    if (crash == 2) Open();
    Publish();
    if (crash == 3) Open();  // published, but the row isn't dropped
    Checkpoint();
    if (crash == 4) Open();
    Publish();
    Settle();
    ASSERT_EQ(Told().size(), 1u) << crash;
    EXPECT_EQ(Told().begin()->second, crash == 3 ? 2 : 1) << crash;
    EXPECT_TRUE(durable.served.empty()) << crash;
  }
}

TEST_F(UnexposedTest, ALateServingIsToldOfAsWell) {
  Open();
  Tick(kDueMs + 2'000);
  Settle();
  Send(Event("served", "a", kNow), kDueMs + 2'000);
  Tick(kDueMs + 3'000);
  Settle();
  Publish();
  EXPECT_EQ(Told().size(), 1u);
}

TEST_F(UnexposedTest, AnErasedUserIsNotToldOf) {
  Open();
  Send(Event("served", "stored", kNow), kNow);
  Checkpoint();
  Send(Event("served", "in the tail", kNow), kNow);
  Send(Event("erased", "", kNow + 1'000), kNow + 1'000);
  Send(Event("served", "after", kNow + 2'000), kNow + 2'000);
  Checkpoint();
  ASSERT_EQ(durable.served.size(), 1u);
  Tick(kDueMs + 300'000);
  Settle();
  ASSERT_EQ(Told().size(), 1u);
  EXPECT_NE(Told().begin()->first.find("after"), std::string::npos);
}

TEST_F(UnexposedTest, WhatResolvesLivesNoLongerThanNeeded) {
  Open();
  Send(Event("served", "a", kNow), kNow);
  Send(Event("exposed", "a", kNow), kNow);
  Checkpoint();
  EXPECT_TRUE(durable.deltas.contains({kResolvingFilter, UserKeyOf("u1")}));
  Tick(kDueMs + 7'200'000);
  Settle();
  Send(Event("exposed", "b", kDueMs + 7'200'000), kDueMs + 7'300'000);
  Checkpoint();
  const auto found = durable.deltas.find({kResolvingFilter, UserKeyOf("u1")});
  ASSERT_NE(found, durable.deltas.end());
  EXPECT_EQ(DecodeDelta(found->second)->others.size(), 1u);
}

TEST_F(UnexposedTest, ARecordOfYearsAheadSilencesNothing) {
  for (const int64_t years : {3, 75, 120}) {
    durable = {};
    topic.told.clear();
    log.clear();
    Open();
    clock.SetWall(kNow);
    Send(Event("served", "a", kNow), kNow);
    TimedTest::Send(Event("exposed", "tick", kNow, "clockwork"), kNow + years * 365 * kMsPerDay);
    Settle();
    EXPECT_TRUE(Told().empty()) << years;
    EXPECT_EQ(flow->state.GetAsOf(clock.Now()).partition_time, TimeMs{kNow}) << years;
    clock.SetWall(kDueMs + 2'000);
    Send(Event("served", "b", kDueMs), kDueMs);
    Tick(kDueMs + 2'000);
    Settle();
    ASSERT_EQ(Told().size(), 1u) << years;
    EXPECT_NE(Told().begin()->first.find(R"("a")"), std::string::npos);
    ASSERT_EQ(durable.served.size(), 1u);
    EXPECT_LT(durable.served.begin()->first.due_s, kDueMs / 1'000 + 3'600) << "b stands at its own second";
  }
}

TEST_F(UnexposedTest, AStoredTimeOfYearsAheadIsCorrectedAtOpening) {
  Open();
  Send(Event("served", "a", kNow), kNow);
  Checkpoint();
  durable.position->partition_time = {kNow + 80 * 365 * kMsPerDay};  // an older version wrote it
  Open();
  EXPECT_EQ(reporter.times_corrected, 1u);
  EXPECT_EQ(flow->state.GetAsOf(clock.Now()).partition_time, TimeMs{kNow}) << "the last record's";
  clock.SetWall(kDueMs + 2'000);
  Tick(kDueMs + 2'000);
  Settle();
  EXPECT_EQ(Told().size(), 1u);
}

}  // namespace
}  // namespace seen
