#include "kafka/log_watch.h"

#include <random>

#include "broker_fixture.h"
#include "model/hashes.h"

namespace seen {
namespace {
using Kind = kafka::LogFinding::Kind;

class LogCheckTest : public BrokerTest {
 protected:
  /// The anchor of the record that Produce wrote as `number`, in a topic of one partition.
  static Anchor Written(int number) {
    const std::string text = std::to_string(number);
    return {number, {1'700'000'000'000 + number}, RecordHash(text, "value " + text)};
  }
  static std::map<int32_t, kafka::LogFinding> Check(const std::string& topic, int32_t partition,
                                                    const Anchor& record) {
    return kafka::CheckLogs({Brokers(), {}, topic}, {{partition, record}}, 10s, stop).value();
  }
  static inline std::atomic<bool> stop{false};
};

TEST_F(LogCheckTest, TellsTheRecordThatWasReadFromAnotherOne) {
  const auto topic = NewTopic(1);
  Produce(topic, 0, 10);
  Anchor of_another_time = Written(5);
  of_another_time.timestamp.value += 1;
  Anchor of_another_text = Written(5);
  of_another_text.hash += 1;
  struct Case {
    Anchor record;
    Kind expected;
  };
  const Case cases[] = {
      {Written(0), Kind::kSame},          {Written(5), Kind::kSame},
      {Written(9), Kind::kSame},          {of_another_time, Kind::kReplaced},
      {of_another_text, Kind::kReplaced}, {Written(10), Kind::kShorter},  // just after the end
      {Written(11), Kind::kShorter},      {Written(1'000), Kind::kShorter},
  };
  for (const Case& one : cases) {
    const auto findings = Check(topic, 0, one.record);
    ASSERT_TRUE(findings.contains(0)) << one.record.offset;
    EXPECT_EQ(findings.at(0).kind, one.expected) << one.record.offset;
    EXPECT_EQ(findings.at(0).end, 10) << one.record.offset;
  }
}

TEST_F(LogCheckTest, ARecordThatRetentionTookIsNoOther) {
  const auto topic = NewTopic(1);
  const auto producer = NewProducer(topic);
  std::string text(900'000, 'x');
  std::mt19937 random(1);  // random, so that the text doesn't compress well
  for (char& byte : text) byte = static_cast<char>(random());
  for (int i = 0; i < 12; ++i) {
    ASSERT_TRUE(producer->Send("k", std::to_string(i) + text, TimeMs{1}));
    ASSERT_TRUE(producer->Flush(10s));
  }
  const auto findings = Check(topic, 0, Written(0));  // the broker keeps the last 5 MB
  ASSERT_TRUE(findings.contains(0));
  EXPECT_EQ(findings.at(0).kind, Kind::kGone);
}

TEST_F(LogCheckTest, AsksForManyPartitionsAtOnceAndForNoneWhileBrokersAreAway) {
  const auto topic = NewTopic(20);
  Produce(topic, 0, 1'000);
  std::map<int32_t, Anchor> records;
  for (int32_t partition = 0; partition < 20; ++partition) records[partition] = {3, {1}, 1};
  const auto findings = kafka::CheckLogs({Brokers(), {}, topic}, records, 10s, stop).value();
  EXPECT_EQ(findings.size(), 20u);
  for (const auto& [partition, finding] : findings) EXPECT_EQ(finding.kind, Kind::kReplaced) << partition;
  Broker().SetReachable(false);
  EXPECT_TRUE(kafka::CheckLogs({Brokers(), {}, topic}, records, 500ms, stop)->empty());
  Broker().SetReachable(true);
}

}  // namespace
}  // namespace seen
