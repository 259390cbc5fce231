// Who waits when more users are followed than there is room for.

#include <algorithm>
#include <set>

#include "publish_fixture.h"

namespace seen {
namespace {

class PublishRoomTest : public PublishTest {
 protected:
  static constexpr PublishFlow::Limits kAll{20'000, 20'000};
  static constexpr PublishFlow::Limits kNone{0, 0};

  static std::string User(size_t i) { return "user-" + std::to_string(i); }
  /// How many snapshots are sent.
  size_t Step(const PublishFlow::Limits& limits) {
    Send(limits);
    EXPECT_TRUE(last);
    return sink.sent.size();
  }
  void Checkpoint() {
    flow->CollectMarks({});
    flow->MarksCommitted();
  }
};

TEST_F(PublishRoomTest, MarksHaveRoomWhereChangesHaveNone) {
  Open(1000);
  size_t followed = 0;
  while (flow->HasSpace()) Change(User(followed++)), Step(kNone);
  EXPECT_EQ(followed, 875u) << "seven eighths";
  std::vector<UserRef> left{{0, KeyOf("left")}};
  flow->EndBatch(1);
  flow->CollectMarks(left);
  flow->MarksCommitted(1);
  EXPECT_EQ(flow->Outstanding(), followed + 1);
  EXPECT_FALSE(flow->WantsScan().wanted) << "a page of marks needs more room";
  EXPECT_EQ(Step({500, 0}), 500u);
  Acknowledge();
  now += kDebounce;
  Step(kNone);
  const auto scan = flow->WantsScan();
  ASSERT_TRUE(scan.wanted);
  const Mark mark{left.front(), {}};
  flow->Scanned({&mark, 1}, scan, now);
  EXPECT_EQ(Step(kAll), 376u) << "the others, and the one with the mark";
  EXPECT_EQ(sink.sent.back(), "left") << "leading edges go first";
  Acknowledge();
  EXPECT_EQ(flow->Outstanding(), 0u);
}

TEST_F(PublishRoomTest, AUserWhoIsLeftToAMarkAgainAndAgainCountsOnce) {
  Open(16);
  std::vector<UserRef> users;
  for (size_t i = 0; i < 20'000; ++i) users.push_back({0, KeyOf(User(i))});
  std::sort(users.begin(), users.end());
  const auto expect_count = [&](double count) {
    EXPECT_GE(static_cast<double>(flow->Outstanding()), count);
    EXPECT_LE(static_cast<double>(flow->Outstanding()), count + 0.3 * 20'000);
  };
  const auto leave = [&] {
    flow->CollectMarks(users);
    flow->MarksCommitted();
  };
  for (int checkpoint = 0; checkpoint < 30; ++checkpoint) leave();
  expect_count(20'000);
  // Part of a scan: what it has passed stands again after the next checkpoint, and what is ahead of it does
  // not count twice.
  auto scan = flow->WantsScan();
  ASSERT_TRUE(scan.wanted);
  for (size_t at = 0; at < 10'000; at += scan.limit) {
    std::vector<Mark> page;
    for (size_t i = at; i < at + scan.limit; ++i) page.push_back({users[i], {}});
    flow->Scanned(page, flow->WantsScan(), now);
    Step(kAll);
    Acknowledge();
  }
  expect_count(10'000);
  for (int checkpoint = 0; checkpoint < 30; ++checkpoint) leave();
  expect_count(20'000);
}

TEST_F(PublishRoomTest, APageOfMarksFromBeforeACheckpointSaysNothingOfMarksThatItCleared) {
  Open(10'000);
  const Mark old{{0, KeyOf("old")}, {}};
  const UserRef other{0, KeyOf("other")};
  Change("old");
  Checkpoint();
  Step(kAll);
  Acknowledge();
  now += kDebounce;
  flow->MarksWritten({&other, 1});
  ASSERT_EQ(flow->CollectMarks({}).clear, std::vector<UserRef>{old.user});
  const auto scan = flow->WantsScan();
  ASSERT_TRUE(scan.wanted);
  flow->MarksCommitted();  // after the page was read
  Change("old");
  Step(kNone);
  flow->Scanned({&old, 1}, scan, now);
  EXPECT_EQ(flow->CollectMarks({}).set, std::vector<UserRef>{old.user}) << "a restart must publish the user";
  flow->MarksCommitted();
  EXPECT_TRUE(flow->WantsScan().wanted) << "the page is read again";
}

}  // namespace
}  // namespace seen
