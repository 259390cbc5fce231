// Who gives way when more users are followed than there is room for.

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
  /// Users, who are all that may be followed, wait for their trailing edges. None has a mark.
  void OpenCrowded(size_t crowd = kCrowd) {
    Open(crowd);
    std::vector<DirtyUser> users;
    for (size_t i = 0; i < crowd; ++i) users.push_back({KeyOf(User(i)), 1, {0}});
    flow->AddDirty(users, now);
    ASSERT_EQ(Step(kAll), crowd);
    Acknowledge();
    flow->AddDirty(users, now);
    now += kDebounce;
    ASSERT_EQ(Step(kNone), 0u);
    ASSERT_FALSE(flow->HasSpace());
  }
  /// How many snapshots are sent.
  size_t Step(const PublishFlow::Limits& limits) {
    Send(limits);
    EXPECT_TRUE(last);
    return sink.sent.size();
  }
  void Checkpoint(int64_t to = PublishFlow::kNoOffset) {
    for (const UserRef& ref : flow->CollectMarks({}, {}, to).set) marks.insert(ref);
    flow->MarksCommitted();
  }
  /// OpenCrowded, and some were left to marks. Returns one of them.
  std::string LeaveSome() {
    OpenCrowded();
    Checkpoint();
    Step(kNone);
    for (size_t i = 0; i < kCrowd; ++i) {
      if (!flow->IsUnclean({0, UserKeyOf(User(i))})) return User(i);
    }
    ADD_FAILURE() << "nobody was left to a mark";
    return {};
  }
  /// A scan that finds all marks that were ever set.
  void ScanAllMarks() {
    std::vector<Mark> page;
    for (const UserRef& ref : marks) page.push_back({ref, {}});
    auto scan = flow->WantsScan();
    scan.limit = page.size() + 1;
    flow->Scanned(page, scan, now);
  }

  static constexpr size_t kCrowd = 1000;
  std::set<UserRef> marks;
};

TEST_F(PublishRoomTest, UsersPublishedLatelyGiveTheirPlaceToOthers) {
  Open(16);
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(flow->HasSpace()) << i;
    Change("user-" + std::to_string(i));
    EXPECT_EQ(Step(kAll), 1u) << "at once, and within the debounce of the others";
    Acknowledge();
  }
  Change("user-99");
  EXPECT_EQ(Step(kAll), 0u) << "the newest keep their debounce";
  Acknowledge();
}

TEST_F(PublishRoomTest, AFullTableMakesThePublisherDue) {
  Open(16);
  for (int i = 0; i < 32 && flow->HasSpace(); ++i) {
    Change("user-" + std::to_string(i));
    Step(kNone);
  }
  ASSERT_FALSE(flow->HasSpace());
  EXPECT_GT(Step(kAll), 0u);
  Acknowledge();
  ASSERT_FALSE(flow->HasSpace());
  EXPECT_EQ(flow->NextDue(), Instant::min());
  Step(kAll);
  Acknowledge();
  EXPECT_TRUE(flow->HasSpace());
  EXPECT_GT(flow->NextDue(), now);
}

TEST_F(PublishRoomTest, LeadingEdgesGetTheRoomOfUsersWhoWaitWithAMark) {
  OpenCrowded();
  EXPECT_EQ(Step(kNone), 0u);
  EXPECT_FALSE(flow->HasSpace()) << "no mark stands in the store yet";
  Checkpoint();
  EXPECT_EQ(Step(kNone), 0u);
  EXPECT_TRUE(flow->HasSpace());
  EXPECT_EQ(flow->Outstanding(), kCrowd) << "all of them, by entries and by marks";
  Change("fresh");
  EXPECT_EQ(Step({1, 0}), 1u);
  Acknowledge();
  // The entries first, then what the marks name.
  EXPECT_FALSE(flow->WantsScan().wanted) << "there is no room for a page of marks";
  size_t sent = Step(kAll);
  Acknowledge();
  now += kDebounce;
  Step(kNone);
  ASSERT_TRUE(flow->WantsScan().wanted);
  ScanAllMarks();
  sent += Step(kAll);
  EXPECT_EQ(sent, kCrowd) << "each once";
  Acknowledge();
  EXPECT_EQ(flow->Outstanding(), 0u);
}

TEST_F(PublishRoomTest, ARoundThatAUserLeftIsGivenUp) {
  OpenCrowded();
  Checkpoint(10);  // begins the round to 10, of all of them
  Step(kNone);     // leaves some
  Step(kAll);
  Acknowledge();
  EXPECT_EQ(flow->PublishedTo(), PublishFlow::kNoOffset) << "some have only a mark";
  now += kDebounce;
  Step(kNone);
  ScanAllMarks();
  Checkpoint(20);
  Step(kAll);
  Acknowledge();
  EXPECT_EQ(flow->PublishedTo(), 20);
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

TEST_F(PublishRoomTest, AChangeOfAUserLeftToAMarkIsNoLeadingEdge) {
  const std::string left = LeaveSome();
  Change(left);
  Change("fresh");
  EXPECT_EQ(Step({10, 0}), 1u);
  EXPECT_EQ(sink.sent, std::vector<std::string>{"fresh"});
  EXPECT_EQ(flow->Outstanding(), kCrowd + 1) << "fresh, until it is acknowledged";
  Step(kAll);
  Acknowledge();
  now += kDebounce;
  ScanAllMarks();
  Step(kAll);
  EXPECT_EQ(std::count(sink.sent.begin(), sink.sent.end(), left), 1);
  Acknowledge();
  EXPECT_EQ(flow->Outstanding(), 0u);
  now += kDebounce;
  Step(kNone);
  Change(left);
  EXPECT_EQ(Step({10, 0}), 1u) << "a leading edge again";
}

TEST_F(PublishRoomTest, AUserLeftToAHeldMarkIsPublishedAtTheNextChange) {
  const std::string left = LeaveSome();
  flow->HoldMarks(true);
  Change(left);
  EXPECT_EQ(Step({10, 0}), 1u);
  EXPECT_EQ(sink.sent, std::vector<std::string>{left});
  ASSERT_FALSE(flow->HasMarkChanges());
  Acknowledge();
  EXPECT_TRUE(flow->HasMarkChanges()) << "the mark is done";
}

TEST_F(PublishRoomTest, TheUsersWhoWaitedLongestKeepTheirTurn) {
  LeaveSome();
  EXPECT_EQ(Step({0, 1}), 1u);
  EXPECT_EQ(sink.sent, std::vector<std::string>{User(kCrowd - 1)}) << "a group's last user is due first";
}

TEST_F(PublishRoomTest, ManyUsersWithoutMarksDontKeepOthersFromBeingLeft) {
  OpenCrowded(20'000);
  Checkpoint();
  Step({0, 6'000});  // thousands with marks still wait
  Acknowledge();
  const auto change = [&](const std::string& name, size_t users) {
    for (size_t i = 0; i < users; ++i) Change(name + std::to_string(i));
  };
  change("fresh", 6'000);
  Step({6'000, 0});
  Acknowledge();
  change("fresh", 6'000);
  now += kDebounce;
  Step(kNone);  // behind them wait more users without marks than a pass looks at
  ASSERT_TRUE(flow->HasSpace());
  change("more", 6'000);
  Step(kNone);
  ASSERT_FALSE(flow->HasSpace());
  for (int pass = 0; pass < 10; ++pass) Step(kNone);
  EXPECT_TRUE(flow->HasSpace());
}

TEST_F(PublishRoomTest, MarksHaveTheirTurnHoweverManyUsersWait) {
  OpenCrowded(20'000);
  Checkpoint();
  Step(kNone);
  EXPECT_FALSE(flow->WantsScan().wanted);
  EXPECT_EQ(Step({0, 1'024}), 1'024u);
  Acknowledge();
  Step(kNone);
  const auto scan = flow->WantsScan();
  ASSERT_TRUE(scan.wanted);
  std::vector<Mark> page;
  for (const UserRef& ref : marks) {
    if (page.size() < scan.limit) page.push_back({ref, {}});
  }
  flow->Scanned(page, scan, now);
  EXPECT_FALSE(flow->WantsScan().wanted) << "the others' turn";
}

TEST_F(PublishRoomTest, AUserWhoseMarkIsNotFoundIsPublished) {
  const std::string left = LeaveSome();
  Step(kAll);
  Acknowledge();
  flow->Scanned({}, flow->WantsScan(), now);
  Step(kAll);
  EXPECT_EQ(std::count(sink.sent.begin(), sink.sent.end(), left), 1);
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

TEST_F(PublishRoomTest, AMarkThatIsRenewedWhileItsUserIsLeftToItStays) {
  OpenCrowded();
  Checkpoint();
  const std::vector<UserRef> all(marks.begin(), marks.end());
  flow->CollectMarks({}, all);
  Step(kNone);  // leaves some
  flow->MarksCommitted();
  EXPECT_FALSE(flow->HasMarkChanges()) << "a mark would be cleared";
}

}  // namespace
}  // namespace seen
