#include "kafka/bulk_producer.h"

#include <map>
#include <vector>

#include "broker_fixture.h"
#include "kafka/topic_reader.h"

namespace seen {
namespace {

using BulkProducerTest = BrokerTest;

std::vector<KeyedRecord> Records(const std::vector<std::string>& keys,
                                 const std::vector<std::string>& values) {
  std::vector<KeyedRecord> records;
  for (size_t i = 0; i < keys.size(); ++i) records.push_back({keys[i], values[i]});
  return records;
}

// The queue holds only a few of the records, so the producer must wait for room again and again.
TEST_F(BulkProducerTest, SendsManyAtOnceInOrderThroughAQueueTooSmallForThem) {
  const auto topic = NewTopic(3);
  BulkProducer::Options options;
  options.brokers = Brokers();
  options.topic = topic;
  options.queue_bytes_max = 16 * 1024;
  const auto producer = BulkProducer::Open(options).value();
  std::vector<std::string> keys, values;
  for (int i = 0; i < 2000; ++i) {
    keys.push_back("user-" + std::to_string(i % 40));
    values.push_back(std::to_string(i) + std::string(100, 'x'));
  }
  const TimeMs before = SystemClock().WallNow();
  ASSERT_TRUE(producer->SendNow(Records(keys, values)));
  ASSERT_TRUE(producer->SendNow({}));
  ASSERT_TRUE(producer->Flush(10s));
  EXPECT_EQ(producer->delivered_total(), 2000u);
  EXPECT_EQ(producer->failed_total(), 0u);

  TopicReader::Options reading;
  reading.brokers = Brokers();
  reading.topic = topic;
  const auto reader = TopicReader::Open(reading, 5s).value();
  std::map<int32_t, int> last;
  int read = 0;
  for (;;) {
    const auto more = reader->Poll(200ms, [&](int32_t partition, std::span<const Record> records) {
      for (const auto& record : records) {
        const int number = std::stoi(std::string(record.value));
        EXPECT_EQ(record.key, keys[static_cast<size_t>(number)]);
        EXPECT_EQ(record.value, values[static_cast<size_t>(number)]);
        EXPECT_EQ(PartitionOf(Partitioner::kMurmur2, record.key, 3), partition);
        EXPECT_GE(record.timestamp, before);
        EXPECT_TRUE(!last.contains(partition) || last[partition] < number) << "out of order";
        last[partition] = number;
        ++read;
      }
    });
    ASSERT_TRUE(more);
    if (!*more) break;
  }
  EXPECT_EQ(read, 2000);
}

TEST_F(BulkProducerTest, ReportsEachRecordWithItsTicket) {
  const auto topic = NewTopic(1);
  BulkProducer::Options options;
  options.brokers = Brokers();
  options.topic = topic;
  std::vector<uint64_t> tickets;
  options.on_delivery = [&](uint64_t ticket, bool well) {
    EXPECT_TRUE(well);
    tickets.push_back(ticket);
  };
  const auto producer = BulkProducer::Open(options).value();
  for (uint64_t ticket = 1; ticket <= 300; ++ticket)
    ASSERT_TRUE(producer->Send("k", "v", std::nullopt, ticket));
  ASSERT_TRUE(producer->Flush(10s));
  EXPECT_EQ(tickets.size(), 300u);
  EXPECT_EQ(producer->delivered_total(), 300u);
}

TEST_F(BulkProducerTest, RefusesARecordThatIsTooLarge) {
  const auto producer = NewProducer(NewTopic(1));
  const std::string large(size_t{5} << 20, 'x');
  const KeyedRecord record{"k", large};
  EXPECT_EQ(producer->SendNow({&record, 1}).error().code, Code::kInvalidArgument);
  EXPECT_EQ(producer->Send("k", large, std::nullopt).error().code, Code::kInvalidArgument);
}

}  // namespace
}  // namespace seen
