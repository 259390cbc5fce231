#include "flow/publish_flow.h"

#include "publish_fixture.h"

namespace seen {
namespace {
using std::chrono::milliseconds;

class PublishFlowTest : public PublishTest {
 protected:
  PublishFlowTest() { Open(10'000); }
  static UserKey Key(char name) { return UserKeyOf(std::string(1, name)); }
  void Dirty(char name) { Change(std::string(1, name)); }
  void Due(const std::string& users) {
    std::vector<UserRef> due;
    for (const char name : users) due.push_back({0, KeyOf(std::string(1, name))});
    flow->AddDue(due, now);
  }
  /// The users whose snapshots are sent at `now`, as names in order.
  std::string Step(size_t limit = 100, size_t waiting = 100) {
    Send({limit, waiting});
    std::string users;
    for (const std::string& user : sink.sent) users += user;
    return users;
  }
  size_t MarksToSet() {
    const size_t count = flow->CollectMarks({}).set.size();
    flow->MarksFailed();
    return count;
  }
  /// A checkpoint that reaches `to`.
  void Checkpoint(int64_t to) {
    flow->CollectMarks({}, {}, to);
    flow->MarksCommitted();
  }
};

TEST_F(PublishFlowTest, PublishesTheFirstChangeAtOnceAndWhatFollowsAtTheEndOfTheDebounce) {
  Dirty('a');
  EXPECT_EQ(Step(), "a");
  Acknowledge();
  now += milliseconds(10);
  Dirty('a');
  EXPECT_EQ(Step(), "");
  EXPECT_EQ(flow->NextDue(), now + kDebounce - milliseconds(10));
  now += kDebounce - milliseconds(11);
  Dirty('a');
  EXPECT_EQ(Step(), "");
  now += milliseconds(1);
  EXPECT_EQ(Step(), "a");
  Acknowledge();
  now += kDebounce;
  EXPECT_EQ(Step(), "");
  EXPECT_EQ(flow->Outstanding(), 0u);
  Dirty('a');  // nothing changed for the debounce: a leading edge again
  EXPECT_EQ(Step(), "a");
}

TEST_F(PublishFlowTest, AUserWithoutChangesIsForgottenAfterTheDebounce) {
  for (char name = 'a'; name <= 'z'; ++name) Dirty(name);
  EXPECT_EQ(Step().size(), 26u);
  Acknowledge();
  now += kDebounce;
  Step();
  EXPECT_EQ(flow->NextDue(), Instant::max());
  EXPECT_TRUE(flow->HasSpace());
}

TEST_F(PublishFlowTest, ChangesWhileInFlightArePublishedAfterTheAcknowledgementNotBeside) {
  Dirty('a');
  Step();
  Dirty('a');
  now += kDebounce * 3;
  EXPECT_EQ(Step(), "");  // one at a time for each user, so that the topic has the order of rendering
  Acknowledge();
  EXPECT_EQ(Step(), "a");
}

TEST_F(PublishFlowTest, WhatIsNotAcknowledgedIsMarkedAndItsMarkClearedLater) {
  Dirty('a');
  Dirty('b');
  Step(1);  // a is in flight, b waits
  EXPECT_EQ(MarksToSet(), 2u);
  EXPECT_EQ(flow->CollectMarks({}).set.size(), 2u);
  flow->MarksCommitted();
  EXPECT_EQ(MarksToSet(), 0u) << "they stand in the store already";
  Step();
  Acknowledge();
  EXPECT_TRUE(flow->HasMarkChanges());
  EXPECT_EQ(flow->CollectMarks({}).clear.size(), 2u);
  flow->MarksFailed();
  EXPECT_EQ(flow->CollectMarks({}).clear.size(), 2u) << "a failed checkpoint cleared nothing";
  flow->MarksCommitted();
  EXPECT_FALSE(flow->HasMarkChanges());
}

TEST_F(PublishFlowTest, AcknowledgedBetweenCollectingAndCommittingLeavesAMarkToClear) {
  Dirty('a');
  Step();
  ASSERT_EQ(flow->CollectMarks({}).set.size(), 1u);
  Acknowledge();
  now += kDebounce;
  Step();
  flow->MarksCommitted();
  const MarkChanges next = flow->CollectMarks({});
  EXPECT_EQ(next.set.size(), 0u);
  EXPECT_EQ(next.clear.size(), 1u);
}

TEST_F(PublishFlowTest, ADirtyUserAgainKeepsItsMark) {
  Dirty('a');
  Step();
  (void)flow->CollectMarks({});
  flow->MarksCommitted();
  Acknowledge();  // now the mark is to be cleared
  now += kDebounce;
  Step();
  Dirty('a');  // but the user is unclean again before the next checkpoint
  const MarkChanges changes = flow->CollectMarks({});
  EXPECT_EQ(changes.set.size(), 1u);
  EXPECT_EQ(changes.clear.size(), 0u);
}

TEST_F(PublishFlowTest, AFailedDeliveryIsSentAgain) {
  Dirty('a');
  EXPECT_EQ(Step(), "a");
  Acknowledge(Delivery::kFailed);
  EXPECT_EQ(flow->Outstanding(), 1u);
  now += kDebounce;
  EXPECT_EQ(Step(), "a");
  Acknowledge();
  EXPECT_EQ(flow->Outstanding(), 0u);
}

TEST_F(PublishFlowTest, ASnapshotThatIsTooLargeIsRenderedEverMoreSeldomUntilItsUserChanges) {
  Dirty('a');
  EXPECT_EQ(Step(), "a");
  const auto renderings_in = [&](std::chrono::seconds time) {
    size_t renderings = 0;
    for (const Instant until = now + time; now < until; now += std::chrono::milliseconds(100)) {
      Acknowledge(Delivery::kTooLarge);
      renderings += Step().size();
    }
    return renderings;
  };
  EXPECT_EQ(renderings_in(std::chrono::seconds(70)), 7u) << "after 0.5, 1, 2, 4, .. 32 s";
  EXPECT_EQ(renderings_in(std::chrono::seconds(600)), 10u) << "once a minute";
  EXPECT_EQ(flow->Outstanding(), 1u);
  Dirty('a');
  EXPECT_EQ(Step(), "a") << "a change is tried at once";
  EXPECT_LE(renderings_in(std::chrono::seconds(600)), 11u);
  Dirty('a');
  EXPECT_EQ(Step(), "a");
  Acknowledge();
  EXPECT_EQ(flow->Outstanding(), 0u);
  EXPECT_EQ(renderings_in(std::chrono::seconds(120)), 0u);
}

TEST_F(PublishFlowTest, ALeadingEdgeGoesBeforeAllThatMayWait) {
  Due("st");
  Dirty('a');
  EXPECT_EQ(Step(), "ast");
  Acknowledge();
  now += kDebounce / 2;
  Dirty('a');
  now += kDebounce / 2;  // a's trailing edge
  Dirty('b');
  EXPECT_EQ(Step(), "ba");
}

TEST_F(PublishFlowTest, TheFirstLeadingEdgeGoesFirstHoweverLateItIs) {
  for (char name = 'a'; name <= 'd'; ++name) Dirty(name);
  EXPECT_EQ(Step(0), "");
  now += std::chrono::seconds(10);
  Dirty('x');
  EXPECT_EQ(Step(3), "abc");
  EXPECT_EQ(Step(), "dx");
}

TEST_F(PublishFlowTest, AUserOfASweepIsALeadingEdgeWithItsFirstEventAndRenderedOnce) {
  Due("stu");
  Dirty('u');
  EXPECT_EQ(Step(100, 1), "us");
  Dirty('t');
  EXPECT_EQ(Step(0, 100), "") << "it moved to the leading edges";
  EXPECT_EQ(Step(), "t");
  Acknowledge();
  EXPECT_EQ(Step(), "");
  EXPECT_EQ(flow->Outstanding(), 0u);
}

TEST_F(PublishFlowTest, BothKindsKeepToTheirLimitsAndToTheirTurns) {
  for (const char name : {'a', 'b', 'c'}) Dirty(name);
  Due("st");
  EXPECT_EQ(Step(2, 1), "abs");
  EXPECT_TRUE(flow->HasDue());
  rendered = Fail(Code::kUnavailable, "injected");
  EXPECT_EQ(Step(), "");
  rendered = {};
  Dirty('d');
  EXPECT_EQ(Step(), "cdt") << "what was put back stands where it stood";
  EXPECT_FALSE(flow->HasDue());
}

TEST_F(PublishFlowTest, AFullSinkOrAFailedReadLosesNoOne) {
  Dirty('a');
  Dirty('b');
  sink.room = 0;
  EXPECT_EQ(Step(), "");
  EXPECT_TRUE(last->sink_full);
  sink.room = SIZE_MAX;
  rendered = Fail(Code::kUnavailable, "injected");
  EXPECT_EQ(Step(), "");
  EXPECT_FALSE(last.has_value());
  rendered = {};
  EXPECT_EQ(Step(), "ab");
}

TEST_F(PublishFlowTest, WhatTheSinkHasNoRoomForKeepsItsTurn) {
  for (const char name : {'a', 'b', 'c', 'd'}) Dirty(name);
  sink.room = 1;
  EXPECT_EQ(Step(), "a");
  EXPECT_TRUE(last->sink_full);
  Dirty('e');
  sink.room = 2;
  EXPECT_EQ(Step(), "bc");
  sink.room = SIZE_MAX;
  EXPECT_EQ(Step(), "de");
  EXPECT_FALSE(last->sink_full);
  EXPECT_EQ(flow->Outstanding(), 5u);
  Acknowledge();
  EXPECT_EQ(flow->Outstanding(), 0u);
}

TEST_F(PublishFlowTest, WhatTheWorkerHandsOverIsOutstandingAtOnce) {
  Dirty('a');
  Dirty('b');
  EXPECT_EQ(flow->Outstanding(), 2u) << "the publisher hasn't looked yet";
  EXPECT_EQ(Step().size(), 2u);
  EXPECT_EQ(flow->Outstanding(), 2u);
  Acknowledge();
  EXPECT_EQ(flow->Outstanding(), 0u);
  flow->BeginBatch();
  EXPECT_EQ(flow->Outstanding(), 1u);
  flow->EndBatch(3);
  EXPECT_EQ(flow->Outstanding(), 3u) << "left to marks";
  flow->CollectMarks({});
  flow->MarksFailed();
  EXPECT_EQ(flow->Outstanding(), 3u);
  flow->CollectMarks({});
  flow->MarksCommitted(2);
  EXPECT_EQ(flow->Outstanding(), 1u) << "one is in a later tail";
}

TEST_F(PublishFlowTest, DeferredUsersAreMarkedScannedAndPublishedOnce) {
  std::vector<UserRef> deferred = {{0, KeyOf("a")}, {0, KeyOf("b")}};
  std::sort(deferred.begin(), deferred.end());
  EXPECT_EQ(flow->CollectMarks(deferred).set, deferred);
  EXPECT_FALSE(flow->WantsScan().wanted);
  flow->MarksCommitted();
  EXPECT_EQ(flow->Outstanding(), 2u);
  ASSERT_TRUE(flow->WantsScan().wanted);
  std::vector<Mark> marks;
  for (const UserRef& user : deferred) marks.push_back({user, {}});
  flow->Scanned(marks, flow->WantsScan(), now);
  EXPECT_FALSE(flow->WantsScan().wanted);
  EXPECT_EQ(Step().size(), 2u);
  Acknowledge();
  EXPECT_EQ(flow->CollectMarks({}).clear, deferred);
}

TEST_F(PublishFlowTest, ADeferredChangeOfAPublishedUserIsPublishedAgain) {
  Dirty('a');
  Step();
  Acknowledge();
  // The partition fell behind within the debounce, so the change was left to the mark.
  EXPECT_EQ(flow->CollectMarks({{0, Key('a')}}).set.size(), 1u);
  flow->MarksCommitted();
  now += kDebounce;
  EXPECT_EQ(Step(), "a");
}

TEST_F(PublishFlowTest, IsPublishedUpToACheckpointOnceAllThatWereUncleanThenAreAcknowledged) {
  EXPECT_EQ(flow->PublishedTo(), PublishFlow::kNoOffset) << "no checkpoint has said where it stands";
  Dirty('a');
  EXPECT_EQ(Step(), "a");
  Dirty('b');
  Checkpoint(10);
  EXPECT_EQ(flow->PublishedTo(), PublishFlow::kNoOffset);
  Acknowledge();
  EXPECT_EQ(flow->PublishedTo(), PublishFlow::kNoOffset) << "b isn't sent yet";
  EXPECT_EQ(Step(), "b");
  Dirty('c');      // changed after the checkpoint that reached 10
  Checkpoint(20);  // the round to 10 is still under way
  Acknowledge();
  EXPECT_EQ(flow->PublishedTo(), 10);
  Checkpoint(30);
  EXPECT_EQ(Step(), "c");
  Acknowledge(Delivery::kFailed);
  EXPECT_EQ(flow->PublishedTo(), 10) << "c must be sent again";
  now += std::chrono::seconds(1);
  EXPECT_EQ(Step(), "c");
  Acknowledge();
  EXPECT_EQ(flow->PublishedTo(), 30);
}

TEST_F(PublishFlowTest, WhatChangedAgainWhileItWasOnItsWayIsAwaitedTwice) {
  Dirty('a');
  EXPECT_EQ(Step(), "a");
  Dirty('a');
  Checkpoint(10);
  Acknowledge();
  EXPECT_EQ(flow->PublishedTo(), PublishFlow::kNoOffset) << "what was sent lacks the second change";
  now += kDebounce;
  EXPECT_EQ(Step(), "a");
  Dirty('a');  // a user who changes all the time doesn't delay the others
  Acknowledge();
  EXPECT_EQ(flow->PublishedTo(), 10);
}

TEST_F(PublishFlowTest, WhatIsLeftToMarksIsNotPublished) {
  flow->CollectMarks({UserRef{0, Key('z')}}, {}, 10);
  flow->MarksCommitted();
  EXPECT_EQ(flow->PublishedTo(), PublishFlow::kNoOffset);
  Checkpoint(20);
  EXPECT_EQ(flow->PublishedTo(), PublishFlow::kNoOffset) << "its mark hasn't been scanned";
  flow->Scanned({}, flow->WantsScan(), now);
  Checkpoint(30);
  EXPECT_EQ(flow->PublishedTo(), 30);
}

}  // namespace
}  // namespace seen
