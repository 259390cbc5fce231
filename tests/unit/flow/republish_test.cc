// What time alone changes: served items that end, windows that move on, settings that changed.
#include "unit/flow/flow_fixture.h"

namespace seen {
namespace {

using test::TimedTest;

class RepublishTest : public TimedTest {
 protected:
  void PublishAndCheckpoint() {
    Publish();
    Checkpoint();
  }
  /// Until nothing is left to publish that a checkpoint let through.
  void Settle() {
    PublishAndCheckpoint();
    Publish();
  }
  void Step(int times) {
    for (int i = 0; i < times; ++i) publisher->Step();
  }
  /// The user u1 is published again, whatever else is due.
  void RenderAgain() { flow->publish.AddDue(std::vector<UserRef>{{0, UserKeyOf("u1")}}, clock.Now()); }
};

class KilledOrNot : public RepublishTest, public testing::WithParamInterface<bool> {};
INSTANTIATE_TEST_SUITE_P(, KilledOrNot, testing::Bool());

TEST_F(RepublishTest, AUserWhoseLastServedItemEndsGetsATombstone) {
  Open();
  Send(Event("served", "a", kNow));
  Publish();
  EXPECT_TRUE(Published("a"));
  Checkpoint();
  clock.SetWall((kNow / 300'000 + 1 + 6) * 300'000);  // the end of its bucket, and the TTL
  Publish();
  EXPECT_FALSE(HasSnapshot());
}

TEST_F(RepublishTest, AnEndingIsPublishedThoughTheDaemonWasKilledSince) {
  Open();
  Send(Event("served", "a", kNow));
  Send(Event("served", "b", kNow));
  Send(Event("exposed", "b", kNow + 1'000));
  PublishAndCheckpoint();
  Open();
  Publish();
  EXPECT_TRUE(Published("a"));
  clock.Advance(2'200'000);
  Publish();
  EXPECT_FALSE(Published("a"));
  EXPECT_TRUE(Published("b")) << "it was served, and exposed as well";
  Send(Event("exposed", "c", clock.WallNow().value, "u2"));  // partition time passes the ending as well
  Checkpoint();
  EXPECT_TRUE(durable.endings.empty());
}

TEST_P(KilledOrNot, WhatWasServedWhileUpdatesWereOnEndsAfterTheyAreSwitchedOff) {
  Open();
  Settle();
  options.filters[0].updates = true;
  options.updates = UpdatePolicy{};
  Open();
  Send(Event("served", "a", kNow));
  if (!GetParam()) Settle();  // killed: no sweep had begun
  flow->updates->Discard();   // they are sent
  Checkpoint();
  EXPECT_TRUE(durable.endings.empty());
  options.filters[0].updates = false;
  options.updates.reset();
  Open();
  Settle();
  EXPECT_TRUE(Published("a"));
  Settle();
  EXPECT_EQ(durable.endings.size(), 1u);
  clock.SetWall((kNow / 300'000 + 1 + 6) * 300'000);
  Publish();
  EXPECT_FALSE(HasSnapshot());
}

TEST_F(RepublishTest, AnEndingThatComesLateIsNotLost) {
  Open();
  Send(Event("served", "a", kNow));
  Checkpoint();
  Publish();
  clock.Advance(2'200'000);
  Publish();
  // The event and its record are old. By the wall clock the item has ended, but no snapshot of u2 has left.
  Send(Event("served", "b", kNow, "u2"), kNow);
  Settle();
  Checkpoint();
  EXPECT_FALSE(HasSnapshot("u2"));
  Send(Event("exposed", "c", clock.WallNow().value, "u3"));  // partition time passes the endings as well
  PublishAndCheckpoint();
  EXPECT_TRUE(durable.endings.empty());
}

TEST_P(KilledOrNot, WhatHasEndedIsInNoSnapshotOfAClockThatWentBack) {
  const int64_t served_at = clock.WallNow().value;
  Open();
  Send(Event("served", "a", served_at));
  Send(Event("exposed", "b", served_at));
  PublishAndCheckpoint();
  ASSERT_TRUE(Published("a"));
  clock.Advance(2'200'000);
  Publish();
  Send(Event("exposed", "c", clock.WallNow().value, "u2"));  // partition time passes the ending as well
  Checkpoint();
  ASSERT_TRUE(durable.endings.empty());
  const int64_t right = clock.WallNow().value;
  clock.SetWall(served_at + 60'000);
  if (GetParam()) Open();
  RenderAgain();
  Publish();
  EXPECT_FALSE(Published("a"));
  clock.SetWall(right);
  Publish();
  EXPECT_FALSE(Published("a"));
  EXPECT_TRUE(Published("b"));
}

TEST_F(RepublishTest, AnEndingThatIsStillStoredComesAgainWhereTheClockWentBack) {
  Open();
  Send(Event("served", "a", kNow));
  Checkpoint();
  Publish();
  clock.Advance(2'200'000);
  Publish();
  ASSERT_FALSE(Published("a"));
  ASSERT_FALSE(durable.endings.empty());
  const int64_t right = clock.WallNow().value;
  clock.SetWall(kNow + 60'000);
  RenderAgain();
  Publish();
  ASSERT_TRUE(Published("a")) << "by that clock it counts";
  clock.SetWall(right);
  Publish();
  EXPECT_FALSE(Published("a"));
}

TEST_F(RepublishTest, AsksTheStoreForEndingsOnlyWhereThereMayBeSome) {
  Open();
  Send(Event("served", "a", kNow));
  Checkpoint();
  Publish();
  const uint64_t before = durable.endings_scans;
  Publish(20);  // 12 seconds
  const uint64_t quiet = durable.endings_scans;
  EXPECT_LE(quiet - before, 2U);
  Send(Event("served", "b", clock.WallNow().value));
  Checkpoint();
  Publish(2);
  EXPECT_GT(durable.endings_scans, quiet) << "the checkpoint may have added one";
}

TEST_F(RepublishTest, TheSweepPublishesWhoseWindowMovedOnAndNobodyElse) {
  options.filters[0].window_days = 2;
  Open();
  Send(Event("exposed", "a", kNow - 2 * kMsPerDay, "old"));
  Send(Event("exposed", "b", kNow, "new"));
  Settle();
  EXPECT_TRUE(Published("a", "old"));
  const uint64_t before = topic.sent_total;
  clock.Advance(kMsPerDay);
  Send(Event("exposed", "c", kNow + kMsPerDay, "third"));  // partition time moves on, too
  Checkpoint();                                            // the changes before midnight are in the store
  Publish();
  EXPECT_FALSE(HasSnapshot("old"));  // a tombstone
  EXPECT_TRUE(Published("b", "new"));
  EXPECT_EQ(topic.sent_total, before + 2);  // "old" and "third"
}

TEST_F(RepublishTest, AUserWhoVanishedWhileTheDaemonWasAwayGetsATombstone) {
  options.filters[0].window_days = 2;
  Open();
  Send(Event("exposed", "a", kNow, "gone"));
  Settle();
  ASSERT_TRUE(HasSnapshot("gone"));
  clock.Advance(20 * kMsPerDay);
  Open();
  Send(Event("exposed", "b", kNow + 20 * kMsPerDay, "here"));
  Checkpoint();  // drops what has expired
  Send(Event("removed", "x", kNow + 20 * kMsPerDay, "gone2"));
  Checkpoint();
  Publish(12);
  EXPECT_FALSE(HasSnapshot("gone"));
  EXPECT_TRUE(Published("b", "here"));
}

TEST_F(RepublishTest, ARateThatChangesWhileItRunsPublishesEverybodyOnce) {
  Open();
  for (int i = 0; i < 5; ++i) Send(Event("exposed", "a", kNow, "u" + std::to_string(i)));
  Settle();
  // Only the tail knows this user. The sweep must not miss the user.
  Send(Event("exposed", "a", kNow, "u5"));
  Publish();
  const uint64_t before = topic.sent_total;
  options.filters[0].snapshot->Change({SnapshotFormat::kSplitBlockBloom, 0.001},
                                      std::chrono::milliseconds(10));
  Settle();
  Checkpoint();
  Publish();
  EXPECT_EQ(topic.sent_total, before + 6);
  Open();  // with the changed configuration
  Publish();
  EXPECT_EQ(topic.sent_total, before + 6);
}

TEST_F(RepublishTest, AChangedRateOrARequestPublishesEverybody) {
  Open();
  for (int i = 0; i < 5; ++i) Send(Event("exposed", "a", kNow, "u" + std::to_string(i)));
  Settle();
  uint64_t before = topic.sent_total;
  Publish();
  EXPECT_EQ(topic.sent_total, before);
  options.filters[0].snapshot = SnapshotPolicy({SnapshotFormat::kSplitBlockBloom, 0.001});
  Open();
  Publish();
  EXPECT_EQ(topic.sent_total, before + 5);
  Checkpoint();
  Open();
  Publish();
  EXPECT_EQ(topic.sent_total, before + 5);
  flow->sweep.RequestAll();
  EXPECT_TRUE(flow->sweep.GetStatus().all_requested);
  Publish(1);
  Checkpoint();
  Publish();
  EXPECT_FALSE(flow->sweep.GetStatus().sweeping);
  EXPECT_EQ(topic.sent_total, before + 10);
}

// A topic that was cut may lack users whom no checkpoint has written.
TEST_F(RepublishTest, ARequestPublishesThoseWhoAreOnlyInTheTail) {
  Open();
  Send(Event("exposed", "a", kNow));
  Publish();
  topic.topic.clear();
  flow->sweep.RequestAll();
  EXPECT_TRUE(flow->sweep.OwesAll());
  Publish(1);
  EXPECT_FALSE(HasSnapshot());
  Checkpoint();
  Publish();
  EXPECT_TRUE(Published("a"));
  EXPECT_FALSE(flow->sweep.OwesAll());
}

TEST_F(RepublishTest, AnErasedUserGetsATombstoneThoughTheIdIsGone) {
  Open();
  Send(Event("exposed", "a", kNow));
  PublishAndCheckpoint();
  ASSERT_TRUE(HasSnapshot());
  Send(Event("erased", "", kNow + 1'000));
  Checkpoint();  // before the erasure is published
  const auto delta = sim::ReadDecoded(flow->reader, 0, UserKeyOf("u1"));
  EXPECT_EQ(delta->user_id, "");
  Open();  // killed
  Publish();
  EXPECT_FALSE(HasSnapshot());
  Checkpoint();
  EXPECT_TRUE(durable.marks.empty());
}

TEST_F(RepublishTest, AMarkKeepsTheIdOfAnErasedUserWhateverElseIsMarkedThere) {
  Open();
  Send(Event("exposed", "a", kNow));
  PublishAndCheckpoint();
  options.behind_age = std::chrono::milliseconds(-1);
  Open();
  FallBehind();
  Send(Event("erased", "", kNow + 1'000));
  Checkpoint();
  Send(Event("exposed", "late", kNow - kMsPerDay));  // the later erasure takes it
  Checkpoint();
  EXPECT_EQ(sim::ReadDecoded(flow->reader, 0, UserKeyOf("u1"))->user_id, "");
  Open();
  Publish();
  EXPECT_FALSE(HasSnapshot());
}

TEST_F(RepublishTest, UsersOfABacklogWaitForItsEndButNotForTheNextCheckpoint) {
  options.behind_age = std::chrono::milliseconds(-1);
  Open();
  Checkpoint();
  FallBehind();
  Send(Event("exposed", "a", kNow));
  clock.Advance(1'100);
  EXPECT_FALSE(flow->intake.CheckpointDue());
  CatchUp();
  EXPECT_TRUE(flow->intake.CheckpointDue());
  Checkpoint();
  EXPECT_FALSE(flow->intake.CheckpointDue());
  Publish();
  EXPECT_TRUE(Published("a"));
}

TEST_F(RepublishTest, AMarkedUserGetsATombstoneThoughTheStateHasExpired) {
  // The user was published, and the daemon was killed before a checkpoint. The next daemon reads the event
  // long after the item's end.
  topic.topic[{FilterIndex(), "u1"}] = "an earlier life's";
  options.behind_age = std::chrono::milliseconds(-1);
  clock.Advance(5 * kMsPerDay);
  Open();
  Publish();
  FallBehind();
  Send(Event("served", "a", kNow), kNow);
  Send(Event("exposed", "b", kNow + 5 * kMsPerDay, "u2"));
  Checkpoint();
  EXPECT_EQ(*sim::ReadDecoded(flow->reader, 0, UserKeyOf("u1")), Delta{});
  CatchUp();
  Publish();
  EXPECT_FALSE(HasSnapshot());
  EXPECT_TRUE(HasSnapshot("u2"));
}

TEST_F(RepublishTest, WhoseLastServedItemEndsTodayIsKeptUntilThatIsPublished) {
  const FilterPolicy& filter = options.filters[0];
  const Day today = DayOf(TimeMs{kNow});
  // The last sweep was today's. Tombstones of today may still be on their way: yesterday counts as swept.
  const Horizon horizon = filter.ByteHorizon({kNow}, {kNow}, today - 1);
  const auto served = static_cast<uint32_t>(kNow / 1'000 - 3 * 3'600);
  Delta delta = DeltaOf("u1", std::vector<Change>{{{1}, served, ChangeKind::kServed}}, filter.limits);
  Expire(delta, horizon);
  EXPECT_EQ(delta.user_id, "u1");
  EXPECT_TRUE(SeenFingerprints(delta, filter.AnswerAt({kNow})).empty());
  Expire(delta, filter.ByteHorizon({kNow + 2 * kMsPerDay}, {kNow + 2 * kMsPerDay}, today + 1));
  EXPECT_EQ(delta, Delta{});
}

TEST_F(RepublishTest, AKindThatWasTakenOutStaysForItsWindowAndSoDoesWhatTookItBack) {
  FilterPolicy filter = options.filters[0];
  filter.past_kinds = {{"purchased", 16, filter.window_days + 100}};
  const auto at = [](int days) { return TimeMs{kNow + days * kMsPerDay}; };
  Delta delta = DeltaOf(
      "u1", std::vector<Change>{{{1}, static_cast<uint32_t>(kNow / 1'000), ChangeKind::kDeclaredFirst}}, {});
  delta.removals = {{{2}, DayOf(at(0))}};
  const Delta stored = delta;
  const auto expire = [&](int days) {
    Expire(delta, filter.ByteHorizon(at(days), at(days), DayOf(at(days - 1))));
  };
  expire(filter.window_days + 90);
  EXPECT_EQ(delta, stored);
  EXPECT_EQ(SeenFingerprints(delta, filter.AnswerAt(at(0))).size(), 0u) << "it counts no more";
  expire(filter.window_days + 110);
  EXPECT_EQ(delta, Delta{});
}

TEST_F(RepublishTest, SweepProgressSurvivesACrash) {
  options.sweep_users_per_second = 1;
  Open();
  for (int i = 0; i < 400; ++i) Send(Event("exposed", "a", kNow, "u" + std::to_string(i)));
  Publish(60);
  Checkpoint();
  Publish(2);
  Checkpoint();
  ASSERT_TRUE(durable.marks.empty());
  options.filters[0].items_max = 5;
  Open();
  clock.Advance(1'000);
  Publish(1);
  Checkpoint();
  ASSERT_TRUE(DecodeSweepProgress(durable.sweep)->running.has_value());
  ASSERT_TRUE(DecodeSweepProgress(durable.sweep)->cursor.has_value());
  const auto cursor = DecodeSweepProgress(durable.sweep)->cursor;
  Open();
  clock.Advance(1'000'000);
  Publish(1000);
  Checkpoint();
  const auto progress = DecodeSweepProgress(durable.sweep);
  EXPECT_FALSE(progress->running.has_value());
  EXPECT_TRUE(cursor.has_value());
}

TEST_F(RepublishTest, ASweepOfTheDayThatGoesOnAfterARestartOwesNobodyASnapshot) {
  options.sweep_users_per_second = 1;
  Open();
  for (int i = 0; i < 400; ++i) Send(Event("exposed", "a", kNow, "u" + std::to_string(i)));
  Publish(60);
  Checkpoint();
  auto progress = *DecodeSweepProgress(durable.sweep);
  progress.running = progress.done;
  progress.done = *progress.done - 1;
  for (const bool whole : {false, true}) {
    progress.filters[0].whole = whole;
    durable.sweep = EncodeSweepProgress(progress);
    Open();
    clock.Advance(1'000);
    Publish(1);
    ASSERT_TRUE(flow->sweep.GetStatus().sweeping);
    EXPECT_EQ(flow->sweep.OwesAll(), whole);
    EXPECT_EQ(flow->sweep.IsRepublishing(), whole);
  }
}

TEST_F(RepublishTest, TheEndOfATopicSurvivesARestartAndGoesDownOnlyOnceAllUsersAreDue) {
  using Ends = std::vector<int64_t>;
  Open();
  EXPECT_EQ(flow->sweep.TopicEnds(), Ends()) << "the store hasn't been read yet";
  Send(Event("exposed", "a", kNow));
  Publish();
  EXPECT_EQ(flow->sweep.TopicEnds(), Ends{-1});
  flow->sweep.NoteTopicEnd(0, 70);
  Checkpoint();
  Open();
  Publish(1);
  EXPECT_EQ(flow->sweep.TopicEnds(), Ends{70});
  flow->sweep.RequestAll();
  flow->sweep.NoteTopicEnd(0, 60);
  EXPECT_EQ(flow->sweep.TopicEnds(), Ends{70}) << "a crash now would lose the request";
  Publish(1);
  Checkpoint();
  Publish(1);
  flow->sweep.NoteTopicEnd(0, 60);
  EXPECT_EQ(flow->sweep.TopicEnds(), Ends{60});
  Checkpoint();
  EXPECT_EQ(DecodeSweepProgress(durable.sweep)->filters[0].topic_end, 60);
}

TEST_F(RepublishTest, WhatWasAcknowledgedRaisesTheEndOfATopicAndNeverLowersIt) {
  using Ends = std::vector<int64_t>;
  Open();
  Send(Event("exposed", "a", kNow));
  Publish();
  flow->sweep.RaiseTopicEnd(0, 7);
  flow->sweep.RaiseTopicEnd(0, 3);
  EXPECT_EQ(flow->sweep.TopicEnds(), Ends{7});
  Checkpoint();
  EXPECT_EQ(DecodeSweepProgress(durable.sweep)->filters[0].topic_end, 7);
}

TEST_F(RepublishTest, WhomACheckpointLeavesUnmarkedWasPublishedBelowTheEndThatItStores) {
  Open();
  Settle();
  Send(Event("exposed", "a", kNow));
  dynamic_cast<sim::FakeStore&>(*partition->store).before_users = [&] {
    flow->sweep.RaiseTopicEnd(0, 7);
    Publish(1);
  };
  Checkpoint();
  EXPECT_TRUE(Published("a"));
  EXPECT_EQ(DecodeSweepProgress(durable.sweep)->filters[0].topic_end, -1);
  EXPECT_EQ(durable.marks.size(), 1u) << "the next owner wouldn't notice that the topic lost this snapshot";
}

TEST_P(KilledOrNot, ATombstoneOfAClockThatWasAheadDoesNotStay) {
  const bool killed = GetParam();
  Open();
  Send(Event("exposed", "a", kNow));
  Settle();
  clock.SetWall(clock.WallNow().value + 40 * kMsPerDay);
  if (killed) {
    RenderAgain();
  } else {
    Send(Event("exposed", "b", kNow), kNow);
  }
  Publish();
  ASSERT_FALSE(HasSnapshot()) << "by that clock nothing counts";
  clock.SetWall(clock.WallNow().value - 40 * kMsPerDay);
  if (killed) {
    Open();  // before a checkpoint
  } else {
    Checkpoint();
  }
  Publish();
  EXPECT_TRUE(Published("a"));
  EXPECT_EQ(Published("b"), !killed);
}

TEST_F(RepublishTest, NoSnapshotOfANewDayLeavesBeforeTheStoreHoldsTheDay) {
  Open();
  Send(Event("exposed", "a", kNow));
  PublishAndCheckpoint();
  clock.Advance(kMsPerDay);
  const Day today = DayOf(clock.WallNow());
  Send(Event("exposed", "b", clock.WallNow().value));
  Step(2);
  EXPECT_FALSE(Published("b"));
  EXPECT_TRUE(flow->sweep.GetStatus().awaits_checkpoint);
  ASSERT_TRUE(flow->intake.CheckpointDue()) << "at once, whatever the interval";
  Checkpoint();
  EXPECT_GE(*DecodeSweepProgress(durable.sweep)->rendered, today);
  Step(2);
  EXPECT_TRUE(Published("b"));
  EXPECT_FALSE(flow->sweep.GetStatus().awaits_checkpoint);
}

TEST_F(RepublishTest, MidnightKeepsNoSnapshotWaiting) {
  Open();
  Send(Event("exposed", "a", kNow));
  Publish();
  const TimeMs midnight = StartOf(DayOf({kNow}) + 1);
  clock.Advance(midnight.value - 60'000 - clock.WallNow().value);
  Send(Event("exposed", "b", clock.WallNow().value));
  Checkpoint();
  clock.Advance(60'000);
  Send(Event("exposed", "c", clock.WallNow().value));
  Step(2);
  EXPECT_TRUE(Published("c"));
}

TEST_F(RepublishTest, AQuietPartitionIsCheckpointedForTheSweepAfterAClockThatWasAhead) {
  Open();
  Send(Event("exposed", "a", kNow));
  PublishAndCheckpoint();
  clock.SetWall(clock.WallNow().value + 40 * kMsPerDay);
  PublishAndCheckpoint();
  RenderAgain();
  Publish();
  ASSERT_FALSE(HasSnapshot()) << "by that clock nothing counts";
  clock.SetWall(clock.WallNow().value - 40 * kMsPerDay);
  Publish();
  clock.Advance(options.checkpoint_interval.count());
  ASSERT_TRUE(flow->intake.CheckpointDue()) << "no event comes";
  Checkpoint();
  Publish();
  EXPECT_TRUE(Published("a"));
}

TEST_P(KilledOrNot, AClockThatWasADayBehindLeavesNothingPublishedThatHasExpired) {
  options.filters[0].window_days = 2;
  Open();
  Send(Event("exposed", "a", kNow - 2 * kMsPerDay));
  Send(Event("exposed", "b", kNow));
  PublishAndCheckpoint();
  clock.Advance(kMsPerDay);
  Settle();
  EXPECT_FALSE(Published("a"));
  clock.SetWall(clock.WallNow().value - kMsPerDay);
  RenderAgain();
  Step(2);
  EXPECT_FALSE(Published("a")) << "not before the store holds that the day was not swept";
  ASSERT_TRUE(flow->intake.CheckpointDue());
  Checkpoint();
  Step(2);
  ASSERT_TRUE(Published("a")) << "by that clock it counts";
  clock.SetWall(clock.WallNow().value + kMsPerDay);
  if (GetParam()) Open();
  Settle();
  EXPECT_FALSE(Published("a"));
  EXPECT_TRUE(Published("b"));
}

TEST_F(RepublishTest, AWrongClockErasesNothingBesideARecordOfYearsAhead) {
  Open();
  Send(Event("exposed", "a", kNow));
  Checkpoint();
  Send(Event("exposed", "poison", kNow, "u2"), kNow + 75 * 365 * kMsPerDay);
  Checkpoint();
  clock.SetWall(kNow + 40 * kMsPerDay);
  Send(Event("exposed", "b", kNow), kNow);
  Checkpoint();
  clock.SetWall(kNow);
  EXPECT_TRUE(Seen("a"));
  EXPECT_TRUE(Seen("b"));
  EXPECT_EQ(reporter.timestamps_ahead, 1u);
}

TEST(SweepProgress, DecodesWhatItEncodedAndNothingElse) {
  SweepProgress progress;
  progress.done = Day{20'413};
  progress.running = Day{20'414};
  progress.cursor = UserRef{3, {7, 8}};
  progress.rendered = Day{20'415};
  progress.ended = 1'763'700'000;
  progress.filters = {{0, 0x1234, false}, {2, 0xffffffffffffffff, true}};
  const std::string bytes = EncodeSweepProgress(progress);
  EXPECT_EQ(*DecodeSweepProgress(bytes), progress);
  EXPECT_EQ(*DecodeSweepProgress(EncodeSweepProgress({})), SweepProgress{});
  for (size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_FALSE(DecodeSweepProgress(bytes.substr(0, length))) << length;
  }
  EXPECT_FALSE(DecodeSweepProgress(bytes + '\0'));
  progress.filters[1].topic_end = 77;
  const std::string with_ends = EncodeSweepProgress(progress);
  EXPECT_EQ(with_ends.size(), bytes.size() + 16);
  EXPECT_EQ(*DecodeSweepProgress(with_ends), progress);
  for (size_t length = 0; length < with_ends.size(); ++length) {
    EXPECT_FALSE(DecodeSweepProgress(with_ends.substr(0, length))) << length;
  }
  progress.filters[0].topic_end = -2;
  EXPECT_FALSE(DecodeSweepProgress(EncodeSweepProgress(progress)));
}

}  // namespace
}  // namespace seen
