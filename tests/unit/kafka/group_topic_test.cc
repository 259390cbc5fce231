#include <map>

#include "broker_fixture.h"
#include "faulty_broker.h"
#include "kafka/kafka_group_topic.h"
#include "similar/port/item_group.h"

namespace seen {
namespace {

ItemGroup GroupOf(const std::string& id) { return {id, id, {1000}, FoundBy::kFirst, 1.0, 0, {}, ""}; }

GroupProducer::Options Into(const std::string& brokers, const std::string& topic) {
  GroupProducer::Options options;
  options.brokers = brokers;
  options.topic = topic;
  options.decided_by = "0/seend-1/1763690000000";
  return options;
}

class GroupTopicTest : public BrokerTest {
 protected:
  static std::unique_ptr<GroupTopic> Follow(const std::string& topic, const std::vector<int64_t>& from) {
    return FollowedGroupTopic::Open({.brokers = Brokers(), .topic = topic, .queue_bytes_max = 1 << 20}, from,
                                    5s)
        .value();
  }
  /// Reads up to `ends`. Returns what the topic hands over of all sent records: {item id: who decided it}.
  static std::map<std::string, std::string> ReadAll(GroupTopic& topic, const std::vector<int64_t>& ends) {
    std::map<std::string, std::string> read;
    EXPECT_TRUE(Eventually([&] {
      EXPECT_TRUE(topic.Read([&](const WrittenGroup& written) {
        std::string value;
        WriteItemGroup(GroupOf(std::string(written.item_id)), value);
        if (!written.is_tombstone) {
          EXPECT_EQ(written.value, value);
        }
        read[std::string(written.item_id)] = written.decided_by;
      }));
      return topic.next_offsets() == ends && topic.AtEnd(0) && topic.AtEnd(1);
    }));
    return read;
  }
  static void Send(const std::string& topic, const std::vector<std::string>& ids) {
    const auto producer = GroupProducer::Open(Into(Brokers(), topic)).value();
    for (const std::string& id : ids) {
      const ItemGroup group = GroupOf(id);
      ASSERT_TRUE(producer->TrySend(id, id == "gone" ? nullptr : &group));
    }
    ASSERT_TRUE(producer->AwaitAll(10s));
  }
};

TEST_F(GroupTopicTest, RecordsSayWhoDecidedThem) {
  const std::string topic = NewTopic(2);
  Produce(topic, 1, 1);  // a record of another program
  const auto from_the_end = Follow(topic, {});
  Send(topic, {"a", "b", "gone"});
  const std::map<std::string, std::string> own = {{"a", "0/seend-1/1763690000000"},
                                                  {"b", "0/seend-1/1763690000000"},
                                                  {"gone", "0/seend-1/1763690000000"}};
  EXPECT_EQ(ReadAll(*from_the_end, Follow(topic, {})->next_offsets()), own);
}

TEST_F(GroupTopicTest, ReadsFromWhereItIsToldAndFromTheEarliestWhereThatIsNotInTheLog) {
  const std::string topic = NewTopic(2);
  Send(topic, {"a", "b", "c", "d", "e", "f", "gone"});
  const auto ends = Follow(topic, {})->next_offsets();
  ASSERT_GT(ends[0], 0);
  ASSERT_GT(ends[1], 0);
  const auto count = [&](const std::vector<int64_t>& from) {
    return std::ssize(ReadAll(*Follow(topic, from), ends));
  };
  EXPECT_EQ(count({0, 0}), 7);
  EXPECT_EQ(count({ends[0] - 1, ends[1]}), 1);
  EXPECT_EQ(count({ends[0], ends[1] + 5}), ends[1]) << "it was made anew";
  EXPECT_EQ(count({ends[0]}), ends[1]) << "a partition was added";
}

TEST(GroupProducer, GivesUpWhatDoesNotArriveInTime) {
  FaultyBroker broker;
  broker.CreateTopic("groups", 1);
  GroupProducer::Options options = Into(broker.bootstrap(), "groups");
  options.delivery_timeout = 1s;
  const auto producer = GroupProducer::Open(options).value();
  const ItemGroup group = GroupOf("a");
  ASSERT_TRUE(producer->TrySend("a", &group));
  ASSERT_TRUE(producer->AwaitAll(10s));
  broker.SetReachable(false);
  ASSERT_TRUE(producer->TrySend("a", &group));
  Status arrived;
  EXPECT_TRUE(Eventually([&] {
    arrived = producer->AwaitAll(100ms);
    return !arrived && arrived.error().code == Code::kCorrupt;
  })) << "it would go out whenever brokers are back";
}

}  // namespace
}  // namespace seen
