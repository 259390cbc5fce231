#include <map>
#include <set>
#include <thread>

#include "broker_fixture.h"
#include "kafka/admin.h"
#include "kafka/reader.h"
#include "kafka/snapshot_producer.h"

namespace seen {
namespace {

class SnapshotProducerTest : public BrokerTest {
 protected:
  static SnapshotProducer::Options OptionsFor(const std::string& topic, Partitioner partitioner) {
    SnapshotProducer::Options options;
    options.brokers = Brokers();
    options.topics = {{7, topic}};
    options.partitioner = partitioner;
    return options;
  }
  static bool TrySend(SnapshotProducer& producer, std::string_view user_id, std::string_view bytes,
                      uint64_t ticket) {
    OutgoingSnapshot snapshot{7, user_id, bytes, ticket};
    producer.TrySend({&snapshot, 1});
    return snapshot.queued;
  }
};

TEST_F(SnapshotProducerTest, AcknowledgesEachTicketOnceAndPutsKeysWhereTheInputHasThem) {
  const auto topic = NewTopic(5);
  const auto producer = SnapshotProducer::Open(OptionsFor(topic, Partitioner::kCrc32)).value();
  std::multiset<uint64_t> delivered;
  const SnapshotSink::Acknowledge acknowledge = [&](uint64_t ticket, bool well) {
    EXPECT_TRUE(well);
    delivered.insert(ticket);
  };
  const std::string bytes("\0snapshot\xff", 10);
  for (uint64_t ticket = 0; ticket < 300; ++ticket) {
    ASSERT_TRUE(TrySend(*producer, "u" + std::to_string(ticket), bytes, ticket));
  }
  EXPECT_TRUE(Eventually([&] {
    producer->PollAcknowledgements(acknowledge);
    return delivered.size() >= 300;
  }));
  EXPECT_EQ(producer->outstanding(), 0u);
  for (uint64_t ticket = 0; ticket < 300; ++ticket) EXPECT_EQ(delivered.count(ticket), 1u);
  EXPECT_TRUE(producer->Health());

  PartitionReader::Options options;
  options.brokers = Brokers();
  options.topic = topic;
  const auto reader = PartitionReader::Open(options, 5s).value();
  size_t read = 0;
  for (;;) {
    const auto more = reader->Poll(200ms, [&](int32_t partition, std::span<const Record> records) {
      for (const auto& record : records) {
        EXPECT_EQ(PartitionOf(Partitioner::kCrc32, record.key, 5), partition);
        EXPECT_EQ(record.value, bytes);
        ++read;
      }
    });
    ASSERT_TRUE(more);
    if (!*more) break;
  }
  EXPECT_EQ(read, 300u);
}

TEST_F(SnapshotProducerTest, SaysFullInsteadOfGrowing) {
  auto options = OptionsFor("any", Partitioner::kMurmur2);
  options.brokers = "127.0.0.1:1";
  options.queue_bytes_max = 100'000;
  const auto producer = SnapshotProducer::Open(options).value();
  const std::string bytes(10'000, 'x');
  int sent = 0;
  while (sent < 100 && TrySend(*producer, "u", bytes, 1)) ++sent;
  EXPECT_GE(sent, 8);
  EXPECT_LE(sent, 11);
}

TEST_F(SnapshotProducerTest, OfABatchQueuesWhatThereIsRoomFor) {
  const auto topic = NewTopic(3);
  auto options = OptionsFor(topic, Partitioner::kMurmur2);
  options.queue_bytes_max = 100'000;
  const auto producer = SnapshotProducer::Open(options).value();
  const std::string bytes(10'000, 'x');
  std::vector<OutgoingSnapshot> snapshots;
  for (uint64_t ticket = 0; ticket < 30; ++ticket) snapshots.push_back({7, "u", bytes, ticket});
  snapshots[3].filter = 8;  // has no topic
  std::map<uint64_t, bool> acknowledged;
  const auto poll = [&](uint64_t ticket, bool well) {
    EXPECT_TRUE(acknowledged.emplace(ticket, well).second);
  };
  producer->TrySend(snapshots);
  std::map<uint64_t, bool> expected;
  for (const OutgoingSnapshot& snapshot : snapshots) {
    if (snapshot.queued) expected.emplace(snapshot.ticket, snapshot.filter == 7);
  }
  EXPECT_GE(expected.size(), 8u);
  EXPECT_LE(expected.size(), 12u);
  EXPECT_EQ(producer->outstanding(), expected.size());
  EXPECT_TRUE(producer->Flush(10s, poll));
  EXPECT_EQ(acknowledged, expected);
}

TEST_F(SnapshotProducerTest, GivesBackWhatIsTooLargeAsNotDelivered) {
  auto options = OptionsFor(NewTopic(1), Partitioner::kMurmur2);
  options.client = {{"message.max.bytes", "1000"}};
  const auto producer = SnapshotProducer::Open(options).value();
  ASSERT_TRUE(TrySend(*producer, "u", std::string(2000, 'x'), 42));
  std::vector<std::pair<uint64_t, bool>> acknowledged;
  producer->PollAcknowledgements(
      [&](uint64_t ticket, bool well) { acknowledged.emplace_back(ticket, well); });
  EXPECT_EQ(acknowledged, (std::vector<std::pair<uint64_t, bool>>{{42, false}}));
}

TEST_F(SnapshotProducerTest, WaitsForMoreUnlessToldToSendNow) {
  auto options = OptionsFor(NewTopic(1), Partitioner::kMurmur2);
  options.linger = 60s;
  const auto producer = SnapshotProducer::Open(options).value();
  uint64_t delivered = 0;
  const SnapshotSink::Acknowledge acknowledge = [&](uint64_t, bool well) { delivered += well ? 1 : 0; };
  ASSERT_TRUE(TrySend(*producer, "u", "1", 1));
  std::this_thread::sleep_for(300ms);
  producer->PollAcknowledgements(acknowledge);
  EXPECT_EQ(delivered, 0u);
  EXPECT_TRUE(Eventually([&] {
    producer->SendNow(acknowledge);
    return delivered == 1;
  }));
}

TEST_F(SnapshotProducerTest, DeliversAfterTheBrokerWasAway) {
  const auto topic = NewTopic(1);
  const auto producer = SnapshotProducer::Open(OptionsFor(topic, Partitioner::kMurmur2)).value();
  uint64_t delivered = 0;
  const SnapshotSink::Acknowledge acknowledge = [&](uint64_t, bool well) { delivered += well ? 1 : 0; };
  ASSERT_TRUE(TrySend(*producer, "u", "1", 1));
  EXPECT_TRUE(producer->Flush(5s, acknowledge));
  Broker().SetReachable(false);
  ASSERT_TRUE(TrySend(*producer, "u", "2", 2));
  EXPECT_FALSE(producer->Flush(300ms, acknowledge));
  EXPECT_EQ(delivered, 1u);
  Broker().SetReachable(true);
  EXPECT_TRUE(producer->Flush(10s, acknowledge));
  EXPECT_EQ(delivered, 2u);
}

class AdminTest : public BrokerTest {};

TEST_F(AdminTest, CountsPartitions) {
  const auto topic = NewTopic(6);
  const auto admin = Admin::Open(Brokers(), {}).value();
  EXPECT_TRUE(admin->Ping(5s));
  EXPECT_EQ(admin->PartitionCount(topic, 5s), 6);
}

TEST_F(AdminTest, TakesNoAnswerOnATopicsConfigurationForUnknown) {
  const auto topic = NewTopic(1);
  const auto admin = Admin::Open(Brokers(), {}).value();
  const auto value = admin->TopicConfig(topic, "retention.ms", 5s);
  ASSERT_TRUE(value) << value.error().message;
  EXPECT_EQ(*value, std::nullopt);
}

TEST_F(AdminTest, WarnsOfAnotherPartitionCount) {
  const auto topic = NewTopic(3);
  const auto admin = Admin::Open(Brokers(), {}).value();
  const auto same = admin->EnsureTopic({topic, 3, {{"cleanup.policy", "compact"}}}, 5s);
  ASSERT_TRUE(same) << same.error().message;
  EXPECT_EQ(same->warning, "");
  EXPECT_FALSE(same->created);
  const auto other = admin->EnsureTopic({topic, 4, {}}, 5s);
  ASSERT_TRUE(other);
  EXPECT_EQ(other->warning, "topic \"" + topic + "\" has 3 partitions, not 4");
}

TEST_F(AdminTest, SaysThatBrokersAreAway) {
  const auto admin = Admin::Open("127.0.0.1:1", {}).value();
  const auto count = admin->PartitionCount("any", 300ms);
  ASSERT_FALSE(count);
  EXPECT_EQ(count.error().code, Code::kUnavailable);
  EXPECT_FALSE(admin->Ping(300ms));
}

}  // namespace
}  // namespace seen
