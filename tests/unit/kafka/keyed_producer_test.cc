#include "kafka/keyed_producer.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "broker_fixture.h"
#include "faulty_broker.h"
#include "kafka/topic_reader.h"
#include "model/partitioner.h"

namespace seen {
namespace {

class KeyedProducerTest : public BrokerTest {
 protected:
  std::unique_ptr<KeyedProducer> Open(const std::string& topic, uint64_t queue_bytes_max = 1 << 20,
                                      const std::string& brokers = Brokers()) {
    KeyedProducer::Options options;
    options.brokers = brokers;
    options.topic = topic;
    options.queue_bytes_max = queue_bytes_max;
    options.record_bytes_max = 100'000;
    options.on_outcomes = [this](std::span<const KeyedProducer::Outcome> outcomes) {
      const std::lock_guard lock(mutex_);
      for (const auto& [ticket, delivery] : outcomes) outcomes_[ticket] = delivery;
    };
    return KeyedProducer::Open(options).value();
  }
  bool Told(size_t count) {
    return Eventually([&] {
      const std::lock_guard lock(mutex_);
      return outcomes_.size() >= count;
    });
  }

  std::mutex mutex_;
  std::map<uint64_t, Delivery> outcomes_;
};

TEST_F(KeyedProducerTest, RecordsArriveAtTheirUsersPartitionsAsTheyWere) {
  const auto topic = NewTopic(5);
  const auto producer = Open(topic);
  for (int64_t i = 0; i < 200; ++i) {
    const std::string value = "value " + std::to_string(i);
    const Record record{i, {1'700'000'000'000 + i}, "ignored", value, false};
    ASSERT_EQ(producer->TrySend("user-" + std::to_string(i % 40), record, static_cast<uint64_t>(i)),
              KeyedRecordSink::SendResult::kQueued);
  }
  ASSERT_TRUE(Told(200));
  for (const auto& [ticket, delivery] : outcomes_) EXPECT_EQ(delivery, Delivery::kAcknowledged) << ticket;
  TopicReader::Options from;
  from.brokers = Brokers();
  from.topic = topic;
  const auto reader = TopicReader::Open(from, 5s).value();
  int found = 0;
  while (reader
             ->Poll(100ms,
                    [&](int32_t partition, std::span<const Record> records) {
                      for (const Record& record : records) {
                        ++found;
                        const int64_t number = record.timestamp.value - 1'700'000'000'000;
                        EXPECT_EQ(record.value, "value " + std::to_string(number));
                        EXPECT_EQ(record.key, "user-" + std::to_string(number % 40));
                        EXPECT_EQ(partition, PartitionOf(Partitioner::kMurmur2, record.key, 5));
                      }
                    })
             .value()) {
  }
  EXPECT_EQ(found, 200);
}

TEST_F(KeyedProducerTest, ItsQueueIsBoundedAndGoesOnOnceBrokersAreBack) {
  const auto topic = NewTopic(1);
  const auto producer = Open(topic, 50'000);
  const std::string large(200'000, 'x');
  EXPECT_EQ(producer->TrySend("u", {0, {1}, "k", large, false}, 0), KeyedRecordSink::SendResult::kTooLarge);
  Broker().SetReachable(false);
  const std::string value(1000, 'x');
  uint64_t queued = 0;
  while (queued < 1000 && producer->TrySend("u", {1, {1}, "k", value, false}, queued) ==
                              KeyedRecordSink::SendResult::kQueued) {
    ++queued;
  }
  EXPECT_GT(queued, 10u);
  EXPECT_LT(queued, 100u);
  Broker().SetReachable(true);
  ASSERT_TRUE(Told(queued));
  EXPECT_EQ(producer->TrySend("u", {2, {1}, "k", value, false}, queued),
            KeyedRecordSink::SendResult::kQueued);
  ASSERT_TRUE(Told(queued + 1));
}

// A broker refuses a batch as a whole. A record that isn't too large itself must not become a dead letter.
TEST_F(KeyedProducerTest, RecordsOfABatchThatIsTooLargeAreSentAgainInSmallerBatches) {
  FaultyBroker broker;
  broker.CreateTopic("keyed", 1);
  const auto producer = Open("keyed", 1 << 20, broker.bootstrap());
  broker.FailNext(FaultyBroker::Request::kProduce, 1, RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE);
  const std::string value(1000, 'x');
  const auto send = [&](uint64_t ticket) {
    return producer->TrySend("u", {0, {1}, "k", value, false}, ticket) ==
           KeyedRecordSink::SendResult::kQueued;
  };
  const auto count = [&](Delivery delivery) {
    const std::lock_guard lock(mutex_);
    return std::ranges::count(outcomes_, delivery, [](const auto& outcome) { return outcome.second; });
  };
  for (uint64_t ticket = 0; ticket < 10; ++ticket) ASSERT_TRUE(send(ticket));
  ASSERT_TRUE(Told(10));
  EXPECT_EQ(count(Delivery::kTooLarge), 0);
  EXPECT_GT(count(Delivery::kFailed), 0);
  for (uint64_t ticket = 10; ticket < 20; ++ticket) ASSERT_TRUE(Eventually([&] { return send(ticket); }));
  ASSERT_TRUE(Told(20));
  EXPECT_EQ(count(Delivery::kTooLarge), 0);
  EXPECT_GE(count(Delivery::kAcknowledged), 10);
}

}  // namespace
}  // namespace seen
