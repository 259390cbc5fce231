// Who gives way when more users are followed than there is room for.

#include <gtest/gtest.h>

#include <optional>
#include <set>

#include "flow/publish_flow.h"
#include "holding_sink.h"
#include "support/fakes.h"

namespace seen {
namespace {

class PublishRoomTest : public testing::Test {
 protected:
  static constexpr std::chrono::milliseconds kDebounce{1000};
  static constexpr PublishFlow::Limits kAll{10'000, 10'000};
  static constexpr PublishFlow::Limits kNone{0, 0};

  void Open(size_t users_max) {
    flow.emplace(std::vector<FilterPolicy>{{0, "default", 30, 10'000, {}, SnapshotPolicy{{}, kDebounce}}},
                 users_max, reporter);
    flow->Scanned({}, 1, now);  // the scan of a start, which found nothing
  }
  /// A thousand users, who are all that may be followed, wait for their trailing edges. None has a mark.
  void OpenCrowded() {
    Open(kCrowd);
    std::vector<DirtyUser> users;
    for (size_t i = 0; i < kCrowd; ++i) users.push_back({UserKeyOf("user-" + std::to_string(i)), 1, {0}});
    flow->AddDirty(users, now);
    ASSERT_EQ(Step(kAll), kCrowd);
    Acknowledge();
    flow->AddDirty(users, now);
    now += kDebounce;
    ASSERT_EQ(Step(kNone), 0u);
    ASSERT_FALSE(flow->HasRoom());
  }
  void Change(const std::string& name) {
    const DirtyUser dirty{UserKeyOf(name), 1, {0}};
    flow->AddDirty({&dirty, 1}, now);
  }
  /// How many snapshots are sent.
  size_t Step(const PublishFlow::Limits& limits) {
    sink.sent.clear();
    const auto render = [](std::span<PublishFlow::Rendering> group) {
      for (PublishFlow::Rendering& rendering : group) rendering.user_id = rendering.bytes = "any";
      return Status();
    };
    EXPECT_TRUE(PublishDue(*flow, now, limits, render, sink));
    return sink.sent.size();
  }
  void Acknowledge() {
    std::vector<PublishFlow::Acknowledgement> all;
    for (const uint64_t ticket : sink.tickets)
      all.push_back({static_cast<uint32_t>(ticket), Delivery::kAcknowledged});
    flow->Acknowledged(all, now, {0});
    sink.tickets.clear();
  }
  void Checkpoint(int64_t to = PublishFlow::kNoOffset) {
    for (const UserRef& ref : flow->CollectMarks({}, {}, to).set) marks.insert(ref);
    flow->MarksCommitted();
  }
  /// A scan that finds all marks that were ever set.
  void ScanAllMarks() {
    std::vector<Mark> page;
    for (const UserRef& ref : marks) page.push_back({ref, {}});
    flow->Scanned(page, page.size() + 1, now);
  }

  static constexpr size_t kCrowd = 1000;
  sim::CountingReporter reporter;
  std::optional<PublishFlow> flow;
  HoldingSink sink;
  Instant now{std::chrono::hours(1)};
  std::set<UserRef> marks;
};

TEST_F(PublishRoomTest, UsersPublishedLatelyGiveTheirPlaceToOthers) {
  Open(16);
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(flow->HasRoom()) << i;
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
  for (int i = 0; i < 32 && flow->HasRoom(); ++i) {
    Change("user-" + std::to_string(i));
    Step(kNone);
  }
  ASSERT_FALSE(flow->HasRoom());
  EXPECT_GT(Step(kAll), 0u);
  Acknowledge();
  ASSERT_FALSE(flow->HasRoom());
  EXPECT_EQ(flow->NextDue(), Instant::min());
  Step(kAll);
  Acknowledge();
  EXPECT_TRUE(flow->HasRoom());
  EXPECT_GT(flow->NextDue(), now);
}

TEST_F(PublishRoomTest, LeadingEdgesGetTheRoomOfUsersWhoWaitWithAMark) {
  OpenCrowded();
  EXPECT_EQ(Step(kNone), 0u);
  EXPECT_FALSE(flow->HasRoom()) << "no mark stands in the store yet";
  Checkpoint();
  EXPECT_EQ(Step(kNone), 0u);
  EXPECT_TRUE(flow->HasRoom());
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

}  // namespace
}  // namespace seen
