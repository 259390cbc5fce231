// How the flow treats the kinds, conditions and coverage that the decoder found.
#include <deque>
#include <vector>

#include "decode/event_decoder.h"
#include "unit/flow/flow_fixture.h"

namespace seen {
namespace {

class PartitionEventsTest : public test::FlowTest {
 protected:
  void SetUp() override {
    format.wanted.kind = true;
    format.filters = {{{"home"}, {}}, {{"video*"}, {}}};
    const auto plan = EventPlan::Make(format);
    ASSERT_TRUE(plan.has_value()) << plan.error().message;
    options.plan = *plan;
    Open({{0, "home", 30, 10'000, {}, SnapshotPolicy{}}, {1, "video", 7, 10'000, {}, SnapshotPolicy{}}}, {});
  }
  void Open(std::vector<FilterPolicy> filters, std::vector<FilterId> retired) {
    options.filters = std::move(filters);
    options.retired_filters = std::move(retired);
    OpenFlow(options);
  }
  void Send(std::string value, int64_t timestamp_ms = kNow) {
    const auto taken = SendNext(std::move(value), timestamp_ms);
    ASSERT_TRUE(taken.has_value());
    EXPECT_EQ(*taken, 1u);
  }
  static std::string Event(std::string_view kind, std::string_view scene, std::string_view item,
                           int64_t at_ms = kNow) {
    std::string json = R"({"user_id":"u1","kind":")" + std::string(kind) + '"';
    if (!scene.empty()) json += R"(,"scene":")" + std::string(scene) + '"';
    if (!item.empty()) json += R"(,"item_id":")" + std::string(item) + '"';
    return json + R"(,"exposed_at":)" + std::to_string(at_ms) + "}";
  }
  bool Seen(FilterIndex filter, std::string_view item) { return FlowTest::Seen(item, "u1", filter); }
  uint64_t Skipped(SkipReason reason) const { return reporter.skipped[static_cast<size_t>(reason)]; }

  EventFormat format;
  PartitionOptions options;
};

TEST_F(PartitionEventsTest, TheDaemonsOwnErasureTakesEffectThoughItsClockWasAhead) {
  Send(Event("exposed", "home", "a"));
  const std::string erasure = EncodeOwnEvent({"u1", {}, "erased", {kNow + 40 * kMsPerDay}});
  Send(erasure);
  EXPECT_EQ(reporter.rejected, 0u);
  EXPECT_FALSE(Seen(0, "a"));
  // The erasure takes nothing from the days in between.
  Send(Event("exposed", "home", "b", kNow + 2 * kMsPerDay), kNow + 2 * kMsPerDay);
  EXPECT_TRUE(Seen(0, "b"));
}

TEST_F(PartitionEventsTest, TheNewestThingOfAUserIsFoundInEveryFilterTailAndFormerFilter) {
  FilterPolicy young{0, "home", 30, 10'000, {}, SnapshotPolicy{}};
  young.window_by = WindowBy::kItemCreatedAt;
  const FilterPolicy video{1, "video", 7, 10'000, {}, SnapshotPolicy{}};
  Open({young, video}, {});
  const UserKey user = UserKeyOf("u1");
  const auto newest = [&](int64_t until = INT64_MAX) {
    const auto found = flow->reader.Newest(user, {until});
    EXPECT_TRUE(found.has_value());
    return found.value_or(std::nullopt);
  };
  EXPECT_EQ(newest(), std::nullopt);
  constexpr int64_t kLater = kNow + 2 * kMsPerDay;
  Send(Event("exposed", "video_1", "b", kNow));
  Send(Event("exposed", "home", "a", kLater), kLater);
  Send(Event("removed", "home", "a", kLater + kMsPerDay), kLater + kMsPerDay);
  for (const bool is_stored : {false, true}) {
    if (is_stored) Checkpoint();
    EXPECT_EQ(newest(), StartOf(DayOf({kLater}))) << "kept by the day";
    EXPECT_EQ(newest(kLater - kMsPerDay), TimeMs{kNow});
    EXPECT_EQ(newest(kNow - 1), std::nullopt);
  }
  Open({{2, "new", 30, 10'000, {}, SnapshotPolicy{}}}, {0, 1});
  EXPECT_EQ(newest(), StartOf(DayOf({kLater})));
  EXPECT_EQ(newest(kLater - kMsPerDay), TimeMs{kNow});
}

TEST_F(PartitionEventsTest, AnErasureIsAlsoOfFiltersThatAreNotConfiguredAnyMore) {
  const UserKey user = UserKeyOf("u1");
  Send(Event("exposed", "home", "a"));
  Send(Event("exposed", "video_1", "b"));
  Checkpoint();
  // Filter 1 leaves the configuration. Filters 0 and 2 stay, one on each side of it.
  Open({{0, "home", 30, 10'000, {}, SnapshotPolicy{}}, {2, "new", 30, 10'000, {}, SnapshotPolicy{}}}, {1});
  Send(Event("erased", "", ""));
  Checkpoint();
  const auto erased = DecodeDelta(durable.deltas.at({1, user}));
  ASSERT_TRUE(erased.has_value());
  EXPECT_TRUE(SeenFingerprints(*erased, {}, 10'000).empty());
  EXPECT_TRUE(erased->user_id.empty());
}

TEST_F(PartitionEventsTest, AnEventFeedsTheFiltersThatCoverIt) {
  Send(Event("exposed", "home", "a"));
  Send(Event("exposed", "video_feed", "b"));
  Send(Event("exposed", "search", "c"));
  EXPECT_TRUE(Seen(0, "a"));
  EXPECT_FALSE(Seen(1, "a"));
  EXPECT_FALSE(Seen(0, "b"));
  EXPECT_TRUE(Seen(1, "b"));
  EXPECT_FALSE(Seen(0, "c"));
  EXPECT_FALSE(Seen(1, "c"));
  EXPECT_EQ(Skipped(SkipReason::kNoFilter), 1u);
  EXPECT_EQ(reporter.too_old, 0u);
  EXPECT_EQ(reporter.events, 2u);
  EXPECT_EQ(flow->state.next_offset(), 3);
}

TEST_F(PartitionEventsTest, ARemovalTakesBackWhereItIsCovered) {
  Send(Event("exposed", "home", "a"));
  Send(Event("exposed", "video", "a"));
  Send(Event("removed", "home", "a"));
  EXPECT_FALSE(Seen(0, "a"));
  EXPECT_TRUE(Seen(1, "a"));
  EXPECT_EQ(reporter.removed, 1u);
  Send(Event("exposed", "home", "a"));
  EXPECT_TRUE(Seen(0, "a"));
}

TEST_F(PartitionEventsTest, WhatIsFromBeforeTheWindowIsCountedAsTooOld) {
  Send(Event("exposed", "home", "a", kNow - 30 * kMsPerDay));
  EXPECT_EQ(reporter.too_old, 0u) << "the window's first day";
  Send(Event("exposed", "home", "b", kNow - 31 * kMsPerDay));
  Send(Event("removed", "home", "a", kNow - 31 * kMsPerDay));
  EXPECT_EQ(reporter.too_old, 2u);
  EXPECT_EQ(reporter.removed, 0u);
  EXPECT_TRUE(Seen(0, "a"));
  EXPECT_FALSE(Seen(0, "b"));
}

TEST_F(PartitionEventsTest, AnErasureConcernsEveryFilterAndIsNeverTooOld) {
  Send(Event("exposed", "home", "a", kNow - 20 * kMsPerDay));
  Send(Event("exposed", "video", "b", kNow - 20 * kMsPerDay), kNow - 20 * kMsPerDay);
  Send(Event("exposed", "home", "late", kNow));
  Send(Event("erased", "", "", kNow - 10 * kMsPerDay));
  EXPECT_FALSE(Seen(0, "a"));
  EXPECT_TRUE(Seen(0, "late"));
  EXPECT_EQ(reporter.erased, 1u);
  // The erasure is too old for this filter's window, but still takes the bytes.
  const auto delta = sim::ReadDecoded(flow->reader, 1, UserKeyOf("u1"));
  ASSERT_TRUE(delta.has_value());
  EXPECT_TRUE(delta->segments.empty());
  Send(Event("erased", "", "", kNow - 400 * kMsPerDay));
  EXPECT_EQ(reporter.erased, 2u);
  EXPECT_EQ(reporter.too_old, 0u);
}

TEST_F(PartitionEventsTest, WhateverIsTooFarAheadIsADeadLetter) {
  for (const std::string_view kind : {"exposed", "served", "removed"}) {
    Send(Event(kind, "home", "a", kNow + 300'001));
    EXPECT_EQ(dead_letters.OldestUnacknowledged(0), 0);
  }
  EXPECT_FALSE(Seen(0, "a"));
  Send(Event("erased", "", "", kNow + 300'001));
  EXPECT_EQ(reporter.rejected, 4u);
  EXPECT_EQ(reporter.erased + reporter.removed + reporter.events, 0u);
  Send(Event("exposed", "home", "at the limit", kNow + 300'000));
  EXPECT_TRUE(Seen(0, "at the limit"));
  EXPECT_EQ(reporter.rejected, 4u);
}

TEST_F(PartitionEventsTest, WhatIsSkippedIsCountedAndTheOffsetGoesOn) {
  format.only_if = {{*ParseJsonPointer("/event"), Condition::Test::kIn, {{ScalarKind::kString, "show"}}}};
  SetUp();
  next = 0;
  Send(R"({"event":"ping"})");
  EXPECT_EQ(Skipped(SkipReason::kCondition), 1u);
  Send(R"({"event":"show","scene":"home","user_id":"u1","item_id":"a","exposed_at":)" + std::to_string(kNow) +
       "}");
  EXPECT_TRUE(Seen(0, "a"));
  EXPECT_EQ(flow->state.next_offset(), 2);
  EXPECT_EQ(reporter.misrouted, 0u);
}

TEST_F(PartitionEventsTest, WhateverDoesntReachTheStateIsCountedByItsCause) {
  Send(Event("exposed", "home", "a"));
  Send(Event("exposed", "home", "b", kNow / 1000));  // in seconds
  Send(Event("exposed", "home", "c", kNow - 40 * kMsPerDay));
  Send(Event("exposed", "elsewhere", "d"));
  Send(Event("unknown", "home", "e"));
  const LossCounts& live = reporter.live;
  EXPECT_EQ(live.events, 5u);
  EXPECT_EQ(live.LostBy(LossCause::kTooOld), 2u);
  EXPECT_EQ(live.before_1971, 1u);
  EXPECT_EQ(live.LostBy(LossCause::kNoFilter), 1u);
  EXPECT_EQ(live.LostBy(LossCause::kRejected), 1u);
  EXPECT_EQ(live.rejected[static_cast<size_t>(RejectReason::kUnknownKind)], 1u);
  EXPECT_EQ(live.LostBy(LossCause::kSkipped), 0u);
  EXPECT_EQ(live.LostBy(LossCause::kMisrouted), 0u);
}

TEST_F(PartitionEventsTest, WhatAReplayLosesIsNotCountedAsLive) {
  const ReplayNote note{ReplayNote::Kind::kRecord, false, "run"};
  const std::string old = Event("exposed", "home", "a", kNow - 40 * kMsPerDay);
  std::vector<Record> records;
  for (const std::string_view value : {std::string_view(old), std::string_view("not JSON")})
    records.push_back({next++, {kNow}, "u1", value, false, nullptr, &note});
  records.push_back({next++, {kNow}, "u1", old, false});
  ASSERT_EQ(flow->intake.Apply(records), size_t{3});
  EXPECT_EQ(reporter.too_old, 2u);
  EXPECT_EQ(reporter.rejected, 1u);
  EXPECT_EQ(reporter.live.events, 1u);
  EXPECT_EQ(reporter.live.LostBy(LossCause::kTooOld), 1u);
  EXPECT_EQ(reporter.live.LostBy(LossCause::kRejected), 0u);
}

TEST_F(PartitionEventsTest, ItemsTooOldForAWindowByCreationAreCounted) {
  format.wanted.item_created_at = true;
  options.plan = *EventPlan::Make(format);
  FilterPolicy young{0, "home", 30, 10'000, {}, SnapshotPolicy{}};
  young.window_by = WindowBy::kItemCreatedAt;
  Open({young}, {});
  const auto created = [](std::string_view item, int64_t at_ms) {
    return R"({"user_id":"u1","scene":"home","item_id":")" + std::string(item) + R"(","item_created_at":)" +
           std::to_string(at_ms) + R"(,"exposed_at":)" + std::to_string(kNow) + "}";
  };
  Send(created("new", kNow));
  Send(created("old", kNow - 40 * kMsPerDay));
  Send(created("seconds", kNow / 1000));
  EXPECT_EQ(reporter.events, 1u);
  EXPECT_EQ(reporter.too_old, 2u);
  EXPECT_EQ(reporter.live.events, 3u);
  EXPECT_EQ(reporter.live.LostBy(LossCause::kTooOld), 1u) << "an old item is normal, one of 1970 isn't";
  EXPECT_EQ(reporter.live.created_before_1971, 1u);
}

TEST_F(PartitionEventsTest, BlocksWithAMisroutedEventShowWhichPartitionerFits) {
  options.partition_count = 4;
  options.partition = 2;
  Open(options.filters, {});
  std::deque<std::string> users;
  for (int i = 0; users.size() < 20; ++i) {
    std::string user = "user-" + std::to_string(i);
    if (PartitionOf(Partitioner::kCrc32, user, 4) == 2) users.push_back(std::move(user));
  }
  std::deque<std::string> values;
  std::vector<Record> records;
  uint64_t misrouted = 0;
  for (const std::string& user : users) {
    values.push_back(R"({"user_id":")" + user + R"(","item_id":"i","scene":"home","exposed_at":)" +
                     std::to_string(kNow) + "}");
    records.push_back({next++, {kNow}, user, values.back(), false});
    misrouted += PartitionOf(Partitioner::kMurmur2, user, 4) == 2 ? 0u : 1u;
  }
  ASSERT_EQ(flow->intake.Apply(records), records.size());
  const LossCounts& live = reporter.live;
  EXPECT_EQ(live.LostBy(LossCause::kMisrouted), misrouted);
  EXPECT_EQ(live.partitioners.records, 20u);
  EXPECT_EQ(live.partitioners.keyed_by_user, 20u);
  EXPECT_EQ(live.partitioners.fits[static_cast<size_t>(Partitioner::kCrc32)], 20u);
}

TEST_F(PartitionEventsTest, ABlockHoldsManyKindsInTheirOrder) {
  std::vector<Record> records;
  for (const auto& [kind, item] : {std::pair{"exposed", "a"},
                                   {"exposed", "b"},
                                   {"removed", "a"},
                                   {"nonsense", "x"},
                                   {"erased", ""},
                                   {"exposed", "c"}}) {
    record_values.push_back(Event(kind, "home", item));
    records.push_back({next++, {kNow}, "u1", record_values.back(), false});
  }
  const auto taken = flow->intake.Apply(records);
  ASSERT_TRUE(taken.has_value());
  EXPECT_EQ(*taken, records.size());
  EXPECT_FALSE(Seen(0, "a"));
  EXPECT_FALSE(Seen(0, "b"));
  EXPECT_TRUE(Seen(0, "c"));
  EXPECT_EQ(reporter.rejected, 1u);
}

}  // namespace
}  // namespace seen
