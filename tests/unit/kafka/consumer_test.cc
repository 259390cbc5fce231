#include "kafka/consumer.h"

#include <time.h>

#include "consumer_harness.h"
#include "faulty_broker.h"
#include "kafka/group_membership.h"
#include "model/hashes.h"

namespace seen {
namespace {

int64_t ThreadCpuMs() {
  timespec used{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return used.tv_sec * 1'000 + used.tv_nsec / 1'000'000;
}

class ConsumerTest : public BrokerTest {
 protected:
  static Consumer::Options OptionsFor(const std::string& topic, int workers = 2) {
    Consumer::Options options;
    options.brokers = Brokers();
    options.topic = topic;
    options.group_id = topic;
    options.instance_id = "one";
    options.workers = workers;
    // When a member has gone, the embedded broker waits for nearly the whole session of the member.
    options.client = {{"session.timeout.ms", "4000"}, {"heartbeat.interval.ms", "200"}};
    options.check_log_every = 0ms;
    return options;
  }
};

TEST_F(ConsumerTest, StartsWhereItIsToldAndReportsTheEnd) {
  const auto topic = NewTopic(3);
  Produce(topic, 0, 300);
  ConsumerHarness harness(OptionsFor(topic), {{1, 50}});
  ASSERT_TRUE(Eventually([&] { return harness.ends() == 3; }));
  harness.With([&](auto& h) {
    int64_t total = 0;
    for (int32_t partition = 0; partition < 3; ++partition) {
      const auto& assignment = h.assignments_[partition];
      EXPECT_EQ(assignment.partition_count, 3);
      EXPECT_EQ(assignment.watermarks.low, 0);
      EXPECT_EQ(assignment.committed_offset, std::nullopt);
      EXPECT_EQ(h.ends_[partition], assignment.watermarks.high);
      EXPECT_EQ(h.offsets_[partition].front(), partition == 1 ? 50 : 0);
      EXPECT_EQ(h.offsets_[partition].back(), assignment.watermarks.high - 1);
      EXPECT_EQ(h.consumer().WorkerOf(partition), partition % 2);
      total += assignment.watermarks.high;
    }
    EXPECT_EQ(total, 300);
  });
  Produce(topic, 300, 30);
  EXPECT_TRUE(Eventually([&] { return harness.records() == 280; }));
  EXPECT_TRUE(harness.consumer().brokers_reachable());
  const auto is_compacted = harness.consumer().IsCompacted(2s);
  ASSERT_TRUE(is_compacted) << is_compacted.error().message;
  EXPECT_FALSE(*is_compacted) << "the broker doesn't say";
  const auto marks = harness.consumer().QueryWatermarks(0, 2s);
  ASSERT_TRUE(marks);
  EXPECT_EQ(harness.consumer().CachedWatermarks(0).high, marks->high);
  constexpr int32_t kAll[] = {0, 1};
  const auto ends = harness.consumer().LogEnds(kAll, 2s);
  ASSERT_TRUE(ends) << ends.error().message;
  EXPECT_EQ(ends->size(), 2u);
  EXPECT_EQ(ends->at(0), marks->high);
  EXPECT_EQ(harness.consumer().records_stale_total(), 0u);
}

TEST_F(ConsumerTest, WaitsWithoutUsingTheProcessor) {
  class Handler final : public RebalanceHandler {
   public:
    Result<std::optional<int64_t>> OnAssigned(const Assignment&) override { return std::optional<int64_t>(); }
    void OnRevoked(std::span<const int32_t>, bool) override {}
  } handler;
  const auto topic = NewTopic(1);
  const auto consumer = Consumer::Open(OptionsFor(topic), handler).value();
  ASSERT_TRUE(Eventually([&] { return consumer->PollControl(10ms) && consumer->joined(); }));
  const int64_t before = ThreadCpuMs();
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(consumer->PollControl(10ms));
  EXPECT_LT(ThreadCpuMs() - before, 40) << "of a second";
}

TEST_F(ConsumerTest, ACommitThatSucceedsHoldsThePartitionsLeaseAndARevocationEndsIt) {
  const auto topic = NewTopic(2);
  Produce(topic, 0, 10);
  CommitLease lease(LeaseTimes::Of(60s));
  auto options = OptionsFor(topic);
  options.lease = &lease;
  ConsumerHarness harness(options);
  ASSERT_TRUE(Eventually([&] { return harness.ends() == 2; }));
  EXPECT_FALSE(lease.MayPublish(0, SystemClock().Now())) << "nothing is committed yet";
  harness.consumer().Commit(0, 1);
  EXPECT_TRUE(Eventually([&] { return lease.MayPublish(0, SystemClock().Now()); }));
  EXPECT_FALSE(lease.MayPublish(1, SystemClock().Now()));
  // The lease counts from the time when the commit was sent, even if the offset didn't change.
  EXPECT_FALSE(lease.MayPublish(0, SystemClock().Now() + 30s));
  harness.consumer().Commit(0, 1);
  harness.Stop();
  EXPECT_FALSE(lease.MayPublish(0, SystemClock().Now()));
  EXPECT_EQ(harness.consumer().commits_failed_total(), 0u);
}

// Metadata still names the leader for as long as the cluster doesn't know that it is down.
TEST_F(ConsumerTest, APartitionWhoseLeaderHasJustDiedHoldsTheOthersUpForSecondsOnly) {
  FaultyBroker cluster(2);
  const std::string topic = "leader-died";
  constexpr int32_t kOfTheDead = 20;
  cluster.CreateTopic(topic, kOfTheDead + 1);
  for (int32_t partition = 0; partition < kOfTheDead; ++partition) cluster.SetLeader(topic, partition, 2);
  cluster.SetLeader(topic, kOfTheDead, 1);
  cluster.SetCoordinator(topic, 1);
  cluster.SetReachable(false, 2);
  auto options = OptionsFor(topic);
  options.brokers = cluster.bootstrap();
  ConsumerHarness harness(options);
  EXPECT_TRUE(Eventually([&] { return harness.ends() == 1; }, 20s));
  harness.With([&](auto& h) {
    EXPECT_FALSE(h.assignments_.contains(0));
    EXPECT_TRUE(h.assignments_.contains(kOfTheDead));
  });
  EXPECT_NE(harness.consumer().last_problem(), "");
  cluster.SetReachable(true, 2);
  EXPECT_TRUE(Eventually([&] { return harness.ends() == kOfTheDead + 1; }, 20s));
}

TEST_F(ConsumerTest, AfterAnOutageComparesTheLastRecordAndDeliversNothingTwice) {
  const auto topic = NewTopic(2);
  Produce(topic, 0, 100);
  ConsumerHarness harness(OptionsFor(topic));
  ASSERT_TRUE(Eventually([&] { return harness.records() == 100; }));
  EXPECT_EQ(harness.consumer().logs_checked_total(), 0u);
  Broker().SetReachable(false);
  EXPECT_TRUE(Eventually([&] { return !harness.consumer().brokers_reachable(); }));
  Broker().SetReachable(true);
  Produce(topic, 100, 50);
  EXPECT_TRUE(Eventually([&] { return harness.records() == 150; }, 20s));
  EXPECT_GE(harness.consumer().logs_checked_total(), 1u);
  harness.With([](auto& h) { EXPECT_TRUE(h.out_of_range_.empty()); });
}

TEST_F(ConsumerTest, ReadsTheLastRecordAgainAndNoticesAnotherLogThoughNothingComes) {
  const auto topic = NewTopic(2);
  Produce(topic, 0, 100);
  auto options = OptionsFor(topic);
  options.check_log_every = 100ms;
  Watermarks marks;
  Anchor last;
  {
    ConsumerHarness reader(options);
    reader.With([&](auto& h) {
      h.on_batch_ = [&](const PartitionBatch& batch) {
        if (batch.partition != 0 || batch.records.empty()) return;
        const Record& record = batch.records.back();
        last = {record.offset, record.timestamp, RecordHash(record.key, record.value)};
      };
    });
    ASSERT_TRUE(Eventually([&] { return reader.records() == 100; }));
    ASSERT_TRUE(Eventually([&] { return reader.consumer().logs_checked_total() >= 4; }));
    reader.With([&](auto& h) {
      EXPECT_TRUE(h.out_of_range_.empty()) << "the log is the same";
      marks = h.assignments_[0].watermarks;
    });
  }
  ASSERT_EQ(last.offset, marks.high - 1);
  {
    ConsumerHarness same(options, {{0, marks.high}}, {1}, {{0, last}});
    ASSERT_TRUE(Eventually([&] { return same.consumer().logs_checked_total() >= 2; }, 20s));
    same.With([](auto& h) { EXPECT_TRUE(h.out_of_range_.empty()); });
  }
  last.hash += 1;
  ConsumerHarness harness(options, {{0, marks.high}}, {1}, {{0, last}});
  ASSERT_TRUE(
      Eventually([&] { return harness.With([](auto& h) { return !h.out_of_range_.empty(); }); }, 20s));
  harness.With([&](auto& h) { EXPECT_EQ(h.out_of_range_[0].wanted, marks.high + 1); });
  EXPECT_TRUE(Eventually([&] { return harness.next(0) == marks.high; }))
      << "the handler has sought to the start";
  const uint64_t checked = harness.consumer().logs_checked_total();
  EXPECT_TRUE(Eventually([&] { return harness.consumer().logs_checked_total() > checked; }));
  harness.With([](auto& h) { EXPECT_EQ(h.out_of_range_.size(), 1u) << "what was read since is compared"; });
}

TEST_F(ConsumerTest, ComesBackWithItsInstanceIdAndFindsWhatItCommitted) {
  const auto topic = NewTopic(2);
  Produce(topic, 0, 100);
  const auto options = OptionsFor(topic);
  {
    ConsumerHarness harness(options);
    ASSERT_TRUE(Eventually([&] { return harness.records() == 100; }));
    harness.consumer().Commit(0, 17);
    harness.Stop();
    harness.With([](auto& h) { EXPECT_EQ(h.revoked_.size(), 2u); });
    EXPECT_EQ(harness.consumer().commits_failed_total(), 0u);
  }
  ConsumerHarness harness(options, {{0, 17}});
  ASSERT_TRUE(Eventually([&] { return harness.ends() == 2; }));
  harness.With([](auto& h) {
    EXPECT_EQ(h.assignments_[0].committed_offset, 17);
    EXPECT_EQ(h.assignments_[1].committed_offset, std::nullopt);
    EXPECT_EQ(h.offsets_[0].front(), 17);
  });
}

TEST_F(ConsumerTest, DeliversNothingStaleAfterASeek) {
  const auto topic = NewTopic(2);
  Produce(topic, 0, 4000);
  auto options = OptionsFor(topic, 1);
  options.batch_records_max = 64;  // so that many records wait in the queue when a handler seeks
  ConsumerHarness harness(options);
  int seeks = 0;
  // The harness checks that each record is the one after the last, or the one that a handler sought.
  harness.With([&](auto& h) {
    h.on_batch_ = [&](const PartitionBatch& batch) {
      if (batch.partition != 0 || batch.records.empty() || seeks >= 8 || batch.records.back().offset < 200)
        return;
      const int64_t target =
          seeks % 2 == 0 ? 10 + seeks : 150 + seeks;  // backwards, then forwards or backwards
      ++seeks;
      h.next_[0] = target;
      EXPECT_TRUE(h.consumer().Seek(0, target));
    };
  });
  ASSERT_TRUE(Eventually([&] { return harness.ends() == 2; }, 20s));
  harness.With([&](auto& h) {
    EXPECT_EQ(seeks, 8);
    EXPECT_EQ(h.next_[0] + h.next_[1], 4000);
    EXPECT_GE(h.offsets_[0].size() + h.offsets_[1].size(), 4000u);
  });
  EXPECT_EQ(harness.consumer().Seek(5, 0).error().code, Code::kNotFound);
}

TEST_F(ConsumerTest, TellsOfAnOffsetThatIsNotInTheLog) {
  const auto topic = NewTopic(2);
  Produce(topic, 0, 100);
  ConsumerHarness harness(OptionsFor(topic), {{0, 1'000'000}});
  ASSERT_TRUE(Eventually([&] { return harness.ends() == 2; }));
  harness.With([](auto& h) {
    ASSERT_EQ(h.out_of_range_.size(), 1u);
    EXPECT_EQ(h.out_of_range_[0].partition, 0);
    EXPECT_EQ(h.out_of_range_[0].wanted, 1'000'000);
    EXPECT_EQ(h.out_of_range_[0].now, h.assignments_[0].watermarks);
    EXPECT_EQ(h.offsets_[0].size() + h.offsets_[1].size(), 100u);
  });
}

TEST_F(ConsumerTest, AsksAgainForAPartitionThatIsNotReadyWhileOthersGoOn) {
  const auto topic = NewTopic(2);
  Produce(topic, 0, 100);
  auto options = OptionsFor(topic);
  ConsumerHarness harness(options);
  harness.With([](auto& h) { h.unavailable_ = 3; });
  ASSERT_TRUE(Eventually([&] { return harness.records() == 100; }));
  harness.With([](auto& h) {
    EXPECT_EQ(h.asked_[0] + h.asked_[1], 5);
    EXPECT_TRUE(h.revoked_.empty());
  });
}

TEST_F(ConsumerTest, APartitionThatIsAssignedAndNotReadKeepsNoOtherFromBeingRead) {
  const auto topic = NewTopic(2);
  Produce(topic, 0, 100);
  ConsumerHarness harness(OptionsFor(topic), {}, {1});
  ASSERT_TRUE(Eventually([&] { return harness.ends() == 1; }));
  const auto marks = harness.consumer().QueryWatermarks(0, 2s);
  ASSERT_TRUE(marks);
  EXPECT_TRUE(Eventually([&] { return harness.records() == static_cast<size_t>(marks->high); }));
  EXPECT_FALSE(harness.consumer().opening());
  EXPECT_EQ(harness.consumer().Seek(1, 0).error().code, Code::kNotFound);
  harness.Stop();
  harness.With([](auto& h) {
    EXPECT_FALSE(h.offsets_.contains(1));
    EXPECT_EQ(h.asked_[1], 1);
    EXPECT_EQ(h.revoked_.size(), 2u);
  });
}

// The embedded broker can't find a record by its time. tests/system/test_group.py asks a real broker.
TEST_F(ConsumerTest, TheOffsetOfATimeAfterAllRecordsIsTheEnd) {
  const auto topic = NewTopic(1);
  Produce(topic, 0, 10);
  ConsumerHarness harness(OptionsFor(topic));
  ASSERT_TRUE(Eventually([&] { return harness.records() == 10; }));
  const auto offset = harness.consumer().OffsetForTime(0, {4'000'000'000'000}, 2s);
  ASSERT_TRUE(offset) << offset.error().message;
  EXPECT_EQ(*offset, 10);
}

TEST_F(ConsumerTest, StopsOnARefusal) {
  const auto topic = NewTopic(1);
  ConsumerHarness harness(OptionsFor(topic));
  harness.With([](auto& h) { h.refusal_ = Error{Code::kRefused, "the topic was recreated"}; });
  ASSERT_TRUE(Eventually([&] { return harness.With([](auto& h) { return h.failure_.has_value(); }); }));
  harness.With([](auto& h) {
    EXPECT_EQ(h.failure_->code, Code::kRefused);
    EXPECT_EQ(h.failure_->message, "the topic was recreated");
  });
}

TEST_F(ConsumerTest, SharesPartitionsWithASecondMemberAndTakesThemBack) {
  const auto topic = NewTopic(4);
  Produce(topic, 0, 400);
  auto options = OptionsFor(topic);
  options.instance_id = "";  // a dynamic member tells the group when it leaves
  ConsumerHarness first(options);
  ASSERT_TRUE(Eventually([&] { return first.records() == 400; }));
  const auto owned = [](ConsumerHarness& harness) {
    return harness.With([](auto& h) { return h.next_.size(); });
  };
  {
    ConsumerHarness second(options);
    ASSERT_TRUE(Eventually([&] { return owned(first) == 2 && owned(second) == 2; }));
    ASSERT_TRUE(Eventually([&] { return second.ends() == 2; }));
    second.Stop();
  }
  ASSERT_TRUE(Eventually([&] { return owned(first) == 4; }));
}

TEST_F(ConsumerTest, WaitsForBrokersThatAreAway) {
  const auto topic = NewTopic(1);
  Produce(topic, 0, 10);
  ConsumerHarness harness(OptionsFor(topic));
  ASSERT_TRUE(Eventually([&] { return harness.records() == 10; }));
  Broker().SetReachable(false);
  EXPECT_TRUE(Eventually([&] { return !harness.consumer().brokers_reachable(); }));
  EXPECT_NE(harness.consumer().last_problem(), "");
  Broker().SetReachable(true);
  EXPECT_TRUE(Eventually([&] { return harness.consumer().brokers_reachable(); }));
  Produce(topic, 10, 10);
  EXPECT_TRUE(Eventually([&] { return harness.next(0) >= 20; }));
}

// librdkafka reports from a count that all connections are down. That count was seen to miss the last one.
TEST_F(ConsumerTest, NoticesEveryTimeThatBrokersGoAway) {
  const auto topic = NewTopic(3);
  ConsumerHarness harness(OptionsFor(topic));
  for (int round = 0; round < 4; ++round) {
    Produce(topic, round * 100, 100);
    ASSERT_TRUE(Eventually([&] { return harness.records() == static_cast<unsigned>(round + 1) * 100u; }, 20s))
        << round;
    Broker().SetReachable(false);
    EXPECT_TRUE(Eventually([&] { return !harness.consumer().brokers_reachable(); })) << round;
    Broker().SetReachable(true);
    ASSERT_TRUE(Eventually([&] { return harness.consumer().brokers_reachable(); }, 20s)) << round;
  }
}

TEST_F(ConsumerTest, SaysWhichSettingIsWrong) {
  auto options = OptionsFor("any");
  options.client = {{"linger.ms", "soon"}};
  struct NeverAsked final : RebalanceHandler {
    Result<std::optional<int64_t>> OnAssigned(const Assignment&) override {
      return Fail(Code::kRefused, "not expected");
    }
    void OnRevoked(std::span<const int32_t>, bool) override {}
  } handler;
  const auto consumer = Consumer::Open(options, handler);
  ASSERT_FALSE(consumer);
  EXPECT_EQ(consumer.error().code, Code::kInvalidArgument);
  EXPECT_NE(consumer.error().message.find("linger.ms"), std::string::npos);
}

TEST(ConsumerSettings, LeaveTheLibrarysPollIntervalWhichNoSessionExceeds) {
  const auto interval = [](const ClientSettings& client) {
    Consumer::Options options;
    options.group_id = "group";
    options.client = client;
    const auto conf = ConsumerLink(options).MakeConf().value();
    char text[32];
    size_t size = sizeof text;
    EXPECT_EQ(rd_kafka_conf_get(conf.get(), "max.poll.interval.ms", text, &size), RD_KAFKA_CONF_OK);
    return std::string(text);
  };
  EXPECT_EQ(interval({}), "300000");
  EXPECT_EQ(interval({{"max.poll.interval.ms", "600000"}}), "600000");
  // 30 s would be less than the library's own session.timeout.ms.
  EXPECT_GT(std::chrono::minutes(5), SessionTimeout({}));
  Consumer::Options options;
  options.client = {{"max.poll.interval.ms", "30000"}};
  options.group_id = "group";
  auto refused = ConsumerLink(options).MakeConf();
  EXPECT_EQ(kafka::MakeClient(RD_KAFKA_CONSUMER, std::move(*refused)).error().code, Code::kInvalidArgument);
}

}  // namespace
}  // namespace seen
