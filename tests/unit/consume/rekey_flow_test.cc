#include "consume/rekey_flow.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <vector>

#include "support/fakes.h"

namespace seen {
namespace {

constexpr int64_t kNow = 1'763'700'000'000;

class FakeKeyedTopic final : public KeyedRecordSink {
 public:
  SendResult TrySend(std::string_view key, const Record& record, uint64_t ticket) override {
    if (record.value.size() > record_bytes_max) return SendResult::kTooLarge;
    if (in_flight.size() >= room) return SendResult::kFull;
    in_flight.push_back({std::string(key), record.offset, record.timestamp.value, ticket});
    return SendResult::kQueued;
  }
  struct Sent {
    std::string key;
    int64_t offset, timestamp;
    uint64_t ticket;
  };
  std::vector<Sent> in_flight;
  size_t room = 1000;
  size_t record_bytes_max = 1 << 20;
};

class NotedRekeying final : public RekeyReporter {
 public:
  void EventRejected(const Rejection& rejection, int32_t partition, int64_t offset) override {
    EXPECT_EQ(partition, 7);
    rejected[offset] = RejectReasonName(rejection.reason);
  }
  void BatchRekeyed(const RekeyReport& report) override {
    sent += report.sent;
    for (const uint64_t count : report.skipped) skipped += count;
    for (const uint64_t count : report.rejected) rejected_total += count;
  }
  void RekeyingRewound(int32_t, int64_t offset) override { rewound.push_back(offset); }

  std::map<int64_t, std::string> rejected;
  uint64_t sent = 0, skipped = 0, rejected_total = 0;
  std::vector<int64_t> rewound;
};

class RekeyFlowTest : public testing::Test {
 protected:
  /// Offsets count up from `first`.
  std::span<const Record> Records(const std::vector<std::string>& values, int64_t first = 0) {
    values_ = values;
    records_.clear();
    for (const std::string& value : values_) {
      Record& record = records_.emplace_back();
      record.offset = first++;
      record.timestamp = {kNow};
      record.key = "any";
      record.value = value;
      record.value_is_null = value == "null";
    }
    return records_;
  }
  static std::string Of(const std::string& user, int64_t at = kNow) {
    return R"({"user_id":")" + user + R"(","item_id":"i","exposed_at":)" + std::to_string(at) + "}";
  }
  static RekeyOptions Options() {
    RekeyOptions options;
    options.partition = 7;
    options.ticket_tag = 3;
    options.event_bytes_max = 1000;
    return options;
  }
  void Tell(RekeyFlow& flow, size_t index, Delivery delivery = Delivery::kAcknowledged) {
    EXPECT_EQ(topic_.in_flight[index].ticket >> 32, 3u);
    const RekeyFlow::DeliveryReport told{static_cast<uint32_t>(topic_.in_flight[index].ticket), delivery};
    flow.Delivered({&told, 1}, clock_.Now());
  }

  std::mt19937_64 random_{1};
  FakeKeyedTopic topic_;
  sim::FakeDeadLetters letters_{random_};
  NotedRekeying reporter_;
  sim::VirtualClock clock_;
  std::vector<std::string> values_;
  std::vector<Record> records_;
};

TEST_F(RekeyFlowTest, RecordsGoOnUnderTheirUsersAndArePassedOnceAcknowledged) {
  RekeyFlow flow(Options(), 5, topic_, letters_, reporter_);
  EXPECT_EQ(flow.Apply(Records({Of("old"), Of("a"), Of("b"), Of("c")}, 4)), 4u)
      << "offset 4 was passed before";
  ASSERT_EQ(topic_.in_flight.size(), 3u);
  EXPECT_EQ(topic_.in_flight[1].key, "b");
  EXPECT_EQ(topic_.in_flight[1].offset, 6);
  EXPECT_EQ(topic_.in_flight[1].timestamp, kNow);
  Tell(flow, 1);
  EXPECT_EQ(flow.position(), 5);
  Tell(flow, 0);
  EXPECT_EQ(flow.position(), 7);
  Tell(flow, 2);
  flow.ReachedEnd(11);
  EXPECT_EQ(flow.position(), 11);
  EXPECT_EQ(reporter_.sent, 3u);
}

TEST_F(RekeyFlowTest, WhatIsBadWaitsForItsLetterAndWhatIsSkippedForNothing) {
  EventFormat format;
  format.only_if.push_back(
      {*ParseJsonPointer("/item_id"), Condition::Test::kIn, {{ScalarKind::kString, "i"}}});
  RekeyOptions options = Options();
  options.plan = *EventPlan::Make(format);
  RekeyFlow flow(options, 0, topic_, letters_, reporter_);
  const std::string skipped = R"({"user_id":"u","item_id":"j","exposed_at":1})";
  EXPECT_EQ(flow.Apply(Records({skipped, "null", "x", Of("a", kNow + 301'000), Of(std::string(600, 'u')),
                                Of("a") + std::string(1000, ' '), skipped})),
            7u);
  EXPECT_TRUE(topic_.in_flight.empty());
  EXPECT_EQ(
      reporter_.rejected,
      (std::map<int64_t, std::string>{
          {1, "null_value"}, {2, "not_json"}, {3, "too_far_ahead"}, {4, "id_too_long"}, {5, "too_large"}}));
  EXPECT_EQ(reporter_.skipped, 2u);
  EXPECT_EQ(reporter_.rejected_total, 5u);
  EXPECT_EQ(flow.position(), 1);
  letters_.DeliverAll();
  EXPECT_EQ(flow.position(), 7);
  EXPECT_EQ(letters_.topic, (std::set<int64_t>{1, 2, 3, 4, 5}));
}

TEST_F(RekeyFlowTest, TheEventsOfARecordAreOneOffset) {
  RekeyFlow flow(Options(), 0, topic_, letters_, reporter_);
  const auto records = Records({"[" + Of("a") + "," + Of("b") + ",7," + Of("c") + "]", Of("d")});
  topic_.room = 1;
  EXPECT_EQ(flow.Apply(records), 0u);
  Tell(flow, 0);
  EXPECT_EQ(flow.position(), 0) << "the other events aren't sent yet";
  topic_.room = 3;
  EXPECT_EQ(flow.Apply(records), 1u) << "b and c go on, and d waits";
  ASSERT_EQ(topic_.in_flight.size(), 3u);
  Tell(flow, 1, Delivery::kFailed);
  clock_.Advance(2'000);
  EXPECT_EQ(flow.Rewind(clock_.Now()), 0);
  topic_ = {};
  EXPECT_EQ(flow.Apply(records), 2u);
  ASSERT_EQ(topic_.in_flight.size(), 4u) << "all events are sent again";
  Tell(flow, 1, Delivery::kTooLarge);
  EXPECT_EQ(flow.Rewind(clock_.Now()), 0);
  topic_ = {};
  EXPECT_EQ(flow.Apply(records), 2u);
  ASSERT_EQ(topic_.in_flight.size(), 3u) << "b alone is too large";
  EXPECT_EQ(topic_.in_flight[0].key, "a");
  EXPECT_EQ(topic_.in_flight[1].key, "c");
  for (size_t i = 0; i < 3; ++i) Tell(flow, i);
  letters_.DeliverAll();
  EXPECT_EQ(flow.position(), 2);
}

TEST_F(RekeyFlowTest, AFullQueueHoldsTheRestBack) {
  RekeyFlow flow(Options(), 0, topic_, letters_, reporter_);
  topic_.room = 2;
  const auto records = Records({Of("a"), Of("b"), Of("c")});
  EXPECT_EQ(flow.Apply(records), 2u);
  EXPECT_EQ(flow.next_offset(), 2);
  EXPECT_EQ(flow.Apply(records.subspan(2)), 0u);
  topic_.room = 3;
  EXPECT_EQ(flow.Apply(records.subspan(2)), 1u);
  for (size_t i = 0; i < 3; ++i) Tell(flow, i);
  EXPECT_EQ(flow.position(), 3);
}

TEST_F(RekeyFlowTest, WhatFailedIsReadAgainAfterAWhile) {
  RekeyFlow flow(Options(), 0, topic_, letters_, reporter_);
  (void)flow.Apply(Records({Of("a"), Of("b"), Of("c")}));
  Tell(flow, 0);
  Tell(flow, 1, Delivery::kFailed);
  Tell(flow, 2);
  EXPECT_EQ(flow.Apply(Records({Of("d")}, 3)), 0u) << "order: nothing overtakes it";
  EXPECT_EQ(flow.Rewind(clock_.Now()), std::nullopt);
  clock_.Advance(1000);
  EXPECT_EQ(flow.Rewind(clock_.Now()), 1);
  EXPECT_EQ(flow.Rewind(clock_.Now()), std::nullopt);
  EXPECT_EQ(flow.position(), 1);
  EXPECT_EQ(flow.Apply(Records({Of("b"), Of("c"), Of("d")}, 1)), 3u);
  ASSERT_EQ(topic_.in_flight.size(), 6u);
  Tell(flow, 1);  // from before the rewind: has no effect
  EXPECT_EQ(flow.position(), 1);
  for (size_t i = 3; i < 6; ++i) Tell(flow, i);
  EXPECT_EQ(flow.position(), 4);
  EXPECT_EQ(reporter_.rewound, std::vector<int64_t>{1});
}

TEST_F(RekeyFlowTest, WhatTheTopicRefusesForItsLengthBecomesALetter) {
  RekeyFlow flow(Options(), 0, topic_, letters_, reporter_);
  (void)flow.Apply(Records({Of("a"), Of("b"), Of("c")}));
  Tell(flow, 0);
  Tell(flow, 1, Delivery::kTooLarge);
  EXPECT_EQ(flow.Rewind(clock_.Now()), 1) << "at once";
  EXPECT_EQ(flow.Apply(Records({Of("b"), Of("c")}, 1)), 2u);
  EXPECT_EQ(reporter_.rejected, (std::map<int64_t, std::string>{{1, "too_large"}}));
  Tell(flow, 3);
  EXPECT_EQ(flow.position(), 1);
  letters_.DeliverAll();
  EXPECT_EQ(flow.position(), 3);

  topic_.record_bytes_max = 10;  // refused before the record is queued
  EXPECT_EQ(flow.Apply(Records({Of("d")}, 3)), 1u);
  EXPECT_EQ(reporter_.rejected[3], "too_large");
}

// Sends fail, the process crashes, and records come twice. Still, each record below the position is in the
// topic or in the dead letters.
TEST_F(RekeyFlowTest, NothingIsMissingBelowThePosition) {
  for (int round = 0; round < 50; ++round) {
    topic_ = {};
    letters_.topic.clear();
    std::vector<std::string> log;
    for (int i = 0; i < 120; ++i) log.push_back(random_() % 10 == 0 ? "bad" : Of("u" + std::to_string(i)));
    std::set<int64_t> arrived;
    int64_t committed = 0;
    while (committed < static_cast<int64_t>(log.size())) {
      RekeyFlow flow(Options(), committed, topic_, letters_, reporter_);
      int64_t next = committed;
      for (int step = 0; step < 40; ++step) {
        clock_.Advance(400);
        topic_.room = random_() % 30;
        const auto from = log.begin() + next;
        const auto to = from + std::min<int64_t>(log.end() - from, static_cast<int64_t>(random_() % 20));
        next += static_cast<int64_t>(flow.Apply(Records({from, to}, next)));
        while (!topic_.in_flight.empty() && random_() % 8 != 0) {
          const size_t which = random_() % topic_.in_flight.size();
          const bool fails = random_() % 20 == 0;
          if (!fails) arrived.insert(topic_.in_flight[which].offset);
          Tell(flow, which, fails ? Delivery::kFailed : Delivery::kAcknowledged);
          topic_.in_flight.erase(topic_.in_flight.begin() + static_cast<std::ptrdiff_t>(which));
        }
        letters_.DeliverSome();
        if (const auto back = flow.Rewind(clock_.Now())) next = *back;
        ASSERT_GE(flow.position(), committed);
        committed = flow.position();
        for (int64_t offset = 0; offset < committed; ++offset) {
          const bool bad = log[static_cast<size_t>(offset)] == "bad";
          ASSERT_TRUE(bad ? letters_.topic.contains(offset) : arrived.contains(offset)) << offset;
        }
      }
      topic_.in_flight.clear();  // the process is killed
      letters_.Crash();
    }
  }
}

TEST(RekeyProgress, IsBehindByWhatWasThereALookAgo) {
  RekeyProgress progress;
  EXPECT_EQ(progress.behind(), std::nullopt);
  progress.Look({{0, {0, 100, -1, -1}}, {1, {40, 50, -1, -1}}});
  EXPECT_EQ(progress.behind(), 100) << "retention took the rest";
  progress.Look({{0, {0, 5000, 60, -1}}, {1, {40, 50, 41, 45}}});
  EXPECT_EQ(progress.behind(), 40) << "however much came since";
  progress.Look({{0, {0, 9000, 5000, -1}}, {1, {40, 50, 50, 50}}});
  EXPECT_EQ(progress.behind(), 0);
  EXPECT_EQ(progress.partitions().at(0).lag(), 4000);
  progress.Look({{0, {0, 9000, 9000, -1}}, {1, {40, 50, 50, 50}}, {2, {0, 3, -1, -1}}});
  EXPECT_EQ(progress.behind(), 3) << "a partition that was added";
  progress.Look({{0, {0, 9000, 9000, -1}}, {1, {40, 50, 5000, -1}}, {2, {0, 3, 3, -1}}});
  EXPECT_EQ(progress.behind(), std::nullopt) << "the source was cut";
  progress.Look({});
  EXPECT_EQ(progress.behind(), std::nullopt);
}

}  // namespace
}  // namespace seen
