#include "kafka/event_producer.h"

#include <condition_variable>
#include <mutex>
#include <set>
#include <vector>

#include "broker_fixture.h"
#include "kafka/topic_reader.h"

namespace seen {
namespace {

/// Collects the answers as they come.
class Answers {
 public:
  ChangePort::Done Taking() {
    return [this](const Result<ChangePlace>& place) {
      const std::lock_guard lock(mutex_);
      places_.push_back(place);
    };
  }
  bool Wait(size_t count) {
    return Eventually([&] { return All().size() >= count; });
  }
  std::vector<Result<ChangePlace>> All() {
    const std::lock_guard lock(mutex_);
    return places_;
  }

 private:
  std::mutex mutex_;
  std::vector<Result<ChangePlace>> places_;
};

class EventProducerTest : public BrokerTest {
 protected:
  static EventProducer::Options OptionsFor(const std::string& topic) {
    EventProducer::Options options;
    options.brokers = Brokers();
    options.topic = topic;
    options.partitioner = Partitioner::kCrc32;
    return options;
  }
};

TEST_F(EventProducerTest, KeepsKeysWhereTheyAreAfterTheTopicGainedPartitions) {
  const auto topic = NewTopic(5);
  auto options = OptionsFor(topic);
  options.partitions = 2;
  EventProducer producer(options);
  Answers answers;
  std::multiset<int32_t> expected;
  for (int i = 0; i < 20; ++i) {
    const std::string user = "u" + std::to_string(i);
    expected.insert(PartitionOf(options.partitioner, user, 2));
    producer.Send(user, "event", answers.Taking());
  }
  ASSERT_TRUE(answers.Wait(20));
  std::multiset<int32_t> partitions;
  for (const auto& place : answers.All()) {
    ASSERT_TRUE(place) << place.error().message;
    partitions.insert(place->partition);
  }
  EXPECT_EQ(partitions, expected);
}

TEST_F(EventProducerTest, SaysWhereEachEventStands) {
  const auto topic = NewTopic(3);
  EventProducer producer(OptionsFor(topic));
  Answers answers;
  for (int i = 0; i < 20; ++i) {
    producer.Send("u" + std::to_string(i), "event " + std::to_string(i), answers.Taking());
  }
  ASSERT_TRUE(answers.Wait(20));
  std::set<std::pair<int32_t, int64_t>> said;
  for (const auto& place : answers.All()) {
    ASSERT_TRUE(place) << place.error().message;
    said.emplace(place->partition, place->offset);
  }
  std::set<std::pair<int32_t, int64_t>> there;
  TopicReader::Options options;
  options.brokers = Brokers();
  options.topic = topic;
  const auto reader = TopicReader::Open(options, 5s).value();
  EXPECT_TRUE(Eventually([&] {
    (void)reader->Poll(100ms, [&](int32_t partition, std::span<const Record> records) {
      for (const Record& record : records) {
        EXPECT_EQ(PartitionOf(Partitioner::kCrc32, record.key, 3), partition);
        EXPECT_EQ(record.value, "event " + std::string(record.key.substr(1)));
        there.emplace(partition, record.offset);
      }
    });
    return there.size() >= 20;
  }));
  EXPECT_EQ(said, there);
}

TEST_F(EventProducerTest, SaysInTimeThatNobodyAnswers) {
  auto options = OptionsFor("exposures");
  options.brokers = "127.0.0.1:1";  // nobody listens
  options.within = 300ms;
  options.outstanding_max = 2;
  EventProducer producer(options);
  Answers answers;
  for (int i = 0; i < 3; ++i) producer.Send("u", "event", answers.Taking());
  ASSERT_EQ(answers.All().size(), 1u);  // the third is one too many: refused at once
  EXPECT_EQ(answers.All()[0].error().code, Code::kUnavailable);
  ASSERT_TRUE(answers.Wait(3));
  for (const auto& place : answers.All()) {
    ASSERT_FALSE(place);
    EXPECT_EQ(place.error().code, Code::kUnavailable);
  }
}

TEST_F(EventProducerTest, AnswersEverythingWhenItStops) {
  auto options = OptionsFor("exposures");
  options.brokers = "127.0.0.1:1";
  EventProducer producer(options);
  Answers answers;
  producer.Send("u", "event", answers.Taking());
  producer.Stop();
  ASSERT_EQ(answers.All().size(), 1u);
  EXPECT_EQ(answers.All()[0].error().code, Code::kUnavailable);
  producer.Send("u", "event", answers.Taking());
  ASSERT_EQ(answers.All().size(), 2u);
  EXPECT_EQ(answers.All()[1].error().code, Code::kUnavailable);
}

TEST_F(EventProducerTest, SaysWhatIsWrongWithTheSettings) {
  auto options = OptionsFor("exposures");
  options.client = {{"no.such.property", "1"}};
  EventProducer producer(options);
  Answers answers;
  producer.Send("u", "event", answers.Taking());
  ASSERT_EQ(answers.All().size(), 1u);
  EXPECT_EQ(answers.All()[0].error().code, Code::kInvalidArgument);
}

}  // namespace
}  // namespace seen
