// Records with several events, and records whose time is missing or false.
#include <string>

#include "unit/flow/flow_fixture.h"

namespace seen {
namespace {

class SeveralEventsTest : public test::TimedTest {
 protected:
  static std::string One(std::string_view item) { return Event("exposed", item, kNow); }
};

TEST_F(SeveralEventsTest, TakesTheGoodOnesAndRejectsTheBadOnes) {
  Open();
  Send("[" + One("a") + ",{},7," + One("b") + "]");
  Send(One("c") + "\nno JSON\n" + One("d"));
  for (const char* const item : {"a", "b", "c", "d"}) EXPECT_TRUE(Seen(item)) << item;
  EXPECT_EQ(reporter.rejected, 3u);
  EXPECT_EQ(reporter.events, 4u);
  EXPECT_EQ(flow->state.next_offset(), 2);
  Publish();
  for (const char* const item : {"a", "b", "c", "d"}) EXPECT_TRUE(Published(item)) << item;
}

TEST_F(SeveralEventsTest, AreReadAgainAfterACrashWithTheRejectedOnes) {
  Open();
  Send("[" + One("a") + ",{}," + One("b") + "]");
  Checkpoint();
  Send("[" + One("c") + ",{}]");
  Open();
  for (const char* const item : {"a", "b", "c"}) EXPECT_TRUE(Seen(item)) << item;
  EXPECT_EQ(flow->state.next_offset(), 2);
}

TEST_F(SeveralEventsTest, GivesItemsTheirOwnDays) {
  format.fields[static_cast<size_t>(Field::kItemsExposedAt)] = FieldRule{ParseJsonPointer("/at").value()};
  Open();
  const auto dated = [](std::string_view item, int64_t at) {
    return R"({"item_id":")" + std::string(item) + R"(","at":)" + std::to_string(at) + "}";
  };
  Send(R"({"user_id":"u1","items":[)" + dated("old", kNow - 40 * kMsPerDay) + "," + dated("new", kNow - 1) +
       R"(,"plain"],"exposed_at":)" + std::to_string(kNow) + "}");
  EXPECT_FALSE(Seen("old"));
  EXPECT_TRUE(Seen("new"));
  EXPECT_TRUE(Seen("plain"));
  EXPECT_EQ(reporter.too_old, 1u);
  EXPECT_EQ(flow->state.next_offset(), 1);
  Send(R"({"user_id":"u1","items":[)" + dated("a", kNow + kMsPerDay) + R"(],"exposed_at":)" +
       std::to_string(kNow) + "}");
  EXPECT_EQ(reporter.rejected, 1u);
}

TEST_F(SeveralEventsTest, JudgesRecordsWithoutATrueTimeByTheEvents) {
  Open();
  constexpr int64_t kYear2100 = 4'102'444'800'000;
  for (const int64_t timestamp : {int64_t{-1}, kYear2100}) {
    Send(One("n" + std::to_string(timestamp)), timestamp);
    Send(Event("exposed", "o" + std::to_string(timestamp), kNow - 20 * kMsPerDay), timestamp);
    EXPECT_TRUE(Seen("n" + std::to_string(timestamp)));
    EXPECT_TRUE(Seen("o" + std::to_string(timestamp)));
    EXPECT_EQ(flow->state.partition_time().value, kNow) << "of an event whose record has no timestamp";
  }
  EXPECT_EQ(reporter.rejected, 0u);
  Send(Event("exposed", "ahead", kNow + kMsPerDay), -1);
  EXPECT_EQ(reporter.rejected, 1u);
}

}  // namespace
}  // namespace seen
