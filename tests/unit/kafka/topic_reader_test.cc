#include "kafka/topic_reader.h"

#include <map>
#include <set>

#include "broker_fixture.h"

namespace seen {
namespace {

struct Copy {
  int64_t offset;
  int64_t timestamp;
  std::string key, value;
};
using Copies = std::map<int32_t, std::vector<Copy>>;

class Reader : public BrokerTest {
 protected:
  static TopicReader::Options OptionsFor(const std::string& topic) {
    TopicReader::Options options;
    options.brokers = Brokers();
    options.topic = topic;
    return options;
  }
  static Copies ReadAll(TopicReader& reader) {
    Copies copies;
    const auto deadline = std::chrono::steady_clock::now() + 10s;
    for (;;) {
      const auto more = reader.Poll(200ms, [&](int32_t partition, std::span<const Record> records) {
        for (const auto& record : records) {
          copies[partition].push_back(
              {record.offset, record.timestamp.value, std::string(record.key), std::string(record.value)});
        }
      });
      EXPECT_TRUE(more) << (more ? "" : more.error().message);
      if (!more || !*more) return copies;
      if (std::chrono::steady_clock::now() > deadline) {
        ADD_FAILURE() << "the end isn't reached";
        return copies;
      }
    }
  }
};

class ReaderOfPartitioner : public Reader, public testing::WithParamInterface<Partitioner> {};

TEST_P(ReaderOfPartitioner, FindsEveryRecordInItsKeysPartition) {
  EXPECT_TRUE(Broker().CreateTopic("keyed-" + std::string(PartitionerName(GetParam())), 7));
  const auto topic = "keyed-" + std::string(PartitionerName(GetParam()));
  const auto producer = NewProducer(topic, GetParam());
  for (int i = 0; i < 500; ++i) {
    ASSERT_TRUE(producer->Send("user-" + std::to_string(i), std::to_string(i), TimeMs{1'000'000 + i}));
  }
  ASSERT_TRUE(producer->Flush(10s));
  const auto reader = TopicReader::Open(OptionsFor(topic), 5s).value();
  EXPECT_EQ(reader->records_remaining(), 500u);
  const auto copies = ReadAll(*reader);
  EXPECT_EQ(reader->records_remaining(), 0u);
  size_t records = 0;
  for (const auto& [partition, list] : copies) {
    int64_t offset = 0;
    for (const auto& copy : list) {
      EXPECT_EQ(copy.offset, offset++);
      EXPECT_EQ(PartitionOf(GetParam(), copy.key, 7), partition);
      EXPECT_EQ("user-" + copy.value, copy.key);
      EXPECT_EQ(copy.timestamp, 1'000'000 + std::stoi(copy.value));
      ++records;
    }
  }
  EXPECT_EQ(records, 500u);
}

INSTANTIATE_TEST_SUITE_P(Both, ReaderOfPartitioner,
                         testing::Values(Partitioner::kMurmur2, Partitioner::kCrc32),
                         [](const auto& given) { return std::string(PartitionerName(given.param)); });

TEST_F(Reader, StopsAtTheEndAsItWasWhenOpened) {
  const auto topic = NewTopic(2);
  Produce(topic, 0, 100);
  const auto reader = TopicReader::Open(OptionsFor(topic), 5s).value();
  Produce(topic, 100, 50);
  size_t records = 0;
  for (const auto& [partition, list] : ReadAll(*reader)) records += list.size();
  EXPECT_EQ(records, 100u);
}

TEST_F(Reader, ResumesFromOffsets) {
  const auto topic = NewTopic(1);
  Produce(topic, 0, 100);
  auto options = OptionsFor(topic);
  options.from_offsets = {{0, 90}};
  const auto reader = TopicReader::Open(options, 5s).value();
  const auto copies = ReadAll(*reader);
  ASSERT_EQ(copies.at(0).size(), 10u);
  EXPECT_EQ(copies.at(0).front().offset, 90);
}

TEST_F(Reader, OfAnEmptyTopicIsDoneAtOnce) {
  const auto reader = TopicReader::Open(OptionsFor(NewTopic(3)), 5s).value();
  EXPECT_EQ(reader->ranges().size(), 3u);
  const auto more = reader->Poll(10ms, [](int32_t, std::span<const Record>) { FAIL(); });
  EXPECT_EQ(more, false);
}

TEST_F(Reader, SaysThatBrokersAreAway) {
  auto options = OptionsFor("any");
  options.brokers = "127.0.0.1:1";
  const auto reader = TopicReader::Open(options, 300ms);
  ASSERT_FALSE(reader);
  EXPECT_EQ(reader.error().code, Code::kUnavailable) << reader.error().message;
}

}  // namespace
}  // namespace seen
