// The refresh: rounds over the marks of filters with updates.

#include "flow/refresh.h"

#include <algorithm>
#include <map>
#include <set>

#include "publish_fixture.h"

namespace seen {
namespace {
using std::chrono::milliseconds;
using std::chrono::seconds;

/// A PublishFlow with the filter 1 without updates, and 0 and 2 with; and the marks that its store has.
class RefreshTest : public PublishTest {
 protected:
  static constexpr milliseconds kRound{1'600'000};  // a section takes 100 s

  RefreshTest() {
    std::vector<FilterPolicy> filters;
    for (const size_t id : {0, 1, 2}) {
      filters.push_back(WithUpdates(id));
      filters.back().updates = id != 1;
    }
    flow.emplace(filters, PublishFlow::Options{100'000, false, kRound}, reporter);
  }
  static FilterPolicy WithUpdates(size_t id) {
    FilterPolicy filter{FilterId(id), std::to_string(id), 30, 10'000, {}, SnapshotPolicy{{}, kDebounce}};
    filter.updates = true;
    return filter;
  }
  /// A change of the user at the next offset, left to a mark, as the worker does it.
  void Leave(const std::string& name, size_t filter = 0) {
    left_.push_back({FilterId(filter), KeyOf(name)});
    ++next_offset;
  }
  /// Returns how many marks it writes.
  size_t Checkpoint(const std::vector<UserRef>& renewed = {}) {
    const MarkChanges changes = flow->CollectMarks(std::exchange(left_, {}), renewed, next_offset, now);
    for (const UserRef& ref : changes.set) marks.insert(ref);
    for (const UserRef& ref : changes.clear) marks.erase(ref);
    flow->MarksCommitted();
    return changes.set.size();
  }
  /// The user's snapshot is out, and the table has forgotten the user.
  void Refresh() {
    Round();
    now += kDebounce;
    Send({0, 0});
  }
  /// Reads the pages of marks that are wanted now, at most `pages`. Returns how many users are sent.
  size_t Step(int pages = 1'000) {
    for (int page = 0; page < pages; ++page) {
      const auto scan = flow->WantsRefresh(now, next_offset);
      if (!scan.wanted) break;
      std::vector<Mark> found;
      auto at = scan.after ? marks.upper_bound(*scan.after) : marks.begin();
      for (; at != marks.end() && found.size() < scan.limit; ++at) found.push_back({*at, {}});
      flow->Scanned(found, scan, now);
    }
    Send({0, 20'000});
    for (const std::string& name : sink.sent) ++rendered_times[name];
    return sink.sent.size();
  }
  void StepAll() {
    now += kDebounce;
    while (Step() > 0) Acknowledge();
  }
  /// A round and two sections: their notes are older than what came since.
  void Round() {
    for (int slice = 0; slice < 18 * 64; ++slice) {
      now += kRound / 1'024;
      if (Step() > 0) Acknowledge();
    }
  }
  /// Users in all sections.
  void LeaveMany(int users = 1'000) {
    for (int i = 0; i < users; ++i) Leave("user-" + std::to_string(i), i % 3 == 0 ? 0 : 2);
  }

  int64_t next_offset = 0;
  std::set<UserRef> marks;
  std::map<std::string, int> rendered_times;

 private:
  std::vector<UserRef> left_;
};

TEST_F(RefreshTest, TheFirstRoundIsNotPacedAndRendersEachChangedUserOnce) {
  LeaveMany();
  EXPECT_EQ(Step(), 0u) << "no mark stands in the store yet";
  EXPECT_EQ(flow->PublishedTo(), PublishFlow::kNoOffset);
  Checkpoint();
  EXPECT_EQ(flow->PublishedTo(), PublishFlow::kNoOffset);
  StepAll();
  EXPECT_EQ(flow->PublishedTo(), next_offset);
  EXPECT_EQ(rendered_times.size(), 1'000u);
  EXPECT_TRUE(
      std::all_of(rendered_times.begin(), rendered_times.end(), [](auto& it) { return it.second == 1; }));
  EXPECT_TRUE(flow->HasMarkChanges());
  Checkpoint();
  EXPECT_TRUE(marks.empty()) << "at rest, no marks";
  EXPECT_EQ(flow->Outstanding(), 0u);
}

TEST_F(RefreshTest, ARoundTakesItsTime) {
  LeaveMany();
  Checkpoint();
  StepAll();
  const int64_t first = flow->PublishedTo();
  ASSERT_GE(first, 0);
  rendered_times.clear();
  LeaveMany();
  Checkpoint();
  size_t sent = 0;
  const Instant begun = now;
  while (flow->PublishedTo() == first && now - begun < kRound * 2) {
    now += milliseconds(500);
    const size_t step = Step();
    Acknowledge();
    EXPECT_LT(step, 60u) << "a small part of a section at a time";
    sent += step;
  }
  EXPECT_EQ(flow->PublishedTo(), next_offset);
  EXPECT_EQ(sent, 1'000u);
  // The section under way had begun before the changes.
  EXPECT_NEAR(std::chrono::duration<double>(now - begun).count(), 1'700, 20);
  EXPECT_TRUE(flow->GetRefreshStatus(now)->is_paced);
}

TEST_F(RefreshTest, ARoundThatHurriesWaitsForACheckpointOnceManyMarksAreToBeCleared) {
  flow.emplace(std::vector<FilterPolicy>{WithUpdates(0)}, PublishFlow::Options{1'000, false, kRound},
               reporter);
  for (int i = 0; i < 10'000; ++i) Leave("user-" + std::to_string(i));
  const auto publish = [&] {
    Checkpoint();
    for (int i = 0; i < 20; ++i) StepAll();
  };
  publish();
  EXPECT_GT(rendered_times.size(), 1'000u);
  EXPECT_LE(rendered_times.size(), 4'000u) << "the memory of 1,000 entries";
  for (int i = 0; i < 10; ++i) publish();
  EXPECT_EQ(rendered_times.size(), 10'000u);
  Checkpoint();
  EXPECT_TRUE(marks.empty());
}

TEST_F(RefreshTest, WhatChangesBehindTheSectionWaitsForTheNextRound) {
  Leave("a");
  Checkpoint();
  StepAll();
  Leave("a");
  Checkpoint();
  EXPECT_EQ(Step(), 0u) << "nothing hurries";
  EXPECT_LT(flow->PublishedTo(), next_offset);
  Round();
  EXPECT_EQ(flow->PublishedTo(), next_offset);
  EXPECT_EQ(rendered_times["a"], 2);
}

TEST_F(RefreshTest, PublishedToWaitsForTheAcknowledgementOfEachUser) {
  LeaveMany(100);
  Checkpoint();
  while (Step() > 0) {
    EXPECT_EQ(flow->PublishedTo(), PublishFlow::kNoOffset);
    Acknowledge(Delivery::kFailed);
    EXPECT_EQ(Step(), 0u) << "no section ends without its users";
    now += seconds(1);
    if (Step() > 0) Acknowledge();
  }
  EXPECT_EQ(flow->PublishedTo(), next_offset);
}

TEST_F(RefreshTest, AChangeWhileTheUserIsOnItsWayKeepsTheMark) {
  Leave("a");
  Checkpoint();
  std::string sent;
  while (Step(1) == 0) {
  }
  Leave("a");  // the snapshot under way lacks it
  Checkpoint();
  Acknowledge();
  StepAll();
  Checkpoint();
  EXPECT_TRUE(marks.contains({0, KeyOf("a")}));
  EXPECT_LT(flow->PublishedTo(), next_offset);
  Round();
  Checkpoint();
  EXPECT_TRUE(marks.empty());
  EXPECT_EQ(flow->PublishedTo(), next_offset);
}

TEST_F(RefreshTest, AMarkThatStandsIsNotWrittenAgain) {
  Leave("a");
  EXPECT_EQ(Checkpoint(), 1u);
  Leave("a");
  EXPECT_EQ(Checkpoint(), 0u);
  Refresh();
  EXPECT_EQ(rendered_times["a"], 1);
  Leave("a");
  EXPECT_EQ(Checkpoint(), 0u) << "it wasn't cleared yet";
  EXPECT_EQ(marks.size(), 1u) << "nor is it now";
  Refresh();
  EXPECT_EQ(rendered_times["a"], 2);
  Checkpoint();
  EXPECT_TRUE(marks.empty());
  Leave("a");
  EXPECT_EQ(Checkpoint(), 1u);
  Leave("a");
  EXPECT_EQ(Checkpoint({{FilterId(0), KeyOf("a")}}), 1u) << "what it says is new";
}

TEST_F(RefreshTest, AMarkThatMayBeGoneIsWrittenAgain) {
  Leave("a");
  Checkpoint();
  Refresh();
  EXPECT_EQ(flow->CollectMarks({}).clear.size(), 1u);
  flow->MarksFailed();
  Leave("a");
  EXPECT_EQ(Checkpoint(), 1u);
}

TEST_F(RefreshTest, RemembersAsManyMarksAsItHasMemoryFor) {
  flow.emplace(std::vector<FilterPolicy>{WithUpdates(0)}, PublishFlow::Options{10, false, kRound}, reporter);
  for (int i = 0; i < 8; ++i) Leave("user-" + std::to_string(i));
  Checkpoint();
  for (int i = 0; i < 8; ++i) Leave("user-" + std::to_string(i));
  EXPECT_EQ(Checkpoint(), 0u);
  for (int i = 0; i < 18; ++i) Leave("user-" + std::to_string(i));
  EXPECT_EQ(Checkpoint(), 10u);
  for (int i = 0; i < 18; ++i) Leave("user-" + std::to_string(i));
  EXPECT_EQ(Checkpoint(), 8u) << "ten are remembered";
  EXPECT_EQ(marks.size(), 18u);
}

TEST_F(RefreshTest, HurriesAfterAGapAndWhenItIsLate) {
  Leave("a");
  Checkpoint();
  StepAll();
  Leave("a");
  Checkpoint();
  ASSERT_EQ(Step(), 0u);
  flow->HurryTo(next_offset);
  EXPECT_FALSE(flow->GetRefreshStatus(now)->is_paced);
  StepAll();
  EXPECT_EQ(flow->PublishedTo(), next_offset) << "without a wait";
  EXPECT_TRUE(flow->GetRefreshStatus(now)->is_paced);
  Leave("a");
  Checkpoint();
  ASSERT_EQ(Step(), 0u);
  now += kRound * 3 / 2 + milliseconds(1);
  StepAll();
  EXPECT_EQ(flow->PublishedTo(), next_offset);
}

TEST_F(RefreshTest, ASnapshotThatItsTopicRefusesHoldsUpNobodyElse) {
  LeaveMany(300);
  Checkpoint();
  const std::string large = "user-7";
  const auto step_all = [&] {
    while (Step() > 0) {
      std::vector<PublishFlow::Acknowledgement> all;
      for (size_t i = 0; i < sink.sent.size(); ++i) {
        all.push_back({static_cast<uint32_t>(sink.tickets[i]),
                       sink.sent[i] == large ? Delivery::kTooLarge : Delivery::kAcknowledged});
      }
      flow->Acknowledged(all, now, {0});
      sink.tickets.clear();
    }
  };
  step_all();
  EXPECT_EQ(rendered_times.size(), 300u);
  EXPECT_EQ(flow->PublishedTo(), PublishFlow::kNoOffset) << "its section isn't published";
  EXPECT_EQ(flow->GetRefreshStatus(now)->rounds, 1u);
  EXPECT_TRUE(flow->GetRefreshStatus(now)->is_paced) << "it would render everybody again and again";
  Checkpoint();
  EXPECT_EQ(marks.size(), 1u);
  now += seconds(120);
  step_all();
  EXPECT_GT(rendered_times[large], 1);
  now += seconds(120);
  while (Step() > 0) Acknowledge();  // the topic takes it now
  Leave("b");
  Checkpoint();
  Round();
  EXPECT_EQ(flow->PublishedTo(), next_offset);
}

TEST_F(RefreshTest, ACutTopicTakesEverythingBackUntilAWholeRoundHasCome) {
  LeaveMany(100);
  Checkpoint();
  StepAll();
  ASSERT_EQ(flow->PublishedTo(), next_offset);
  Leave("a");
  flow->CollectMarks({{0, KeyOf("a")}}, {}, next_offset, now);
  flow->TakeBackPublishedTo();
  flow->MarksCommitted();  // it was collected before
  marks.insert({0, KeyOf("a")});
  StepAll();
  EXPECT_EQ(flow->PublishedTo(), PublishFlow::kNoOffset);
  flow->CollectMarks({}, {}, PublishFlow::kNoOffset, now);  // users may be missing
  flow->MarksCommitted();
  StepAll();
  EXPECT_EQ(flow->PublishedTo(), PublishFlow::kNoOffset);
  EXPECT_TRUE(flow->IsTakenBack()) << "the next owner must publish all users, too";
  Checkpoint();
  StepAll();
  EXPECT_EQ(flow->PublishedTo(), next_offset);
  EXPECT_FALSE(flow->IsTakenBack());
}

TEST_F(RefreshTest, AUserWithItemsThatEndKeepsTheMarkUntilNoneIsLeft) {
  Leave("a");
  Checkpoint();
  bool has_served = true;
  const auto refresh = [&] {
    size_t sent = 0;
    for (int step = 0; step < 100; ++step) {
      while (true) {
        const auto scan = flow->WantsRefresh(now, next_offset);
        if (!scan.wanted) break;
        std::vector<Mark> found;
        for (const UserRef& ref : marks) {
          if (!scan.after || *scan.after < ref) found.push_back({ref, {}});
        }
        flow->Scanned(found, scan, now);
      }
      std::vector<PublishFlow::Rendering> group(10);
      const size_t taken = flow->Take(now, {10, 10}, group);
      for (auto& one : std::span(group).first(taken)) {
        one.user_id = "a";
        one.bytes = "snapshot";
        one.ends_by_itself = has_served;
      }
      EXPECT_TRUE(flow->Send(now, std::span(group).first(taken), sink, 0).sent == taken);
      Acknowledge();
      sent += taken;
    }
    Checkpoint();
    return sent;
  };
  EXPECT_EQ(refresh(), 1u);
  EXPECT_EQ(flow->PublishedTo(), next_offset);
  EXPECT_EQ(marks.size(), 1u) << "it comes back";
  now += kRound * 2;
  has_served = false;
  EXPECT_EQ(refresh(), 1u);
  EXPECT_TRUE(marks.empty());
  now += kRound * 2;
  EXPECT_EQ(refresh(), 0u);
}

TEST_F(RefreshTest, AFilterWithAWithheldUserIsNotNamedUntilAWholeRoundHasMetNone) {
  const UserRef user{0, KeyOf("a")};
  const auto is_named = [&](size_t filter) { return !flow->Withholds(FilterIndex(filter)); };
  Checkpoint();
  Round();
  flow->AddDue({&user, 1}, now);  // a sweep: no mark stands
  origin = PublishFlow::Origin::kPublished;
  Step();
  EXPECT_FALSE(is_named(0));
  EXPECT_TRUE(is_named(2)) << "the other filter";
  Checkpoint();
  EXPECT_EQ(marks, std::set<UserRef>{user}) << "the round and a restart find the user";
  for (int round = 0; round < 3; ++round) Round();
  Checkpoint();
  EXPECT_FALSE(is_named(0)) << "each round withholds the snapshot again";
  EXPECT_EQ(marks, std::set<UserRef>{user});
  origin = PublishFlow::Origin::kState;
  for (int round = 0; round < 2; ++round) Round();
  EXPECT_EQ(rendered_times["a"], 1);
  EXPECT_TRUE(is_named(0));
  Checkpoint();
  EXPECT_TRUE(marks.empty());
}

TEST_F(RefreshTest, AMarkOfAWithheldUserThatCouldNotBeWrittenComesWithTheNextCheckpoint) {
  const UserRef user{0, KeyOf("a")};
  flow->AddDue({&user, 1}, now);
  origin = PublishFlow::Origin::kPublished;
  Step();
  EXPECT_EQ(flow->CollectMarks({}, {}, next_offset, now).set, std::vector<UserRef>{user});
  flow->MarksFailed();
  StepAll();
  EXPECT_TRUE(flow->Withholds(FilterIndex{0}));
  Checkpoint();
  EXPECT_EQ(marks, std::set<UserRef>{user});
}

TEST_F(RefreshTest, PublishedToIsThatOfTheFiltersWithoutUpdatesAsWell) {
  const DirtyUser dirty{KeyOf("b"), FilterMask{1} << 1, {0}};
  flow->AddDirty({&dirty, 1}, now);
  ++next_offset;
  Leave("a");
  Checkpoint();
  StepAll();  // those without updates wait: they are leading edges
  EXPECT_EQ(flow->PublishedTo(), PublishFlow::kNoOffset);
  Send({10, 10});
  Acknowledge();
  EXPECT_EQ(flow->PublishedTo(), next_offset);
}

TEST_F(RefreshTest, TheScanOfOtherMarksPassesItsOwnBy) {
  LeaveMany(2'000);
  Leave("other", 1);
  Checkpoint();
  size_t pages = 0;
  for (; pages < 10; ++pages) {
    const auto scan = flow->WantsScan();
    if (!scan.wanted) break;
    std::vector<Mark> found;
    auto at = scan.after ? marks.upper_bound(*scan.after) : marks.begin();
    for (; at != marks.end() && found.size() < scan.limit; ++at) found.push_back({*at, {}});
    flow->Scanned(found, scan, now);
  }
  EXPECT_LE(pages, 4u);
  Send({10, 10});
  EXPECT_EQ(sink.sent, std::vector<std::string>{"other"});
}

}  // namespace
}  // namespace seen
