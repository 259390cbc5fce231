#include "consume/rekey_handler.h"

#include <gtest/gtest.h>

#include "consume/topic_consumer.h"
#include "support/fake_binary_format.h"
#include "support/fake_group_log.h"
#include "support/fakes.h"

namespace seen {
namespace {
using namespace std::chrono_literals;

class ClockWait final : public ConsumerWait {
 public:
  explicit ClockWait(sim::VirtualClock& clock) : clock_(clock) {}
  void WaitForSpace(std::chrono::milliseconds time) override { clock_.Advance(time.count()); }

 private:
  sim::VirtualClock& clock_;
};

class CountingTopic final : public KeyedRecordSink {
 public:
  SendResult TrySend(std::string_view, const Record&, uint64_t) override {
    ++sent;
    return SendResult::kQueued;
  }
  int sent = 0;
};

TEST(RekeyHandler, SaysWhatItsRecordsWaitFor) {
  bool is_known = false;
  const auto plan = sim::FakeBinaryFormat::PlanBy(
      [&](uint32_t) { return is_known ? std::nullopt : std::optional(RejectReason::kSchemaPending); });
  std::mt19937_64 random(1);
  sim::VirtualClock clock;
  ClockWait wait(clock);
  CountingTopic keyed;
  sim::FakeDeadLetters letters(random);
  sim::CountingReporter reporter;
  RekeyHandler handler({"raw", "group", 0, [&] { return NewEventKeyer(plan, 1000, 300s); }}, {}, keyed,
                       letters, wait, reporter, clock);
  TopicConsumer::Options options;
  options.topic = "raw";
  TopicConsumer consumer(options, handler, wait, clock);
  sim::FakeTopic topic(1);
  sim::FakeGroupLog log(topic, consumer, 1);
  consumer.SetLog(log);
  log.Assign({0});
  topic.Append(0, {clock.WallNow(), "any",
                   sim::FakeBinaryFormat::Framed(7, R"({"user_id":"u","item_id":"i","exposed_at":)" +
                                                        std::to_string(clock.WallNow().value) + "}")});
  const auto steps = [&] {
    for (int i = 0; i < 20; ++i) {
      ASSERT_TRUE(consumer.StepControl(0ms));
      consumer.StepWorker(0, 0ms);
      clock.Advance(200);
    }
  };
  const TimeMs begun = clock.WallNow();
  steps();
  RekeyingPartitionStatus partition = handler.GetStatus().partitions.at(0);
  EXPECT_EQ(partition.held_by, HoldReason::kSchema);
  EXPECT_GE(partition.held_since, begun);
  EXPECT_LE(partition.held_since.value, begun.value + 500);
  EXPECT_TRUE(partition.reason.starts_with("waiting for the schema registry for ")) << partition.reason;
  EXPECT_EQ(keyed.sent, 0);
  is_known = true;
  steps();
  partition = handler.GetStatus().partitions.at(0);
  EXPECT_EQ(keyed.sent, 1);
  EXPECT_EQ(partition.held_by, HoldReason::kNone);
  EXPECT_EQ(partition.reason, "");
}

}  // namespace
}  // namespace seen
