// What beats say around a cut of a snapshot topic.
#include "consume/output_watch.h"

#include <gtest/gtest.h>

#include "flow/partition_flow.h"
#include "flow/publisher.h"
#include "support/fakes.h"

namespace seen {
namespace {

/// A snapshot topic that ends where the test says.
class EndsOnly final : public SnapshotTopics {
 public:
  Status Read(FilterIndex, int32_t, const OnRecords&) override { return {}; }
  Status ReadRange(FilterIndex, int32_t, int64_t, int64_t, const OnRecords&) override { return {}; }
  Result<Recent> FindRecent(FilterIndex, int32_t, std::chrono::milliseconds) override {
    return Recent{end, end};
  }
  Result<std::map<int32_t, int64_t>> Ends(FilterIndex, std::span<const int32_t>) override {
    return std::map<int32_t, int64_t>{{0, end}};
  }
  int64_t end = 100;
};

class LastBeats final : public OutputsOwner {
 public:
  bool IsThisGroup() const override { return is_this_group; }
  int64_t PublishedTo(int32_t) const override { return -1; }
  std::optional<Beat> LastBeat(int32_t) const override { return last; }
  std::optional<Beat> last;
  bool is_this_group = true;
};

class OutputWatchTest : public testing::Test {
 protected:
  OutputWatchTest() {
    topic.fail_percent = 0;
    topic.deliver_all = true;
    PartitionOptions options;
    options.filters = {{0, "home", 30, 10'000, {}, SnapshotPolicy{}}};
    options.filters[0].updates = true;
    options.filters[0].topic = "filters";
    options.updates = UpdatePolicy{};
    open->store = std::make_unique<sim::FakeStore>(durable, fault, level0_files);
    open->flow =
        std::make_unique<PartitionFlow>(options, std::nullopt, 0, 0, *open->store, letters, reporter, clock);
    opened.Add(open);
    guard.Own(0);
    Publisher::Options publishing;
    publishing.guard = &guard;
    publishing.owner = &owner;
    publishing.watermarks = BeatSender{"group", "instance", ""};
    publisher.emplace(opened, topic, reporter, clock, publishing);
    open->flow->publish.WasPublishedTo(7);
    BeatNow();  // opens the sweep's progress
    watch.Step();
  }
  /// The next beat, and what it says.
  Beat BeatNow() {
    clock.Advance(1'500);
    publisher->Step();
    publisher->Step();
    return *ParseBeat(topic.watermarks.at("0"));
  }

  sim::VirtualClock clock;
  sim::CountingReporter reporter;
  std::mt19937_64 random{1};
  sim::FakeSnapshotTopic topic{random};
  sim::FakeDeadLetters letters{random};
  sim::DurableState durable;
  sim::StoreFault fault = sim::StoreFault::kNone;
  uint32_t level0_files = 0;
  PartitionPointer open = std::make_shared<OpenPartition>();
  OpenPartitions opened;
  OutputGuard guard;
  LastBeats owner;
  EndsOnly topics;
  OutputWatch watch{topics, guard, opened, reporter};
  std::optional<Publisher> publisher;
};

TEST_F(OutputWatchTest, NoBeatVouchesForATopicFromTheSuspicionOfACutOn) {
  const Beat before = BeatNow();
  EXPECT_EQ(before.published_to, 7);
  EXPECT_EQ(before.snapshots_to, (std::map<std::string, int64_t>{{"home", 100}}));
  EXPECT_FALSE(before.republishing);
  EXPECT_EQ(before.snapshots_log, (std::map<std::string, int64_t>{{"home", 0}}));
  EXPECT_NE(topic.watermarks.at("0").find(R"("snapshots_topic":{"home":"filters"})"), std::string::npos);

  topics.end = 50;
  watch.Step();  // once more: a new leader may not know its end
  const Beat suspecting = BeatNow();
  EXPECT_TRUE(suspecting.snapshots_to.empty());
  EXPECT_TRUE(suspecting.republishing) << "the next owner can't find out any more";

  std::optional<Beat> noticed;
  reporter.on_output_cut = [&] { noticed = BeatNow(); };
  watch.Step();
  ASSERT_TRUE(noticed);
  EXPECT_TRUE(noticed->snapshots_to.empty()) << "what was published up to isn't taken back yet";
  EXPECT_TRUE(noticed->republishing);

  const Beat after = BeatNow();
  EXPECT_EQ(after.published_to, -1);
  EXPECT_TRUE(after.republishing);
  EXPECT_EQ(after.snapshots_log, (std::map<std::string, int64_t>{{"home", 1}})) << "readers start over";
}

TEST_F(OutputWatchTest, WhatAnotherOwnerLeftGoesOnWhenThePartitionComesBack) {
  EXPECT_EQ(BeatNow().published_to, 7);
  open->assigned = false;
  publisher->Step();
  owner.last = BeatNow();
  owner.last->republishing = true;  // it found a cut
  owner.last->snapshots_log["home"] = 3;
  owner.last->generation += 1;  // the log goes on although the state is another one
  open->assigned = true;
  EXPECT_EQ(BeatNow().snapshots_log, (std::map<std::string, int64_t>{{"home", 3}}));
  open->assigned = false;
  publisher->Step();
  owner.last->generation -= 1;
  open->assigned = true;
  const Beat beat = BeatNow();
  EXPECT_TRUE(beat.republishing);
  EXPECT_EQ(beat.published_to, -1);
}

TEST_F(OutputWatchTest, WhatAnotherGroupLeftGoesOnWhenThisOneIsPromotedAgain) {
  owner.last = BeatNow();
  owner.is_this_group = false;
  publisher->Step();
  owner.last->republishing = true;
  owner.last->snapshots_log["home"] = 3;
  owner.is_this_group = true;
  const Beat beat = BeatNow();
  EXPECT_TRUE(beat.republishing);
  EXPECT_EQ(beat.published_to, -1);
  EXPECT_EQ(beat.snapshots_log.at("home"), 3);
}

TEST_F(OutputWatchTest, ACutThatTheOwnerOfAnotherStateFoundIsRepublishedHere) {
  owner.last = BeatNow();
  open->assigned = false;
  publisher->Step();
  owner.last->republishing = true;
  owner.last->generation += 1;
  open->assigned = true;
  EXPECT_TRUE(BeatNow().republishing);
}

TEST_F(OutputWatchTest, SnapshotsOfAnotherTopicVouchForNothingHere) {
  owner.last = BeatNow();
  open->assigned = false;
  publisher->Step();
  owner.last->snapshots_topic["home"] = "another";
  owner.last->snapshots_log["home"] = 3;
  owner.last->snapshots_to["home"] = 5'000;
  open->assigned = true;
  const Beat beat = BeatNow();
  EXPECT_TRUE(beat.republishing);
  EXPECT_EQ(beat.published_to, -1);
  EXPECT_EQ(beat.snapshots_log.at("home"), 4);
}

TEST_F(OutputWatchTest, AnEndThatANewLeaderDidNotKnowIsNoCut) {
  topics.end = 50;
  watch.Step();
  topics.end = 100;
  watch.Step();
  const Beat beat = BeatNow();
  EXPECT_EQ(beat.published_to, 7);
  EXPECT_EQ(beat.snapshots_to, (std::map<std::string, int64_t>{{"home", 100}}));
  EXPECT_FALSE(beat.republishing);
}

}  // namespace
}  // namespace seen
