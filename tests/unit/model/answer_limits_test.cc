// Which items count in an answer, rule by rule.
#include "model/answer_limits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>

#include "delta_case.h"
#include "model/delta_seen.h"
#include "support/effort.h"

namespace seen {
namespace {

using V = std::vector<uint32_t>;
constexpr int32_t kDay = 20'000;
constexpr uint32_t kNoon = kDay * 86'400u + 43'200;
constexpr auto kClicked = static_cast<ChangeKind>(16);
constexpr auto kBought = static_cast<ChangeKind>(17);

uint32_t At(int32_t day, uint32_t second = 0) { return static_cast<uint32_t>(day) * 86'400 + second; }

Change Shown(uint32_t item, uint32_t second) { return {{item}, second, ChangeKind::kExposed}; }
Change Served(uint32_t item, uint32_t second) { return {{item}, second, ChangeKind::kServed}; }
Change ShownOf(uint32_t item, int32_t created, int32_t shown) {
  return {{item},
          PackDays(static_cast<uint32_t>(created), static_cast<uint32_t>(shown)),
          ChangeKind::kExposedOfCreation};
}

V Seen(const std::vector<Change>& history, const AnswerLimits& limits) {
  V values;
  for (const Fingerprint fp : SeenFingerprints(DeltaOf("u", history, limits.delta), limits)) {
    values.push_back(fp.value);
  }
  SeenReader reader;
  EXPECT_TRUE(reader.Read({}, "u", history, limits));
  V read;
  for (const Fingerprint fp : reader.seen().values()) read.push_back(fp.value);
  std::sort(read.begin(), read.end());
  EXPECT_EQ(read, values);
  return values;
}

TEST(Answer, EachKindIsCutByItself) {
  AnswerLimits limits;
  limits.items_max = 2;
  limits.declared[0] = {0};
  EXPECT_EQ(Seen({Shown(1, At(kDay)),
                  Shown(9, At(kDay + 1)),
                  Shown(2, At(kDay)),
                  Served(21, kNoon),
                  Served(20, kNoon),
                  Served(30, kNoon + 4'000),
                  {{5}, kNoon, kClicked}},
                 limits),
            (V{1, 5, 9, 20, 30}));
}

TEST(Answer, WhatIsSimilarHasTheExposuresWindowAndNeverCountsAsSeen) {
  AnswerLimits limits;
  limits.horizon = {kDay - 5};
  const auto similar = [](uint32_t value, int32_t day) {
    return Change{{value}, At(day, 7), ChangeKind::kSimilar};
  };
  std::vector<Change> history = {Shown(1, kNoon), similar(2, kDay), similar(3, kDay - 5),
                                 similar(4, kDay - 6), similar(1, kDay - 1)};
  EXPECT_EQ(Seen(history, limits), (V{1}));
  const auto read = [&] {
    const Delta delta = DeltaOf("u", history, limits.delta);
    SeenReader reader;
    EXPECT_TRUE(reader.Read({}, "u", history, limits));
    V values, plain;
    for (const Fingerprint fp : reader.similar().values()) values.push_back(fp.value);
    for (const Fingerprint fp : SimilarFingerprints(delta, limits)) plain.push_back(fp.value);
    std::sort(values.begin(), values.end());
    EXPECT_EQ(values, limits.similar ? plain : V{});
    return values;
  };
  EXPECT_EQ(read(), V{}) << "nobody asked";
  limits.similar = true;
  EXPECT_EQ(read(), (V{1, 2, 3}));
  limits.cooldown = {kDay};
  EXPECT_EQ(read(), (V{2})) << "what may come back holds back nothing";
  limits.cooldown = kFirstOfDays;
  history.push_back({{2}, kNoon, ChangeKind::kRemoved});
  EXPECT_EQ(read(), (V{1, 3}));
  history.push_back({{}, kNoon - 86'400, ChangeKind::kErased});
  history.push_back(similar(9, kDay));
  EXPECT_EQ(read(), (V{9}));
  for (uint32_t i = 0; i < 9; ++i) history.push_back(similar(100 + i, kDay - 1));
  limits.items_max = 1;
  EXPECT_EQ(read(), (V{9, 100, 101, 102, 103, 104, 105, 106})) << "eight times items_max, the newest days";
}

TEST(Answer, OfAnItemSixtyFourExposuresADayAreKept) {
  AnswerLimits limits;
  limits.delta.repeated = true;
  limits.exposures_min = 65;
  limits.horizon = {kDay};
  std::vector<Change> many;
  for (uint32_t i = 0; i < 100; ++i) many.push_back(Shown(1, kNoon + i));
  EXPECT_EQ(Seen(many, limits), V{});
  many.push_back(Shown(1, At(kDay + 1)));
  EXPECT_EQ(Seen(many, limits), (V{1}));
}

TEST(Answer, WhatIsOlderThanTheSettingCountsOncePerDay) {
  AnswerLimits limits;
  Delta before =
      DeltaOf("u", std::vector<Change>{Shown(1, kNoon), Shown(2, kNoon), Shown(2, At(kDay + 1))}, {});
  limits.delta.repeated = true;
  limits.exposures_min = 2;
  const Delta after = DeltaOf("u", std::vector<Change>{Shown(1, At(kDay + 1))}, limits.delta);
  EXPECT_EQ(SeenFingerprints(Compose(before, after, limits.delta), limits),
            (std::vector<Fingerprint>{{1}, {2}}));
  EXPECT_EQ(SeenFingerprints(before, limits), (std::vector<Fingerprint>{{2}}));
}

TEST(Answer, WhereTheWindowGoesByCreationOldItemsNeedNoRemembering) {
  AnswerLimits limits;
  limits.by_creation = true;
  limits.horizon = {kDay - 30};
  const std::vector<Change> history = {ShownOf(1, kDay - 31, kDay), ShownOf(2, kDay - 30, kDay),
                                       ShownOf(3, kDay, kDay)};
  EXPECT_EQ(Seen(history, limits), (V{2, 3}));
  limits.by_creation = false;  // the limit is switched off again
  EXPECT_EQ(Seen(history, limits), (V{1, 2, 3}));
  limits.horizon = {kDay + 1};
  EXPECT_EQ(Seen(history, limits), V{});
}

TEST(Answer, ItemsMaxGoesByCreationToo) {
  AnswerLimits limits;
  limits.by_creation = true;
  limits.items_max = 2;
  EXPECT_EQ(
      Seen({ShownOf(1, kDay - 9, kDay), ShownOf(2, kDay - 5, kDay), ShownOf(3, kDay - 5, kDay - 1)}, limits),
      (V{2, 3}));
}

TEST(Answer, ANewItemIsntHeldByWhatEndedBeforeIt) {
  SeenReader reader;
  AnswerLimits limits;
  limits.declared[0] = {0};
  const std::vector<Change> history = {Shown(1, At(kDay, 100)),   Shown(9, At(kDay, 200)),
                                       Shown(2, At(kDay + 1, 5)), Served(3, kNoon),
                                       Served(8, kNoon + 50),     {{4}, At(kDay, 7), kClicked}};
  std::string bytes;
  EncodeDelta(DeltaOf("u", std::span(history).first(2), limits.delta), bytes);
  ASSERT_TRUE(reader.Read(bytes, "u", std::span(history).subspan(2), limits));
  EXPECT_TRUE(reader.Holds({1}, At(kDay, 200)));
  EXPECT_FALSE(reader.Holds({1}, At(kDay, 201)));
  EXPECT_TRUE(reader.Holds({2}, At(kDay + 1, 5)));
  EXPECT_FALSE(reader.Holds({2}, At(kDay + 1, 6)));
  EXPECT_TRUE(reader.Holds({3}, kNoon + 50));
  EXPECT_FALSE(reader.Holds({3}, kNoon + 51));
  EXPECT_FALSE(reader.Holds({4}, At(kDay, 8)));
  EXPECT_TRUE(reader.Holds({4}, 0));

  limits.by_creation = true;
  const std::vector<Change> created = {ShownOf(1, kDay - 3, kDay)};
  ASSERT_TRUE(reader.Read({}, "u", created, limits));
  EXPECT_TRUE(reader.Holds({1}, At(kDay - 3, 86'399)));
  EXPECT_FALSE(reader.Holds({1}, At(kDay - 2)));
}

TEST(Answer, EachItemCountsForADayThatLeavesTheWindowNoSoonerThanItDoes) {
  SeenReader reader;
  AnswerLimits limits;
  limits.horizon = {kDay - 30};
  limits.declared[0] = {kDay - 7};    // a shorter window
  limits.declared[1] = {kDay - 365};  // a longer window
  const std::vector<Change> history = {Shown(1, At(kDay - 20, 9)),     {{2}, At(kDay - 5, 7), kClicked},
                                       {{3}, At(kDay - 200), kBought}, {{4}, At(kDay - 20), kBought},
                                       Shown(4, At(kDay - 3)),         ShownOf(5, kDay - 40, kDay - 2)};
  ASSERT_TRUE(reader.Read({}, "u", history, limits));
  const auto ends = reader.Ends();
  ASSERT_TRUE(ends) << ends.error().message;
  const int32_t expected[] = {kDay - 20, kDay - 5 - 23, kDay - 200 + 335, kDay - 20 + 335, kDay - 2};
  ASSERT_EQ(ends->size(), std::size(expected));
  for (const CountedEnd& end : *ends) {
    EXPECT_EQ(end.day.since_epoch, expected[end.fingerprint.value - 1]) << "item " << end.fingerprint.value;
    if (end.fingerprint != Fingerprint{4}) continue;
    EXPECT_EQ(end.first_second, At(kDay - 20));
    EXPECT_EQ(end.second, At(kDay - 3));
  }
}

TEST(Answer, EndsAreThoseOfTheComposedStateHoweverTheyAreFound) {
  SeenReader reader;
  size_t of_exposures = 0;
  for (int seed = 0; seed < test::Rounds(3'000); ++seed) {
    DeltaCase c(seed);
    if (seed % 2 == 0) c.shape.others_percent = 0;
    const Delta stored = c.RandomDelta(100);
    const auto changes = c.History(c.random() % 10);
    AnswerLimits limits = c.RandomAnswer();
    if (seed % 3 != 0) limits.items_max = 10'000;
    if (seed % 3 != 0) limits.exposures_min = 1;
    const std::string bytes = Encoded(stored);
    ASSERT_TRUE(reader.Read(bytes, "u", changes, limits));
    const auto expected =
        CountedEnds(Compose(stored, DeltaOf("u", changes, limits.delta), limits.delta), limits);
    const auto found = reader.Ends();
    ASSERT_TRUE(found) << found.error().message << ", seed " << seed;
    std::vector<CountedEnd> ends(found->begin(), found->end());
    std::sort(ends.begin(), ends.end(),
              [](const CountedEnd& a, const CountedEnd& b) { return a.fingerprint < b.fingerprint; });
    ASSERT_EQ(ends, expected) << "seed " << seed;
    if (stored.others.empty() && !ends.empty()) ++of_exposures;
  }
  EXPECT_GT(of_exposures, static_cast<size_t>(test::Rounds(500)));
}

TEST(Answer, HoldsKnowsTheNewestSegmentThatCountsOfEachItem) {
  SeenReader reader;
  size_t held = 0, not_held = 0;
  for (int seed = 0; seed < test::Rounds(3'000); ++seed) {
    DeltaCase c(seed);
    c.shape.others_percent = 0;
    c.limits.repeated = false;
    const Delta stored = c.RandomDelta(100);
    const auto changes = c.History(c.random() % 10);
    AnswerLimits limits = c.RandomAnswer();
    limits.items_max = 10'000;
    limits.exposures_min = 1;
    const std::string bytes = Encoded(stored);
    ASSERT_TRUE(reader.Read(bytes, "u", changes, limits));
    const Delta all = Compose(stored, DeltaOf("u", changes, c.limits), c.limits);
    for (const Fingerprint asked : reader.seen().values()) {
      int64_t newest = 0;
      for (const Segment& segment : all.segments) {
        if (segment.day < std::max(limits.horizon, limits.cooldown)) continue;
        const auto& in = segment.fingerprints;
        if (!std::binary_search(in.begin(), in.end(), asked)) continue;
        newest = segment.day.since_epoch * kSecondsPerDay + segment.last_second;
      }
      const uint32_t created = c.RandomSecond();
      ASSERT_EQ(reader.Holds(asked, created), newest >= created) << "seed " << seed;
      ASSERT_TRUE(reader.Holds(asked, static_cast<uint32_t>(newest))) << "seed " << seed;
      ASSERT_FALSE(reader.Holds(asked, static_cast<uint32_t>(newest + 1))) << "seed " << seed;
      ++(newest >= created ? held : not_held);
    }
  }
  EXPECT_GT(held, static_cast<size_t>(test::Rounds(1'000)));
  EXPECT_GT(not_held, static_cast<size_t>(test::Rounds(1'000)));
}

TEST(WindowCut, IsTrueWhereverWhatCountsHasChanged) {
  size_t same = 0, cut = 0;
  for (int seed = 0; seed < test::Rounds(6'000); ++seed) {
    DeltaCase c(seed);
    const Delta delta = c.RandomDelta(30);
    const AnswerLimits before = c.RandomAnswer();
    AnswerLimits now = before;
    const int32_t days = c.Below(3);
    now.horizon = now.horizon + days;
    if (now.cooldown != kFirstOfDays) now.cooldown = now.cooldown + days;
    for (Day& day : now.declared) day = day == kLastOfDays ? day : day + days;
    now.now_s += static_cast<uint32_t>(c.Below(100'000));
    if (c.random() % 10 == 0) now.exposures_min += 1;
    const bool differs = SeenFingerprints(delta, before) != SeenFingerprints(delta, now);
    const bool told = WindowCut(Encoded(delta), before, now);
    ASSERT_TRUE(told || !differs) << "seed " << seed << "\n" << Text(delta);
    ASSERT_EQ(WindowCut(Encoded(delta), now, before), told) << "seed " << seed;
    ++(told ? cut : same);
  }
  EXPECT_GT(same, static_cast<size_t>(test::Rounds(500)));
  EXPECT_GT(cut, static_cast<size_t>(test::Rounds(500)));
}

TEST(WindowCut, IsFalseWhileNothingEnds) {
  std::string bytes;
  AnswerLimits before;
  before.delta.served_width_s = 300;
  before.horizon = {kDay - 1};
  before.now_s = kNoon;
  EncodeDelta(DeltaOf("u", std::vector<Change>{Shown(1, kNoon), Served(2, kNoon)}, before.delta), bytes);
  AnswerLimits now = before;
  now.horizon = {kDay};
  now.now_s = kNoon + 7 * 300 - 1;
  EXPECT_FALSE(WindowCut(bytes, before, now));
  now.now_s += 1;
  EXPECT_TRUE(WindowCut(bytes, before, now));
  now.now_s = kNoon;
  now.horizon = {kDay + 1};
  EXPECT_TRUE(WindowCut(bytes, before, now));
  EXPECT_TRUE(WindowCut("no delta", before, before));
}

}  // namespace
}  // namespace seen
