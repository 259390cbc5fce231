#pragma once
// One embedded broker for all tests of the binary. Each test has its own topics and groups.

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <string>
#include <thread>

#include "kafka/bulk_producer.h"
#include "kafka/embedded_broker.h"

namespace seen {

using namespace std::chrono_literals;  // NOLINT: tests

/// Waits for `condition`, at most `limit`: long, because a group on a busy machine may need several rounds of
/// 3 s.
inline bool Eventually(const std::function<bool()>& condition, std::chrono::milliseconds limit = 30s) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(5ms);
  }
  return true;
}

class BrokerTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { Broker(); }

  static EmbeddedBroker& Broker() {
    static const auto broker = EmbeddedBroker::Start({}).value();
    return *broker;
  }
  static const std::string& Brokers() { return Broker().bootstrap(); }

  /// A topic named after the running test.
  static std::string NewTopic(int32_t partitions, const std::string& suffix = "") {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    const std::string topic = std::string(info->test_suite_name()) + "." + info->name() + suffix;
    EXPECT_TRUE(Broker().CreateTopic(topic, partitions));
    return topic;
  }

  static std::unique_ptr<BulkProducer> NewProducer(const std::string& topic,
                                                   Partitioner partitioner = Partitioner::kMurmur2) {
    BulkProducer::Options options;
    options.brokers = Brokers();
    options.topic = topic;
    options.partitioner = partitioner;
    return BulkProducer::Open(options).value();
  }

  /// Sends `count` records, numbered from `first` on. The key is the number, the value is "value " and the
  /// number.
  static void Produce(const std::string& topic, int first, int count) {
    const auto producer = NewProducer(topic);
    for (int i = first; i < first + count; ++i) {
      const std::string number = std::to_string(i);
      ASSERT_TRUE(producer->Send(number, "value " + number, TimeMs{1'700'000'000'000 + i}));
    }
    ASSERT_TRUE(producer->Flush(10s));
    ASSERT_EQ(producer->delivered_total(), static_cast<uint64_t>(count));
  }
};

}  // namespace seen
