// The promises about expiry in model/delta.h and model/horizon.h.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "delta_case.h"
#include "support/effort.h"

namespace seen {
namespace {

constexpr int kSeeds = test::Rounds(6'000);

TEST(Expire, CommutesWithComposition) {
  size_t kept_for_grace = 0;
  for (int seed = 0; seed < kSeeds; ++seed) {
    DeltaCase c(seed);
    c.shape.items = 8;
    const Delta a = c.SmallDelta(), b = c.SmallDelta(), d = c.SmallDelta();
    const Horizon horizon = c.RandomHorizon();
    const auto expired = [&](Delta delta) {
      Expire(delta, horizon);
      return delta;
    };
    const auto composed = [&](const Delta& x, const Delta& y) { return Compose(x, y, c.limits); };
    const Delta expected = expired(composed(composed(a, b), d));
    SCOPED_TRACE(Text(a) + Text(b) + Text(d) + "expected " + Text(expected));
    ASSERT_EQ(expired(expected), expected) << "seed " << seed;
    ASSERT_EQ(expired(composed(expired(composed(a, b)), d)), expected) << "seed " << seed;
    ASSERT_EQ(expired(composed(a, expired(composed(b, d)))), expected) << "seed " << seed;
    ASSERT_EQ(expired(composed(expired(composed(expired(a), expired(b))), expired(d))), expected)
        << "seed " << seed;
    ASSERT_EQ(expired(composed(expired(a), composed(b, expired(d)))), expected) << "seed " << seed;
    if (horizon.GraceDays() == 0) {
      ASSERT_EQ(composed(composed(expired(a), expired(b)), expired(d)), expected) << "seed " << seed;
    }
    Horizon strict = horizon;
    strict.taken_back = {static_cast<int32_t>(std::max<int64_t>(horizon.TakenBack(), INT32_MIN))};
    strict.whole = kLastOfDays;
    Delta without = composed(composed(a, b), d);
    Expire(without, strict);
    if (without != expected) ++kept_for_grace;
  }
  EXPECT_GT(kept_for_grace, static_cast<size_t>(kSeeds / 100));
}

TEST(Expire, IsMonotonousOverTime) {
  for (int seed = 0; seed < kSeeds; ++seed) {
    DeltaCase c(seed);
    Horizon horizon = c.RandomHorizon();
    // Horizon demands that `taken_back` is not after any of these days.
    for (const Day day : {horizon.exposed, horizon.by_creation, horizon.declared.front(),
                          horizon.declared.back(), horizon.ServedFrom(c.limits.served_width_s)}) {
      horizon.taken_back = std::min(horizon.taken_back, day);
    }
    Horizon later = horizon;
    later.exposed = later.exposed + 1;
    later.by_creation = later.by_creation + 1;
    later.taken_back = later.taken_back + 1;
    later.served_second += 86'400;
    for (Day& day : later.declared) day = day + 1;
    if (later.whole != kLastOfDays) later.whole = later.whole + 1;
    Delta once = c.RandomDelta(40);
    Delta twice = once;
    Expire(once, later);
    Expire(twice, horizon);
    Expire(twice, later);
    ASSERT_EQ(twice, once) << "seed " << seed;
  }
}

Delta ShownOn(int32_t day, uint32_t item) {
  return DeltaOf("u", std::vector<Change>{{{item}, static_cast<uint32_t>(day) * 86'400 + 5}}, {});
}

TEST(Expire, DropsEachKindAtItsOwnHorizon) {
  const uint32_t noon = 20'000u * 86'400 + 43'200;
  const std::vector<Change> history = {
      {{1}, noon},
      {{2}, noon, ChangeKind::kServed},
      {{3}, PackDays(19'998, 20'000), ChangeKind::kExposedOfCreation},
      {{4}, noon, static_cast<ChangeKind>(16)},
      {{5}, noon, static_cast<ChangeKind>(31)},
      {{6}, noon, ChangeKind::kResolving},
      {{6}, noon, ChangeKind::kResolving},
      {{7}, noon, ChangeKind::kSimilar},
  };
  DeltaLimits limits;
  limits.served_width_s = 600;
  const Delta all = DeltaOf("u", history, limits);
  const auto left = [&](const Horizon& horizon) {
    Delta delta = all;
    Expire(delta, horizon);
    std::vector<uint32_t> items;
    for (const Segment& segment : delta.segments) items.push_back(segment.fingerprints.at(0).value);
    for (const OtherSegment& segment : delta.others) items.push_back(segment.fingerprints.at(0).value);
    std::sort(items.begin(), items.end());
    return items;
  };
  using V = std::vector<uint32_t>;
  EXPECT_EQ(left({}), (V{1, 2, 3, 4, 5, 6, 7}));
  Horizon horizon;
  horizon.exposed = {20'000};
  EXPECT_EQ(left(horizon), (V{1, 2, 3, 4, 5, 6, 7}));
  horizon.exposed = {20'001};
  EXPECT_EQ(left(horizon), (V{2, 3, 4, 5, 6}));
  horizon = {};
  horizon.by_creation = {19'998};
  EXPECT_EQ(left(horizon), (V{1, 2, 3, 4, 5, 6, 7}));
  horizon.by_creation = {19'999};
  EXPECT_EQ(left(horizon), (V{1, 2, 4, 5, 6, 7}));
  horizon = {};
  horizon.declared[0] = {20'001};
  EXPECT_EQ(left(horizon), (V{1, 2, 3, 5, 6, 7}));
  horizon.declared[15] = {20'001};
  EXPECT_EQ(left(horizon), (V{1, 2, 3, 6, 7}));
  horizon = {};
  horizon.served_second = noon + 7 * 600 - 1;  // a bucket of ten minutes begins at noon
  EXPECT_EQ(left(horizon), (V{1, 2, 3, 4, 5, 6, 7}));
  horizon.served_second = noon + 7 * 600;
  EXPECT_EQ(left(horizon), (V{1, 3, 4, 5, 7}));
  EXPECT_EQ(left(Horizon::Of({20'000})), (V{1, 2, 4, 5, 6, 7}));
  EXPECT_EQ(left(Horizon::Of({20'002})), V{});
}

TEST(Expire, KeepsTheNewestEmptiedForAsLongAsItsGraceLasts) {
  Delta delta = Compose(ShownOn(100, 1), ShownOn(102, 2), {});
  Horizon horizon = Horizon::Of({103});
  horizon.whole = {101};  // two days of grace
  horizon.taken_back = {103};
  Expire(delta, horizon);
  ASSERT_EQ(delta.segments.size(), 1u);
  EXPECT_EQ(delta.segments[0].day, Day{102});
  EXPECT_TRUE(delta.segments[0].fingerprints.empty());
  EXPECT_EQ(delta.user_id, "u");
  EXPECT_EQ(delta.segments[0].first_second, 5u);
  horizon.exposed = {105};
  horizon.whole = {103};
  Expire(delta, horizon);
  EXPECT_EQ(delta, Delta{});
}

TEST(Expire, KeepsNothingBesideWhatIsNewer) {
  Delta delta = Compose(ShownOn(100, 1), ShownOn(105, 2), {});
  Horizon horizon = Horizon::Of({103});
  horizon.whole = {90};
  Expire(delta, horizon);
  ASSERT_EQ(delta.segments.size(), 1u);
  EXPECT_EQ(delta.segments[0].fingerprints, (std::vector<Fingerprint>{{2}}));
}

TEST(Expire, GivesKindsOfOtherWindowsTheSameGrace) {
  const std::vector<Change> clicked = {{{7}, 50 * 86'400, static_cast<ChangeKind>(16)}};
  Delta delta = DeltaOf("u", clicked, {});
  Horizon horizon = Horizon::Of({103});
  horizon.whole = {101};
  horizon.declared[0] = {52};
  horizon.taken_back = {52};
  Expire(delta, horizon);
  ASSERT_EQ(delta.others.size(), 1u);
  EXPECT_TRUE(delta.others[0].fingerprints.empty());
  horizon.declared[0] = {53};
  Expire(delta, horizon);
  EXPECT_EQ(delta, Delta{});
}

TEST(Horizon, OfAllOneDayIsWhatADayMeans) {
  const Horizon horizon = Horizon::Of({20'000});
  EXPECT_EQ(horizon.exposed, Day{20'000});
  EXPECT_EQ(horizon.GraceDays(), 0);
  EXPECT_EQ(horizon.served_second, 20'000u * 86'400);
  EXPECT_EQ(Horizon::Of({-5}).served_second, 0u);
  EXPECT_EQ(Horizon::Of(kLastOfDays).served_second, UINT32_MAX);
  Horizon served;
  served.served_second = 20'000u * 86'400;
  EXPECT_EQ(served.ServedFrom(1), Day{19'999});
  EXPECT_EQ(served.ServedFrom(86'400), Day{19'993});
}

}  // namespace
}  // namespace seen
