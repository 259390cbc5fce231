// The snapshots of an erased user in topics that no filter publishes to any more.
#include "unit/flow/flow_fixture.h"

namespace seen {
namespace {

class RetiredTopicsTest : public test::TimedTest {
 protected:
  RetiredTopicsTest() { options.retired_topics = {{65'534, "before"}, {65'532, "long ago"}}; }
  void EraseAndCheckpoint() {
    Open();
    Send(Event("exposed", "a", kNow));
    Send(Event("exposed", "a", kNow, "u2"));
    Publish();
    Send(Event("erased", "", kNow));
    Checkpoint();
  }
  size_t RetiredMarks() {
    size_t marks = 0;
    for (const auto& [ref, user_id] : durable.marks) marks += ref.filter.number() > 60'000 ? 1U : 0U;
    return marks;
  }
};

TEST_F(RetiredTopicsTest, GetATombstoneOfAnErasedUserAndOfNobodyElse) {
  EraseAndCheckpoint();
  EXPECT_EQ(RetiredMarks(), 2u);
  Publish();
  EXPECT_FALSE(HasSnapshot());
  EXPECT_TRUE(HasSnapshot("u2"));
  const std::set<std::string> erased = {"u1"};
  EXPECT_EQ(topic.erased["before"], erased);
  EXPECT_EQ(topic.erased["long ago"], erased);
  Checkpoint();
  EXPECT_TRUE(durable.marks.empty());
  EXPECT_EQ(flow->publish.Outstanding(), 0u);
  EXPECT_EQ(reporter.retired_sent, 2u);
}

TEST_F(RetiredTopicsTest, GetItThoughTheDaemonWasKilledBeforeItWasAcknowledged) {
  EraseAndCheckpoint();
  Open();
  Publish();
  EXPECT_TRUE(topic.erased["before"].contains("u1"));
  EXPECT_TRUE(topic.erased["long ago"].contains("u1"));
}

TEST_F(RetiredTopicsTest, GetItAgainUntilItIsDelivered) {
  topic.deliver_all = false;
  topic.late_percent = 0;
  topic.fail_percent = 100;
  EraseAndCheckpoint();
  Publish(20);
  EXPECT_TRUE(topic.erased.empty());
  EXPECT_GT(reporter.retired_failed, 0u);
  Checkpoint();
  EXPECT_EQ(RetiredMarks(), 2u);
  topic.fail_percent = 0;
  Publish(20);
  EXPECT_TRUE(topic.erased["before"].contains("u1"));
  EXPECT_TRUE(topic.erased["long ago"].contains("u1"));
}

TEST_F(RetiredTopicsTest, GetItThoughNoFilterPublishes) {
  options.filters[0].snapshot.reset();
  EraseAndCheckpoint();
  Publish();
  EXPECT_TRUE(topic.erased["before"].contains("u1"));
}

TEST_F(RetiredTopicsTest, GetItOfMoreUsersThanAreRenderedAtOnceBesideSnapshots) {
  Open();
  const int users = 100;
  for (int i = 0; i < users; ++i) Send(Event("exposed", "a", kNow, "e" + std::to_string(i)));
  for (int i = 0; i < users; ++i) Send(Event("exposed", "a", kNow, "k" + std::to_string(i)));
  Publish(20);
  for (int i = 0; i < users; ++i) {
    Send(Event("erased", "", kNow, "e" + std::to_string(i)));
    Send(Event("exposed", "b", kNow, "k" + std::to_string(i)));
  }
  Checkpoint();
  Publish(40);
  EXPECT_EQ(topic.erased["before"].size(), static_cast<size_t>(users));
  EXPECT_EQ(topic.erased["long ago"].size(), static_cast<size_t>(users));
  for (int i = 0; i < users; ++i) EXPECT_TRUE(Published("b", "k" + std::to_string(i))) << i;
}

}  // namespace
}  // namespace seen
