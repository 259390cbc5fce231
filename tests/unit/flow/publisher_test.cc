// One publisher over several partitions. An error of one partition must not delay the others.
#include "flow/publisher.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <latch>
#include <thread>
#include <utility>

#include "flow/partition_flow.h"
#include "simulation/fate.h"
#include "support/fakes.h"

namespace seen {
namespace {
using std::chrono::milliseconds;

class FakeOwner final : public OutputsOwner {
 public:
  bool IsThisGroup() const override { return owns; }
  std::optional<Beat> LastBeat(int32_t) const override { return std::nullopt; }
  int64_t PublishedTo(int32_t partition) const override {
    return published_to[static_cast<size_t>(partition)];
  }
  bool owns = false;
  std::array<int64_t, 2> published_to{-1, -1};
};

class PublisherTest : public testing::Test {
 protected:
  static constexpr int kPartitions = 2;

  PublisherTest() {
    topic.fail_percent = 0;
    topic.deliver_all = true;
    for (int32_t number = 0; number < kPartitions; ++number) Open(number);
    publisher.Step();  // the scans of a start, which find nothing
  }
  void Open(int32_t number) {
    Lane& lane = lanes[static_cast<size_t>(number)];
    PartitionOptions of_partition;
    of_partition.partition = number;
    of_partition.partition_count = kPartitions;
    of_partition.filters = {{0, "home", 30, 10'000, {}, SnapshotPolicy{}}};
    if (updates) of_partition.updates = UpdatePolicy{};
    of_partition.filters[0].updates = updates;
    auto open = std::make_shared<OpenPartition>();
    open->partition = number;
    open->store = std::make_unique<sim::FatefulStore>(
        std::make_unique<sim::FakeStore>(lane.durable, lane.fault, lane.level0_files), lane.fate,
        lane.level0_files);
    open->flow = std::make_unique<PartitionFlow>(of_partition, std::nullopt, 0, 0, *open->store, dead_letters,
                                                 reporter, clock);
    lane.open = open;
    opened.Add(std::move(open));
  }
  Publisher WithPool(WorkPool& pool) {
    options.pool = &pool;
    options.pool_from = std::chrono::microseconds(0);
    return WithOptions();
  }
  Publisher WithLease() {
    options.lease = &lease;
    return WithOptions();
  }
  Publisher WithOwner() {
    options.owner = &owner;
    return WithOptions();
  }
  Publisher WithOptions() { return Publisher(opened, topic, reporter, clock, options); }
  /// Exposes an item to the partition's own user.
  void Expose(int32_t number, const std::string& item) { Expose(number, User(number), item); }
  void Expose(int32_t number, const std::string& user, const std::string& item) {
    Lane& lane = lanes[static_cast<size_t>(number)];
    const std::string value = R"({"user_id":")" + user + R"(","item_id":")" + item + R"(","exposed_at":)" +
                              std::to_string(clock.WallNow().value) + "}";
    const Record record{lane.next_offset++, clock.WallNow(), user, value, false};
    ASSERT_EQ(lane.open->flow->intake.Apply({&record, 1}), size_t{1});
  }
  /// The lease holds from now on, and the partition has read all that is in the log.
  void Lease(int32_t number) {
    const Lane& lane = lanes[static_cast<size_t>(number)];
    lease.Committed(number, clock.Now());
    lane.open->flow->state.ConfirmEnd(lane.next_offset, clock.Now());
  }
  static std::string User(int32_t number) { return "user-of-" + std::to_string(number); }
  bool Published(int32_t number, std::string_view item) const {
    const auto found = topic.topic.find({FilterIndex(), User(number)});
    return found != topic.topic.end() && SnapshotView::Parse(found->second)->MightContain(item);
  }
  void ReadsFail(int32_t number, bool fail) { lanes[static_cast<size_t>(number)].fate.armed = fail; }
  uint64_t Failures(int32_t number, PublishStep step) { return reporter.publish_failures[{number, step}]; }

  struct Lane {
    sim::DurableState durable;
    sim::StoreFault fault = sim::StoreFault::kNone;
    uint32_t level0_files = 0;
    std::mt19937_64 random{1};
    sim::Fate fate{random, 100};
    PartitionPointer open;
    int64_t next_offset = 0;
  };
  sim::VirtualClock clock;
  sim::CountingReporter reporter;
  std::mt19937_64 random{1};
  sim::FakeSnapshotTopic topic{random};
  sim::FakeDeadLetters dead_letters{random};
  std::array<Lane, kPartitions> lanes;
  OpenPartitions opened;
  CommitLease lease{LeaseTimes::Of(std::chrono::seconds(10))};
  FakeOwner owner;
  Publisher::Options options;  // of the next WithOptions()
  bool updates = false;        // of the next Open()
  Publisher publisher{opened, topic, reporter, clock, Publisher::Options()};
};

TEST_F(PublisherTest, QueuesNothingThatWasRenderedBeforeTheProcessStoodStillForLongerThanItsLease) {
  Publisher leased = WithLease();
  Lease(0);
  Expose(0, "a");
  lanes[0].fate.before_read = [&] { clock.Advance(20'000); };
  leased.Step();
  lanes[0].fate.before_read = {};
  EXPECT_EQ(topic.sent_total, 0u);
  Lease(0);
  for (int i = 0; i < 3; ++i) leased.Step();
  EXPECT_TRUE(Published(0, "a")) << "it stayed due";
}

TEST_F(PublisherTest, RendersWhatManyUsersAreDueWithAPool) {
  WorkPool pool(3, "readers");
  Publisher pooled = WithPool(pool);
  const auto user = [](int number) { return "user-" + std::to_string(number); };
  for (int number = 0; number < 1000; ++number) Expose(0, user(number), "item-" + std::to_string(number));
  for (int i = 0; i < 200; ++i) pooled.Step();
  EXPECT_EQ(topic.sent_total, 1000u);
  for (int number = 0; number < 1000; ++number) {
    const auto found = topic.topic.find({FilterIndex(), user(number)});
    ASSERT_NE(found, topic.topic.end()) << number;
    EXPECT_TRUE(SnapshotView::Parse(found->second)->MightContain("item-" + std::to_string(number)));
  }
}

TEST_F(PublisherTest, AFailedReadOfOnePieceLeavesAllUsersDue) {
  WorkPool pool(0, "readers");  // the caller's thread takes all pieces, in order
  Publisher pooled = WithPool(pool);
  for (int number = 0; number < 100; ++number) Expose(0, "user-" + std::to_string(number), "a");
  int reads = 0;
  lanes[0].fate.before_read = [&] { ReadsFail(0, ++reads > 3); };
  for (int i = 0; i < 3; ++i) pooled.Step();
  EXPECT_GE(Failures(0, PublishStep::kRender), 1u);
  EXPECT_EQ(topic.sent_total, 0u);
  lanes[0].fate.before_read = {};
  ReadsFail(0, false);
  for (int i = 0; i < 20; ++i) {
    clock.Advance(500);
    pooled.Step();
  }
  EXPECT_EQ(topic.topic.size(), 100u);
}

TEST_F(PublisherTest, RendersUsersOfSeveralPartitionsAtTheSameTime) {
  WorkPool pool(1, "readers");
  Publisher pooled = WithPool(pool);
  for (int32_t number = 0; number < kPartitions; ++number) Expose(number, "a");
  std::latch both_read(kPartitions);
  std::atomic<int> met = 0;
  for (Lane& lane : lanes) {
    lane.fate.before_read = [&, first = true]() mutable {
      if (!std::exchange(first, false)) return;
      both_read.count_down();
      const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
      while (!both_read.try_wait() && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
      met += both_read.try_wait() ? 1 : 0;
    };
  }
  pooled.Step();
  EXPECT_EQ(met, kPartitions);
}

TEST_F(PublisherTest, APassOfUsersWhoTakeLongIsShort) {
  WorkPool pool(0, "readers");
  options.pool = &pool;
  Publisher pooled = WithOptions();
  lanes[0].fate.before_read = [&] { clock.Advance(2); };
  Expose(0, "first", "a");
  for (int i = 0; i < 3; ++i) pooled.Step();
  const uint64_t before = topic.sent_total;
  for (int number = 0; number < 100; ++number) Expose(0, "user-" + std::to_string(number), "a");
  pooled.Step();
  EXPECT_GE(topic.sent_total - before, 1u);
  EXPECT_LE(topic.sent_total - before, 4u) << "two milliseconds each";
}

TEST_F(PublisherTest, LeadingEdgesOfAllPartitionsGoBeforeUsersOfAnyWhoMayWait) {
  options.snapshots_a_pass = 4;
  Publisher in_passes = WithOptions();
  const auto expose = [&](int32_t number, const std::string& item) {
    for (int user = 0; user < 40; ++user) Expose(number, User(number) + std::to_string(user), item);
  };
  expose(0, "a");
  for (int i = 0; i < 100; ++i) in_passes.Step();
  expose(0, "b");
  clock.Advance(2'000);  // the debounce has ended, so these users may wait
  ASSERT_EQ(topic.sent_total, 40u);
  expose(1, "a");
  for (uint64_t pass = 1; pass <= 5; ++pass) {
    in_passes.Step();
    EXPECT_EQ(topic.topic.size(), 40 + 3 * pass) << "users of partition 1";
    EXPECT_EQ(topic.sent_total, 40 + 4 * pass) << "those who may wait have a quarter";
  }
}

TEST_F(PublisherTest, APassWithoutRoomForAllPartitionsIsContinuedByTheNext) {
  options.snapshots_a_pass = 4;
  Publisher in_passes = WithOptions();
  for (int32_t number = 0; number < kPartitions; ++number) {
    for (int user = 0; user < 40; ++user) Expose(number, User(number) + "-" + std::to_string(user), "a");
  }
  for (int i = 0; i < 6; ++i) in_passes.Step();
  std::array<int, kPartitions> published{};
  for (const auto& [key, _] : topic.topic) ++published[key.second.starts_with(User(0)) ? 0 : 1];
  EXPECT_EQ(published[0], 9);
  EXPECT_EQ(published[1], 9);
}

TEST_F(PublisherTest, SendsNowOnlyIfNoMoreIsDue) {
  options.snapshots_a_pass = 4;
  Publisher in_passes = WithOptions();
  for (int number = 0; number < 40; ++number) Expose(0, "user-" + std::to_string(number), "a");
  for (int i = 0; i < 100; ++i) {
    clock.Advance(5);
    if (in_passes.Step() > milliseconds(0)) break;
    EXPECT_EQ(topic.sends_now, 0u) << "more is due";
  }
  EXPECT_EQ(topic.sent_total, 40u);
  EXPECT_EQ(topic.sends_now, 1u);
}

TEST_F(PublisherTest, PublishesAPartitionOnlyWhileItsLeaseHolds) {
  Publisher leased = WithLease();
  const auto step = [&] {
    for (int i = 0; i < 3; ++i) leased.Step();
  };
  step();
  Lease(0);
  Expose(0, "a");
  Expose(1, "b");
  step();
  EXPECT_TRUE(Published(0, "a"));
  EXPECT_FALSE(Published(1, "b")) << "no commit of its own has succeeded";

  clock.Advance(8'000);  // the process stood still: its state is from before
  Expose(0, "old");
  step();
  EXPECT_FALSE(Published(0, "old"));
  Lease(0);
  step();
  EXPECT_TRUE(Published(0, "old")) << "nothing is lost by waiting";

  EXPECT_EQ(reporter.leases_lapsed, 1u) << "it ended while the partition was assigned";
  lease.Ended(0, clock.Now());
  clock.Advance(2'000);
  Expose(0, "late");
  step();
  EXPECT_FALSE(Published(0, "late")) << "the group has given it to another";
}

TEST_F(PublisherTest, APartitionThatOnlyAnswersIsNotPublished) {
  options.lease = &lease;
  options.watermarks = BeatSender{"group", "instance", ""};
  Publisher leased = WithOptions();
  lease.Committed(0, clock.Now());
  const PartitionPointer open = opened.Find(0);
  open->assigned.store(false);
  Expose(0, "a");
  for (int i = 0; i < 5; ++i) {
    leased.Step();
    clock.Advance(500);
  }
  EXPECT_EQ(topic.sent_total, 0u) << "another daemon owns it: no snapshot, no beat";
  open->assigned.store(true);
  Lease(0);
  for (int i = 0; i < 5; ++i) {
    leased.Step();
    clock.Advance(500);
  }
  EXPECT_TRUE(Published(0, "a"));
  EXPECT_GT(topic.sent_total, 1u) << "and beats";
}

TEST_F(PublisherTest, AnErrorOfOnePartitionDelaysNoOther) {
  ReadsFail(0, true);
  Expose(0, "a");
  Expose(1, "b");
  const Instant before = clock.Now();
  publisher.Step();
  EXPECT_EQ(clock.Now(), before) << "nobody waits";
  EXPECT_TRUE(Published(1, "b"));
  EXPECT_FALSE(Published(0, "a"));
  EXPECT_EQ(Failures(0, PublishStep::kRender), 1u);
  EXPECT_EQ(Failures(1, PublishStep::kRender), 0u);
}

TEST_F(PublisherTest, AnErrorIsRetriedLaterAndLaterUntilItIsOver) {
  ReadsFail(0, true);
  Expose(0, "a");
  for (int ms = 0; ms < 60'000; ms += 10) {
    publisher.Step();
    clock.Advance(10);
  }
  // After 0.2, 0.4, 0.8, 1.6, 3.2, 6.4 s, and then every 10 s.
  EXPECT_EQ(Failures(0, PublishStep::kRender), 11u);
  ReadsFail(0, false);
  clock.Advance(10'000);
  publisher.Step();
  EXPECT_TRUE(Published(0, "a"));
  // The back-off of the next error begins with the shortest delay again.
  clock.Advance(2'000);
  ReadsFail(0, true);
  Expose(0, "b");
  publisher.Step();
  ReadsFail(0, false);
  clock.Advance(200);
  publisher.Step();
  EXPECT_TRUE(Published(0, "b"));
}

TEST_F(PublisherTest, EachKindOfWorkBacksOffOnItsOwn) {
  ReadsFail(0, true);
  clock.Advance(61'000);  // the publisher looks for endings again
  publisher.Step();
  EXPECT_EQ(Failures(0, PublishStep::kRepublish), 1u);
  ReadsFail(0, false);
  Expose(0, "a");
  publisher.Step();
  EXPECT_TRUE(Published(0, "a"));
  EXPECT_EQ(Failures(0, PublishStep::kRepublish), 1u) << "it waits";
}

TEST_F(PublisherTest, ReturnsHowLongThereIsNothingToDo) {
  EXPECT_EQ(publisher.Step(), milliseconds(250)) << "nothing is due";
  Expose(0, "a");
  EXPECT_EQ(publisher.Step(), milliseconds(50));  // sent and acknowledged
  clock.Advance(960);
  Expose(0, "b");
  EXPECT_EQ(publisher.Step(), milliseconds(40)) << "the rest of the debounce";
  topic.deliver_all = false;
  topic.late_percent = 100;
  clock.Advance(40);
  EXPECT_EQ(publisher.Step(), milliseconds(1)) << "an acknowledgement may come";
}

TEST_F(PublisherTest, MarksBehindAPageWaitForNobody) {
  updates = true;
  opened.Take(0);
  Open(0);
  options.marks_a_step = 2;
  Publisher refreshing = WithOptions();
  for (const char* const user : {"a", "b", "c", "d"}) Expose(0, user, "item");
  PartitionFlow& flow = *lanes[0].open->flow;
  flow.intake.Freeze();
  ASSERT_TRUE(flow.checkpoint.Write());
  int at_once = 0;
  while (refreshing.Step() == milliseconds(0)) ++at_once;
  EXPECT_GE(at_once, 2);
  EXPECT_EQ(topic.topic.size(), 4u);
}

TEST_F(PublisherTest, NobodyIsInAHurryForTheAcknowledgementOfARefreshedSnapshot) {
  updates = true;
  for (int32_t number = 0; number < kPartitions; ++number) {
    opened.Take(number);
    Open(number);
  }
  Expose(0, "a");
  topic.deliver_all = false;
  topic.late_percent = 100;
  lanes[0].open->flow->publish.AddDue(std::vector<UserRef>{{0, UserKeyOf(User(0))}}, clock.Now());
  EXPECT_EQ(publisher.Step(), milliseconds(10));
  EXPECT_GT(topic.outstanding(), 0u);
  updates = false;
  opened.Take(1);
  Open(1);
  EXPECT_EQ(publisher.Step(), milliseconds(1)) << "a snapshot of the other partition may be under way";
}

TEST_F(PublisherTest, WaitsForNoBeatsAcknowledgementAndIsBackForTheNextBeat) {
  options.watermarks = BeatSender{"group", "instance", ""};
  Publisher beating = WithOptions();
  beating.Step();
  topic.deliver_all = false;
  topic.late_percent = 100;
  clock.Advance(1'000);
  EXPECT_EQ(beating.Step(), milliseconds(250));
  EXPECT_GT(topic.outstanding(), 0u);
  topic.deliver_all = true;
  clock.Advance(900);
  EXPECT_EQ(beating.Step(), milliseconds(100)) << "acknowledged, so the next one may go";
}

TEST_F(PublisherTest, ComesBackSoonWhereSomethingMayChangeThatWakesNobody) {
  options.lease = &lease;
  Publisher replica = WithOwner();
  EXPECT_EQ(replica.Step(), milliseconds(50)) << "a commit may succeed";
  for (const int32_t partition : {0, 1}) lease.Committed(partition, clock.Now());
  replica.Step();
  EXPECT_EQ(replica.Step(), milliseconds(250));
  Expose(0, "a");
  replica.Step();
  clock.Advance(1'500);
  EXPECT_EQ(replica.Step(), milliseconds(50)) << "the owner may have published it";
  owner.published_to[0] = lanes[0].next_offset;
  replica.Step();
  EXPECT_EQ(replica.Step(), milliseconds(250));
  ReadsFail(0, true);
  lanes[0].open->flow->sweep.RequestAll();
  EXPECT_EQ(replica.Step(), milliseconds(50)) << "a sweep goes page by page";
}

TEST_F(PublisherTest, AClosedPartitionsAcknowledgementsAreNobodys) {
  topic.deliver_all = false;
  topic.late_percent = 100;
  Expose(0, "a");
  publisher.Step();
  EXPECT_EQ(topic.outstanding(), 1u);
  opened.Take(0);
  lanes[0].open.reset();
  Open(0);  // assigned again
  topic.deliver_all = true;
  publisher.Step();
  EXPECT_EQ(topic.outstanding(), 0u);
  EXPECT_TRUE(Published(0, "a"));
}

TEST_F(PublisherTest, ALeaseThatARebalanceEndsIsNoLapse) {
  Publisher leased = WithLease();
  lease.Committed(0, clock.Now());
  leased.Step();
  lease.Ended(0, clock.Now());
  leased.Step();
  EXPECT_EQ(reporter.leases_lapsed, 0u) << "the partition is about to be unassigned";
}

TEST_F(PublisherTest, AReplicaSendsNothingAndWaitsForTheOwner) {
  Publisher replica = WithOwner();
  Expose(0, "a");
  Expose(1, "b");
  for (int i = 0; i < 3; ++i) replica.Step();
  EXPECT_EQ(topic.sent_total, 0u);
  EXPECT_EQ(replica.Outstanding(), 2u);
  owner.published_to[0] = lanes[0].next_offset;
  replica.Step();
  EXPECT_EQ(replica.Outstanding(), 1u) << "the owner has published what partition 0 holds";
  EXPECT_EQ(reporter.sent, 0u) << "nothing was sent, so nothing is counted";
  owner.owns = true;
  replica.Step();
  clock.Advance(1'000);
  for (int i = 0; i < 3; ++i) replica.Step();
  EXPECT_FALSE(Published(0, "a")) << "the former owner has";
  EXPECT_TRUE(Published(1, "b"));
  EXPECT_EQ(replica.Outstanding(), 0u);
}

TEST_F(PublisherTest, AReplicaLeavesUsersOfFiltersWithUpdatesToMarks) {
  updates = true;
  opened.Take(0);
  Open(0);
  Publisher replica = WithOwner();
  PartitionFlow& flow = *lanes[0].open->flow;
  Expose(0, "a");
  flow.updates->Discard();  // as a replica's sender does
  flow.publish.AddDue(std::vector<UserRef>{{0, UserKeyOf(User(0))}}, clock.Now());
  for (int i = 0; i < 3; ++i) replica.Step();
  EXPECT_EQ(replica.Outstanding(), 1u) << "the owner publishes it with its next round";
  flow.intake.Freeze();
  ASSERT_TRUE(flow.checkpoint.Write());
  replica.Step();
  EXPECT_EQ(replica.Outstanding(), 0u) << "nothing waits for that, neither a shutdown nor an alert";
  EXPECT_EQ(lanes[0].durable.marks.size(), 1u);
  owner.owns = true;
  clock.Advance(2'000);
  for (int i = 0; i < 3; ++i) replica.Step();
  EXPECT_TRUE(Published(0, "a"));
}

TEST_F(PublisherTest, ANewOwnerWritesNothingBeforeItsBeatHasReplacedTheFormerOwners) {
  updates = true;
  opened.Take(0);
  Open(0);
  PartitionFlow& flow = *lanes[0].open->flow;
  OutputGuard guard;
  guard.Own(0);
  options.guard = &guard;
  options.watermarks = BeatSender{"group", "instance", ""};
  Publisher owning = WithOptions();
  Expose(0, "a");
  flow.publish.AddDue(std::vector<UserRef>{{0, UserKeyOf(User(0))}}, clock.Now());
  topic.deliver_all = false;
  topic.late_percent = 100;
  for (int i = 0; i < 3; ++i) owning.Step();
  EXPECT_EQ(topic.sent_total, 2u) << "a beat of each partition, and no snapshot";
  topic.late_percent = 0;
  topic.fail_percent = 100;
  owning.Step();
  topic.deliver_all = true;
  for (int i = 0; i < 3; ++i) owning.Step();
  EXPECT_FALSE(Published(0, "a")) << "the beat was lost";
  clock.Advance(1'000);
  for (int i = 0; i < 3; ++i) owning.Step();
  EXPECT_TRUE(Published(0, "a"));
  guard.Disown(0);
  guard.Own(0);
  EXPECT_FALSE(guard.MayWrite(0)) << "another process may have owned it meanwhile";
}

TEST_F(PublisherTest, APromotedReplicaThatLagsTakesNoSnapshotBack) {
  options.lease = &lease;
  Publisher replica = WithOwner();
  Expose(0, "a");
  Lease(0);
  replica.Step();
  clock.Advance(1);
  owner.owns = true;
  for (int i = 0; i < 3; ++i) replica.Step();
  EXPECT_EQ(topic.sent_total, 0u) << "the former owner may have published more";
  lanes[0].open->flow->state.ConfirmEnd(2, clock.Now());
  for (int i = 0; i < 3; ++i) replica.Step();
  EXPECT_EQ(topic.sent_total, 0u) << "it has";
  Expose(0, "b");
  clock.Advance(1'000);
  for (int i = 0; i < 3; ++i) replica.Step();
  EXPECT_TRUE(Published(0, "b"));
}

TEST_F(PublisherTest, AFormerOwnerQueuesNothingThatItRenderedBefore) {
  owner.owns = true;
  Publisher former = WithOwner();
  Expose(0, "a");
  lanes[0].fate.before_read = [&] { owner.owns = false; };
  former.Step();
  lanes[0].fate.before_read = {};
  for (int i = 0; i < 3; ++i) former.Step();
  EXPECT_EQ(topic.sent_total, 0u);
}

}  // namespace
}  // namespace seen
