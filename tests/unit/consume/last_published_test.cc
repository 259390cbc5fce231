// What happens to published snapshots after the state that they were rendered from is lost.
#include <gtest/gtest.h>

#include "support/lost_state.h"

namespace seen {
namespace {
using sim::LostState;

SnapshotShape Of(SnapshotFormat format) { return {format, 0.01, false}; }

/// 20 days ago, "u" saw `old_items` items and "idle" saw one. The log holds the last 7 days.
std::unique_ptr<LostState> Lost(const SnapshotShape& shape, int old_items = 3,
                                bool publish_incomplete = false) {
  auto world = std::make_unique<LostState>(shape, publish_incomplete);
  world->Settle();
  for (int i = 0; i < old_items; ++i) world->Expose("u", "old" + std::to_string(i));
  world->Expose("idle", "old");
  world->Settle();
  EXPECT_TRUE(world->Holds("u", "old0"));
  for (int day = 0; day < 20; ++day) world->NextDay();
  world->Expose("other", "x");  // so that the log is not empty
  world->LoseState(7);
  return world;
}

TEST(LastPublished, IsMergedIntoWhatIncompleteStateRenders) {
  for (const SnapshotFormat format : {SnapshotFormat::kSplitBlockBloom, SnapshotFormat::kBloom,
                                      SnapshotFormat::kFingerprints, SnapshotFormat::kAuto}) {
    SCOPED_TRACE(SnapshotFormatName(format));
    auto world = Lost(Of(format));
    world->Expose("u", "new");
    world->Settle();
    EXPECT_TRUE(world->IsIncomplete());
    EXPECT_TRUE(world->Holds("u", "new"));
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(world->Holds("u", "old" + std::to_string(i)));
    EXPECT_TRUE(world->Holds("idle", "old")) << "nothing has happened to this user";
    EXPECT_EQ(world->Published("u")->item_count, 4u);
    EXPECT_EQ(world->Published("u")->complete_since, world->flow().GetStatus().filters[0].complete_since);
    EXPECT_GT(world->reporter.merged, 0u);
    EXPECT_EQ(world->reporter.withheld, 0u);
    std::string id, bytes;
    for (const auto& [user, item] :
         {std::pair{"u", "old1"}, std::pair{"u", "new"}, std::pair{"idle", "old"}}) {
      ASSERT_TRUE(world->flow().reader.RenderUser(0, UserKeyOf(user), Of(format), id, bytes));
      EXPECT_TRUE(SnapshotView::Parse(bytes)->MightContain(item)) << "an answer over HTTP holds it too";
    }
  }
}

TEST(LastPublished, AFilterWithUpdatesHasNoBaseWhileAUnionIsRefused) {
  auto world = Lost(Of(SnapshotFormat::kSplitBlockBloom));
  PartitionOptions options = world->options();
  options.filters[0].snapshot = SnapshotPolicy{Of(SnapshotFormat::kBloom), {}};  // takes other unions
  options.filters[0].updates = true;
  options.updates = UpdatePolicy{};
  options.updates->refresh_every = std::chrono::seconds(1);
  world->Configure(options);
  world->Restart();
  world->Settle();
  const auto withholds = [&] { return world->flow().last_published.Withholds(0, world->clock.WallNow()); };
  EXPECT_FALSE(withholds()) << "nobody was withheld";
  world->Expose("u", "new");
  world->Settle();
  EXPECT_FALSE(world->Holds("u", "new"));
  EXPECT_TRUE(withholds());
  world->Restart();
  for (int i = 0; i < 3; ++i) world->Settle();
  EXPECT_TRUE(withholds()) << "the mark brings the user back in each round, also after a restart";
  for (int i = 0; i < 3; ++i) world->Expose("u", "newer" + std::to_string(i));
  for (int i = 0; i < 3; ++i) world->Settle();
  EXPECT_TRUE(world->Holds("u", "new"));
  EXPECT_FALSE(withholds()) << "a whole round has published everybody";
}

TEST(LastPublished, IsReadBeforeAnythingIsPublishedAndOnlyOnce) {
  auto world = Lost(Of(SnapshotFormat::kSplitBlockBloom));
  world->topics.fails = Error{Code::kUnavailable, "no broker"};
  world->Expose("u", "new");
  world->Settle();
  EXPECT_FALSE(world->Holds("u", "new")) << "nobody knows yet what it would replace";
  EXPECT_TRUE(world->Holds("u", "old0"));
  EXPECT_GT((world->reporter.publish_failures[{0, PublishStep::kLastPublished}]), 0u);
  world->topics.fails.reset();
  world->Settle();
  EXPECT_TRUE(world->Holds("u", "new"));
  EXPECT_TRUE(world->Holds("u", "old0"));
  const int readings = world->topics.readings;
  world->Restart();
  world->Expose("u", "newer");
  world->Settle();
  EXPECT_EQ(world->topics.readings, readings) << "the store has it";
  EXPECT_TRUE(world->Holds("u", "newer"));
  EXPECT_TRUE(world->Holds("u", "old0"));
}

TEST(LastPublished, WithoutATopicThereIsNothingToReplace) {
  auto world = Lost(Of(SnapshotFormat::kSplitBlockBloom));
  world->topics.fails = Error{Code::kNotFound, "no such topic"};
  world->Expose("u", "new");
  world->Settle();
  EXPECT_TRUE(world->Holds("u", "new"));
  EXPECT_FALSE(world->Holds("u", "old0"));
}

TEST(LastPublished, OfAKindThatTakesNoMoreItemsStaysUntilTheStateHasAsMany) {
  for (const SnapshotFormat format : {SnapshotFormat::kQuotient, SnapshotFormat::kCuckoo,
                                      SnapshotFormat::kBinaryFuse8, SnapshotFormat::kDayChain}) {
    SCOPED_TRACE(SnapshotFormatName(format));
    auto world = Lost(Of(format));
    world->Expose("u", "new0");
    world->Expose("u", "new1");
    world->Settle();
    EXPECT_TRUE(world->Holds("u", "old0"));
    EXPECT_FALSE(world->Holds("u", "new0"));
    EXPECT_GT(world->reporter.withheld, 0u);
    EXPECT_EQ(world->flow().publish.Outstanding(), 0u) << "what is withheld waits for nothing";
    std::string id, bytes;
    ASSERT_TRUE(world->flow().reader.RenderUser(0, UserKeyOf("u"), Of(format), id, bytes));
    EXPECT_TRUE(SnapshotView::Parse(bytes)->MightContain("old0"));
    world->Expose("u", "new2");
    world->Settle();
    EXPECT_TRUE(world->Holds("u", "new0")) << "it isn't frozen";
    EXPECT_TRUE(world->Holds("u", "new2"));
    EXPECT_EQ(world->reporter.merged, 0u);
  }
}

TEST(LastPublished, OfAnotherKindThanIsConfiguredNowIsNotMerged) {
  auto world = Lost(Of(SnapshotFormat::kSplitBlockBloom));
  world->options().filters[0].snapshot = SnapshotPolicy(Of(SnapshotFormat::kBloom));
  world->Restart();
  world->Expose("u", "new");
  world->Settle();
  EXPECT_TRUE(world->Holds("u", "old0"));
  EXPECT_FALSE(world->Holds("u", "new"));
}

TEST(LastPublished, PublishIncompleteReplacesIt) {
  auto world = Lost(Of(SnapshotFormat::kSplitBlockBloom), 3, true);
  world->Expose("u", "new");
  world->Settle();
  EXPECT_EQ(world->topics.readings, 0);
  EXPECT_TRUE(world->Holds("u", "new"));
  EXPECT_FALSE(world->Holds("u", "old0"));
  EXPECT_TRUE(world->Published("u")->complete_since.has_value()) << "it still says so";
}

TEST(LastPublished, OfAnErasedUserIsDroppedAndNeverComesBack) {
  auto world = Lost(Of(SnapshotFormat::kSplitBlockBloom));
  world->Settle();
  ASSERT_TRUE(world->durable().published.contains({0, UserKeyOf("u")}));
  world->Erase("u");
  world->Settle();
  EXPECT_EQ(world->Published("u"), std::nullopt) << "a tombstone";
  EXPECT_FALSE(world->durable().published.contains({0, UserKeyOf("u")}));
  world->Expose("u", "new");
  world->Settle();
  EXPECT_TRUE(world->Holds("u", "new"));
  EXPECT_FALSE(world->Holds("u", "old0"));
  EXPECT_TRUE(world->Holds("idle", "old"));
}

TEST(LastPublished, ATombstoneInTheTopicKeepsNothing) {
  auto world = Lost(Of(SnapshotFormat::kSplitBlockBloom));
  world->topics.tombstones = {"u"};
  world->Settle();
  EXPECT_FALSE(world->durable().published.contains({0, UserKeyOf("u")}));
  EXPECT_TRUE(world->durable().published.contains({0, UserKeyOf("idle")}));
}

TEST(LastPublished, ARecordThatIsNoSnapshotIsCountedAndLeftOut) {
  auto world = Lost(Of(SnapshotFormat::kSplitBlockBloom));
  world->topic.topic[{FilterIndex(), "odd"}] = "not a snapshot";
  world->Expose("u", "new");
  world->Settle();
  EXPECT_EQ(world->flow().last_published.unreadable(), 1u);
  EXPECT_TRUE(world->Holds("u", "old0"));
}

TEST(LastPublished, OnceTheWindowHasPassedTheStateAloneIsPublished) {
  for (const SnapshotFormat format : {SnapshotFormat::kSplitBlockBloom, SnapshotFormat::kQuotient}) {
    SCOPED_TRACE(SnapshotFormatName(format));
    auto world = Lost(Of(format));
    world->Expose("u", "new");
    world->Settle();
    for (int day = 0; day < LostState::kWindowDays + 1; ++day) {
      world->Expose("u", "day" + std::to_string(day));
      world->NextDay();
    }
    EXPECT_FALSE(world->IsIncomplete());
    world->NextDay();
    EXPECT_TRUE(world->Holds("u", "day5"));
    EXPECT_FALSE(world->Holds("u", "old0"));
    EXPECT_EQ(world->Published("u")->complete_since, std::nullopt);
    EXPECT_EQ(world->Published("idle"), std::nullopt) << "nothing of it is in the window: a tombstone";
    EXPECT_TRUE(world->durable().published.empty());
    EXPECT_EQ(world->durable().position->filters[0].last_published, LastPublished::kInState);
  }
}

TEST(LastPublished, WhatHasLeftTheWindowIsNotMerged) {
  auto world = Lost(Of(SnapshotFormat::kSplitBlockBloom));
  world->Settle();
  for (int day = 0; day < 15; ++day) world->NextDay();
  ASSERT_TRUE(world->IsIncomplete());
  world->Expose("u", "new");
  world->Settle();
  EXPECT_TRUE(world->Holds("u", "new"));
  EXPECT_FALSE(world->Holds("u", "old0")) << "35 days ago";
}

TEST(LastPublished, IsOfAFilterThatWasAddedUnderAnotherName) {
  LostState world(Of(SnapshotFormat::kSplitBlockBloom));
  world.Settle();
  world.Expose("u", "old");
  world.Settle();
  world.options().filters[0].id = 1;  // the same topic, but a new filter in the store
  world.options().filters[0].name = "renamed";
  world.options().retired_filters = {0};
  world.Restart();
  world.Expose("u", "new");
  world.Settle();
  EXPECT_TRUE(world.IsIncomplete());
  EXPECT_TRUE(world.Holds("u", "new"));
  EXPECT_TRUE(world.Holds("u", "old"));
}

}  // namespace
}  // namespace seen
