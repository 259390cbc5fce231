#include "kafka/dead_letter_producer.h"

// This test reads headers itself. The room's reader doesn't return headers, because only this test needs
// them.
#include <librdkafka/rdkafka.h>

#include <map>
#include <thread>

#include "broker_fixture.h"
#include "faulty_broker.h"
#include "support/fakes.h"

namespace seen {
namespace {

struct Found {
  std::string key, value;
  bool value_is_null = false;
  std::map<std::string, std::string> headers;
};

class DeadLetters : public BrokerTest {
 protected:
  static DeadLetterProducer::Options OptionsFor(const std::string& topic) {
    DeadLetterProducer::Options options;
    options.brokers = Brokers();
    options.topic = topic;
    options.source_topic = "exposures";
    return options;
  }
  static std::vector<Found> Read(const std::string& topic, size_t count,
                                 const std::string& brokers = Brokers()) {
    rd_kafka_conf_t* const conf = rd_kafka_conf_new();
    rd_kafka_conf_set(conf, "bootstrap.servers", brokers.c_str(), nullptr, 0);
    rd_kafka_conf_set(conf, "group.id", "x", nullptr, 0);
    rd_kafka_t* const client = rd_kafka_new(RD_KAFKA_CONSUMER, conf, nullptr, 0);
    auto* const list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(list, topic.c_str(), 0)->offset = RD_KAFKA_OFFSET_BEGINNING;
    rd_kafka_assign(client, list);
    rd_kafka_topic_partition_list_destroy(list);
    std::vector<Found> found;
    Eventually([&] {
      rd_kafka_message_t* const message = rd_kafka_consumer_poll(client, 100);
      if (message == nullptr) return false;
      if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
        auto& one = found.emplace_back();
        one.key.assign(static_cast<const char*>(message->key), message->key_len);
        one.value_is_null = message->payload == nullptr;
        if (!one.value_is_null) one.value.assign(static_cast<const char*>(message->payload), message->len);
        rd_kafka_headers_t* headers = nullptr;
        rd_kafka_message_headers(message, &headers);
        const char* name = nullptr;
        const void* value = nullptr;
        size_t bytes = 0;
        for (size_t i = 0;
             headers != nullptr && rd_kafka_header_get_all(headers, i, &name, &value, &bytes) == 0; ++i) {
          one.headers[name] = std::string(static_cast<const char*>(value), bytes);
        }
      }
      rd_kafka_message_destroy(message);
      return found.size() >= count;
    });
    rd_kafka_consumer_close(client);
    rd_kafka_destroy(client);
    return found;
  }
};

TEST_F(DeadLetters, CarryReasonAndOriginInHeaders) {
  const auto topic = NewTopic(1);
  const auto producer = DeadLetterProducer::Open(OptionsFor(topic)).value();
  const Record bad{17, {1'700'000'000'000}, "u1", "{\"user_id\"", false};
  const Record null{18, {1'700'000'000'001}, "u2", {}, true};
  const std::string message = std::string(299, '.') + "曝光";
  ASSERT_TRUE(producer->TrySend({{RejectReason::kMissingField, "item_id", message}, 3, &bad}));
  ASSERT_TRUE(producer->TrySend({{RejectReason::kNullValue, "", ""}, 3, &null}));
  EXPECT_TRUE(producer->Flush(5s));
  const auto found = Read(topic, 2);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].key, "u1");
  EXPECT_EQ(found[0].value, "{\"user_id\"");
  EXPECT_EQ(found[0].headers, (std::map<std::string, std::string>{{"reason", "missing_field"},
                                                                  {"field", "item_id"},
                                                                  {"message", std::string(299, '.')},
                                                                  {"source-topic", "exposures"},
                                                                  {"source-partition", "3"},
                                                                  {"source-offset", "17"}}));
  EXPECT_TRUE(found[1].value_is_null);
  EXPECT_EQ(found[1].headers.at("field"), "value");
  EXPECT_FALSE(found[1].headers.contains("message"));
}

TEST_F(DeadLetters, AreCutToWhatTheTopicTakes) {
  const auto topic = NewTopic(1);
  auto options = OptionsFor(topic);
  options.message_bytes_max = 10'000;
  const auto producer = DeadLetterProducer::Open(options).value();
  const std::string large(50'000, 'x');
  const Record record{5, {1}, "u", large, false};
  ASSERT_TRUE(producer->TrySend({{RejectReason::kTooLarge, "", ""}, 0, &record}));
  EXPECT_TRUE(producer->Flush(5s));
  const auto found = Read(topic, 1);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].headers.at("truncated"), "50000");
  EXPECT_GT(found[0].value.size(), 8'000u);
  EXPECT_LT(found[0].value.size(), 10'000u);
}

TEST_F(DeadLetters, OfALongKeyKeepAQuarterAtTheValuesCost) {
  struct Case {
    size_t key, value, key_kept, value_kept;
  };
  // Headers and framing take 1,536 of the 10,000 bytes.
  const Case cases[] = {{50'000, 0, 8'464, 0},
                        {50'000, 100, 8'364, 100},
                        {50'000, 50'000, 2'116, 6'348},
                        {3'000, 50'000, 2'116, 6'348},
                        {1'000, 50'000, 1'000, 7'464}};
  const auto topic = NewTopic(1);
  auto options = OptionsFor(topic);
  options.message_bytes_max = 10'000;
  const auto producer = DeadLetterProducer::Open(options).value();
  for (const Case& one : cases) {
    const std::string key(one.key, 'k');
    const std::string value(one.value, 'v');
    const Record record{5, {1}, key, value, false};
    ASSERT_TRUE(producer->TrySend({{RejectReason::kTooLarge, "", ""}, 0, &record}));
  }
  EXPECT_TRUE(producer->Flush(5s));
  const auto found = Read(topic, std::size(cases));
  ASSERT_EQ(found.size(), std::size(cases));
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].key.size(), cases[i].key_kept) << i;
    EXPECT_EQ(found[i].value.size(), cases[i].value_kept) << i;
    EXPECT_EQ(found[i].headers.contains("truncated-key"), cases[i].key_kept < cases[i].key) << i;
    EXPECT_EQ(found[i].headers.contains("truncated"), cases[i].value_kept < cases[i].value) << i;
  }
  EXPECT_EQ(found[0].headers.at("truncated-key"), "50000");
}

TEST_F(DeadLetters, AreCutDownToTheirHeadersAndThenDroppedButNeverHoldTheOffset) {
  FaultyBroker broker;
  broker.CreateTopic("dead", 1);
  auto options = OptionsFor("dead");
  options.brokers = broker.bootstrap();
  sim::CountingReporter reporter;
  options.reporter = &reporter;
  const auto producer = DeadLetterProducer::Open(options).value();
  // The key is too long for the topic, and the topic doesn't say its limit. So the producer sends the key
  // once more as it is, and then half of it.
  broker.FailNext(FaultyBroker::Request::kProduce, 2, RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE);
  const std::string key(8'000, 'k');
  const Record long_key{7, {1}, key, {}, true};
  ASSERT_TRUE(producer->TrySend({{RejectReason::kNullValue, "", ""}, 0, &long_key}));
  EXPECT_TRUE(producer->Flush(10s));
  const auto found = Read("dead", 1, broker.bootstrap());
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].key.size(), 4'000u);
  EXPECT_TRUE(found[0].value_is_null);
  EXPECT_EQ(found[0].headers.at("truncated-key"), "8000");
  EXPECT_EQ(reporter.dead_letters_dropped, 0u);

  broker.FailNext(FaultyBroker::Request::kProduce, 100, RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE);
  const Record small{8, {1}, "k", "v", false};
  ASSERT_TRUE(producer->TrySend({{RejectReason::kNotJson, "", ""}, 0, &small}));
  EXPECT_EQ(producer->OldestUnacknowledged(0), 8);
  EXPECT_TRUE(producer->Flush(20s));
  EXPECT_EQ(producer->OldestUnacknowledged(0), -1);
  EXPECT_EQ(reporter.dead_letters_dropped, 1u);
}

TEST_F(DeadLetters, WhoseTimeIsRefusedGoWithThePresentTime) {
  FaultyBroker broker;
  broker.CreateTopic("dead", 1);
  auto options = OptionsFor("dead");
  options.brokers = broker.bootstrap();
  const auto producer = DeadLetterProducer::Open(options).value();
  broker.FailNext(FaultyBroker::Request::kProduce, 1, RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP);
  const Record old{7, {1'700'000'000'000}, "u", "v", false};
  ASSERT_TRUE(producer->TrySend({{RejectReason::kNotJson, "", ""}, 0, &old}));
  EXPECT_TRUE(producer->Flush(10s));
  const auto found = Read("dead", 1, broker.bootstrap());
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].value, "v");
  EXPECT_EQ(found[0].headers.at("source-timestamp"), "1700000000000");
  EXPECT_EQ(producer->problem(), "");
}

TEST_F(DeadLetters, NameTheTopicThatRefusesThem) {
  FaultyBroker broker;
  broker.CreateTopic("dead", 1);
  auto options = OptionsFor("dead");
  options.brokers = broker.bootstrap();
  const auto producer = DeadLetterProducer::Open(options).value();
  broker.FailNext(FaultyBroker::Request::kProduce, 10'000, RD_KAFKA_RESP_ERR_INVALID_RECORD);
  const Record keyless{7, {1}, {}, "v", false};
  ASSERT_TRUE(producer->TrySend({{RejectReason::kNotJson, "", ""}, 0, &keyless}));
  EXPECT_TRUE(Eventually([&] { return producer->problem().find("\"dead\"") != std::string::npos; }));
  broker.FailNoMore(FaultyBroker::Request::kProduce);
  EXPECT_TRUE(producer->Flush(10s));
  EXPECT_EQ(producer->problem(), "");
}

TEST_F(DeadLetters, AreSentAgainAlsoWhileOthersAreRefused) {
  FaultyBroker broker;
  broker.CreateTopic("dead", 1);
  auto options = OptionsFor("dead");
  options.brokers = broker.bootstrap();
  sim::CountingReporter reporter;
  options.reporter = &reporter;
  const auto producer = DeadLetterProducer::Open(options).value();
  broker.FailNext(FaultyBroker::Request::kProduce, 10'000, RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE);
  int64_t offset = 0;
  Eventually([&] {
    const Record another{offset++, {1}, "k", "v", false};
    EXPECT_TRUE(producer->TrySend({{RejectReason::kNotJson, "", ""}, 0, &another}));
    std::this_thread::sleep_for(200ms);
    return reporter.dead_letters_dropped > 0;
  });
  EXPECT_GT(reporter.dead_letters_dropped, 0u);
}

TEST_F(DeadLetters, HoldTheOldestOffsetUntilAcknowledgedAndAreSentForEver) {
  const auto topic = NewTopic(1);
  const auto producer = DeadLetterProducer::Open(OptionsFor(topic)).value();
  const Record first{40, {1}, "a", "1", false};
  const Record second{41, {1}, "b", "2", false};
  EXPECT_EQ(producer->OldestUnacknowledged(0), -1);
  Broker().SetReachable(false);
  ASSERT_TRUE(producer->TrySend({{RejectReason::kNotJson, "", ""}, 0, &second}));
  ASSERT_TRUE(producer->TrySend({{RejectReason::kNotJson, "", ""}, 0, &first}));
  ASSERT_TRUE(producer->TrySend({{RejectReason::kNotJson, "", ""}, 1, &second}));
  EXPECT_FALSE(producer->Flush(200ms));
  EXPECT_EQ(producer->OldestUnacknowledged(0), 40);
  EXPECT_EQ(producer->OldestUnacknowledged(1), 41);
  producer->Forget(1);
  EXPECT_EQ(producer->OldestUnacknowledged(1), -1);
  Broker().SetReachable(true);
  EXPECT_TRUE(producer->Flush(10s));
  EXPECT_EQ(producer->OldestUnacknowledged(0), -1);
  EXPECT_EQ(Read(topic, 3).size(), 3u);
}

}  // namespace
}  // namespace seen
