#include <map>
#include <set>
#include <thread>

#include "broker_fixture.h"
#include "faulty_broker.h"
#include "kafka/admin.h"
#include "kafka/snapshot_producer.h"
#include "kafka/topic_reader.h"
#include "support/fakes.h"

namespace seen {
namespace {

class SnapshotProducerTest : public BrokerTest {
 protected:
  static SnapshotProducer::Options OptionsFor(const std::string& topic, Partitioner partitioner) {
    SnapshotProducer::Options options;
    options.brokers = Brokers();
    options.topics = {{FilterIndex{7}, topic}};
    options.partitioner = partitioner;
    return options;
  }
  static bool TrySend(SnapshotProducer& producer, std::string_view user_id, std::string_view bytes,
                      uint64_t ticket) {
    OutgoingSnapshot snapshot{Output::kSnapshots, 7, user_id, bytes, ticket};
    producer.TrySend({&snapshot, 1});
    return snapshot.queued;
  }
};

TEST_F(SnapshotProducerTest, AcknowledgesEachTicketOnceAndPutsKeysWhereTheInputHasThem) {
  const auto topic = NewTopic(5);
  const auto producer = SnapshotProducer::Open(OptionsFor(topic, Partitioner::kCrc32)).value();
  std::multiset<uint64_t> delivered;
  const SnapshotSink::Acknowledge acknowledge = [&](uint64_t ticket, Delivery delivery) {
    EXPECT_EQ(delivery, Delivery::kAcknowledged);
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

  TopicReader::Options options;
  options.brokers = Brokers();
  options.topic = topic;
  const auto reader = TopicReader::Open(options, 5s).value();
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
  for (uint64_t ticket = 0; ticket < 30; ++ticket)
    snapshots.push_back({Output::kSnapshots, 7, "u", bytes, ticket});
  snapshots[3].filter = 8;  // has no topic
  std::map<uint64_t, bool> acknowledged;
  const auto poll = [&](uint64_t ticket, Delivery delivery) {
    EXPECT_TRUE(acknowledged.emplace(ticket, delivery == Delivery::kAcknowledged).second);
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

TEST_F(SnapshotProducerTest, GivesBackWhatIsTooLargeAsTooLarge) {
  auto options = OptionsFor(NewTopic(1), Partitioner::kMurmur2);
  options.client = {{"message.max.bytes", "1000"}};
  const auto producer = SnapshotProducer::Open(options).value();
  ASSERT_TRUE(TrySend(*producer, "u", std::string(2000, 'x'), 42));
  std::vector<std::pair<uint64_t, Delivery>> acknowledged;
  producer->PollAcknowledgements(
      [&](uint64_t ticket, Delivery delivery) { acknowledged.emplace_back(ticket, delivery); });
  EXPECT_EQ(acknowledged, (std::vector<std::pair<uint64_t, Delivery>>{{42, Delivery::kTooLarge}}));
}

TEST_F(SnapshotProducerTest, WaitsForMoreUnlessToldToSendNow) {
  auto options = OptionsFor(NewTopic(1), Partitioner::kMurmur2);
  options.linger = 60s;
  options.delivery_timeout = 120s;
  const auto producer = SnapshotProducer::Open(options).value();
  uint64_t delivered = 0;
  const SnapshotSink::Acknowledge acknowledge = [&](uint64_t, Delivery delivery) {
    delivered += delivery == Delivery::kAcknowledged ? 1 : 0;
  };
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
  const SnapshotSink::Acknowledge acknowledge = [&](uint64_t, Delivery delivery) {
    delivered += delivery == Delivery::kAcknowledged ? 1 : 0;
  };
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

TEST_F(SnapshotProducerTest, GivesBackEachTicketOnceWhenItsClientIsDoneForAndSendsWithTheNext) {
  FaultyBroker broker;
  broker.CreateTopic("snapshots", 16);
  broker.FailNext(FaultyBroker::Request::kInitProducerId, 100,
                  RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED);
  auto options = OptionsFor("snapshots", Partitioner::kMurmur2);
  options.brokers = broker.bootstrap();
  options.queue_bytes_max = 512 << 20;
  const auto producer = SnapshotProducer::Open(options).value();
  std::vector<int> given_back(300'000);
  int delivered = 0;
  const SnapshotSink::Acknowledge acknowledge = [&](uint64_t ticket, Delivery delivery) {
    delivery == Delivery::kAcknowledged ? ++delivered : ++given_back.at(ticket);
  };
  broker.SetReachable(false);
  for (uint64_t ticket = 0; ticket < given_back.size(); ++ticket) {
    ASSERT_TRUE(TrySend(*producer, "u" + std::to_string(ticket), "1", ticket));
  }
  broker.SetReachable(true);
  ASSERT_TRUE(Eventually([&] { return !producer->Health(); }));
  EXPECT_TRUE(Eventually([&] {
    producer->PollAcknowledgements(acknowledge);
    return producer->outstanding() == 0;
  }));
  for (size_t ticket = 0; ticket < given_back.size(); ++ticket) ASSERT_EQ(given_back[ticket], 1) << ticket;
  EXPECT_EQ(delivered, 0);

  broker.FailNoMore(FaultyBroker::Request::kInitProducerId);
  ASSERT_TRUE(Eventually([&] {
    producer->PollAcknowledgements(acknowledge);
    return producer->Health() && TrySend(*producer, "u", "1", 0);
  }));
  EXPECT_TRUE(Eventually([&] {
    producer->PollAcknowledgements(acknowledge);
    if (delivered == 0 && producer->outstanding() == 0) TrySend(*producer, "u", "1", 0);
    return delivered == 1;
  }));
}

TEST_F(SnapshotProducerTest, TriesASnapshotThatIsTooLargeOnceASecondAndSendsTheOthers) {
  FaultyBroker broker;
  broker.CreateTopic("snapshots", 1);
  auto options = OptionsFor("snapshots", Partitioner::kMurmur2);
  options.brokers = broker.bootstrap();
  options.batch_bytes_max = 10'000;
  sim::CountingReporter reporter;
  options.reporter = &reporter;
  const auto producer = SnapshotProducer::Open(options).value();
  std::map<uint64_t, int> delivered, failed;
  const SnapshotSink::Acknowledge acknowledge = [&](uint64_t ticket, Delivery delivery) {
    ++(delivery == Delivery::kAcknowledged ? delivered : failed)[ticket];
  };
  const auto send = [&](uint64_t ticket, size_t bytes) {
    EXPECT_TRUE(TrySend(*producer, "u" + std::to_string(ticket), std::string(bytes, 'x'), ticket));
    EXPECT_TRUE(producer->Flush(5s, acknowledge));
    producer->PollAcknowledgements(acknowledge);
  };
  const auto began = std::chrono::steady_clock::now();
  broker.FailNext(FaultyBroker::Request::kProduce, 1, RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE);
  send(1, 20'000);
  EXPECT_EQ(failed[1], 1);
  EXPECT_EQ(reporter.too_large, 1u);
  // The broker would accept the snapshot now. But the producer doesn't ask the broker within a second.
  for (int i = 0; i < 100; ++i) send(2, 30'000);
  if (std::chrono::steady_clock::now() - began < 1s) {
    EXPECT_EQ(failed[2], 100);
    EXPECT_EQ(reporter.too_large, 101u);
  }
  send(3, 19'000);
  EXPECT_EQ(delivered[3], 1);
  std::this_thread::sleep_until(began + 1100ms);
  send(1, 20'000);
  EXPECT_EQ(delivered[1], 1);
  send(2, 30'000);
  EXPECT_EQ(delivered[2], 1);
}

TEST_F(SnapshotProducerTest, MakesSmallerBatchesWhereATopicRefusesThem) {
  FaultyBroker broker;
  broker.CreateTopic("snapshots", 1);
  auto options = OptionsFor("snapshots", Partitioner::kMurmur2);
  options.brokers = broker.bootstrap();
  options.linger = 200ms;
  sim::CountingReporter reporter;
  options.reporter = &reporter;
  const auto producer = SnapshotProducer::Open(options).value();
  std::map<uint64_t, int> delivered, failed;
  const SnapshotSink::Acknowledge acknowledge = [&](uint64_t ticket, Delivery delivery) {
    ++(delivery == Delivery::kAcknowledged ? delivered : failed)[ticket];
  };
  broker.FailNext(FaultyBroker::Request::kProduce, 1, RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE);
  for (uint64_t ticket = 0; ticket < 10; ++ticket) {
    ASSERT_TRUE(TrySend(*producer, "u" + std::to_string(ticket), std::string(1000, 'x'), ticket));
  }
  EXPECT_TRUE(Eventually([&] {
    producer->PollAcknowledgements(acknowledge);
    return failed.size() == 10;
  }));
  EXPECT_EQ(reporter.too_large, 0u) << "none of them is too large by itself";
  EXPECT_TRUE(Eventually([&] {
    producer->PollAcknowledgements(acknowledge);
    return static_cast<bool>(producer->Health());
  }));
  for (uint64_t ticket = 0; ticket < 10; ++ticket) {
    ASSERT_TRUE(TrySend(*producer, "u" + std::to_string(ticket), std::string(1000, 'x'), ticket));
  }
  EXPECT_TRUE(producer->Flush(10s, acknowledge));
  EXPECT_EQ(delivered.size(), 10u);
}

TEST_F(SnapshotProducerTest, GivesBackWhatTimedOutAndDeliversItWhenItIsSentAgain) {
  auto options = OptionsFor(NewTopic(1), Partitioner::kMurmur2);
  options.delivery_timeout = 500ms;
  const auto producer = SnapshotProducer::Open(options).value();
  std::map<uint64_t, int> delivered, failed;
  const SnapshotSink::Acknowledge acknowledge = [&](uint64_t ticket, Delivery delivery) {
    ++(delivery == Delivery::kAcknowledged ? delivered : failed)[ticket];
  };
  const auto arrives = [&](std::map<uint64_t, int>& where, uint64_t ticket) {
    return Eventually([&] {
      producer->PollAcknowledgements(acknowledge);
      return where[ticket] == 1;
    });
  };
  ASSERT_TRUE(TrySend(*producer, "u", "1", 1));
  EXPECT_TRUE(arrives(delivered, 1));
  Broker().SetReachable(false);
  ASSERT_TRUE(TrySend(*producer, "u", "2", 2));
  EXPECT_TRUE(arrives(failed, 2));
  Broker().SetReachable(true);
  for (uint64_t ticket = 3; delivered.size() < 2 && ticket < 100; ++ticket) {
    ASSERT_TRUE(TrySend(*producer, "u", "2", ticket));
    EXPECT_TRUE(Eventually([&] {
      producer->PollAcknowledgements(acknowledge);
      return producer->outstanding() == 0;
    }));
  }
  EXPECT_EQ(delivered.size(), 2u);
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

// Nothing else tells the client of the new leader.
TEST_F(AdminTest, AsksTheNewLeaderForTheEnds) {
  FaultyBroker cluster(2);
  const std::string topic = "led";
  cluster.CreateTopic(topic, 1);
  cluster.SetLeader(topic, 0, 1);
  const auto admin = Admin::Open(cluster.bootstrap(), {}).value();
  constexpr int32_t kPartition = 0;
  const auto ask = [&] { return admin->Ends(topic, {&kPartition, 1}, 2s); };
  ASSERT_TRUE(Eventually([&] { return ask().has_value(); }));
  cluster.SetLeader(topic, 0, 2);
  const auto moved = ask();
  EXPECT_TRUE(moved) << moved.error().message;
  cluster.SetLeader(topic, 0, 1);
  cluster.SetReachable(false, 2);
  EXPECT_TRUE(Eventually([&] { return ask().has_value(); }, 20s));
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
