// The promise of model/set_digest.h: equal sets have equal digests, and different sets have different ones.
#include "model/set_digest.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "delta_case.h"
#include "support/effort.h"

namespace seen {
namespace {

constexpr int kSeeds = test::Rounds(3'000);
const UserKey kUser{1, 2};

std::array<std::string, kDeclaredKindsMax> Kinds() {
  std::array<std::string, kDeclaredKindsMax> names;
  for (size_t i = 0; i < names.size(); ++i) names[i] = "kind-" + std::to_string(i);
  return names;
}

SetDigest DigestOf(const Delta& delta, const Horizon& horizon, const UserKey& user = kUser,
                   std::string_view filter = "default") {
  SetDigester digester(filter, Kinds(), horizon);
  EXPECT_TRUE(digester.Add(user, Encoded(delta)));
  return digester.sum();
}

// The windows as DigestHorizon makes them. Removals are kept as long as exposures.
Horizon WindowsOf(DeltaCase& c) {
  Horizon horizon = Horizon::Of(c.RandomDay());
  horizon.whole = kLastOfDays;
  horizon.served_second = c.RandomSecond();
  return horizon;
}

// The horizon of a compaction. A compaction knows an earlier time, or the same, and keeps one day more.
Horizon Earlier(const Horizon& horizon, DeltaCase& c) {
  Horizon earlier = horizon;
  const int32_t days = 1 + c.Below(3);
  earlier.exposed = earlier.by_creation = earlier.taken_back = horizon.exposed - days;
  earlier.declared.fill(earlier.exposed);
  earlier.served_second = horizon.served_second - std::min(horizon.served_second, c.RandomSecond() % 100'000);
  earlier.taken_back = std::min(earlier.taken_back, earlier.ServedFrom(c.limits.served_width_s));
  earlier.whole = c.Below(2) == 0 ? kLastOfDays : earlier.exposed - c.Below(5);
  return earlier;
}

TEST(SetDigest, IsTheSameHoweverMuchOfWhatWentIsStillThere) {
  int went = 0;
  for (int seed = 0; seed < kSeeds; ++seed) {
    DeltaCase c(seed);
    const Delta delta = c.RandomDelta(40);
    const Horizon horizon = WindowsOf(c);
    Delta expired = delta;
    Expire(expired, Earlier(horizon, c));
    went += expired != delta;
    ASSERT_EQ(DigestOf(expired, horizon), DigestOf(delta, horizon)) << "seed " << seed << "\n" << Text(delta);
  }
  EXPECT_GT(went, kSeeds / 20);
}

TEST(SetDigest, TellsSetsApart) {
  std::set<std::string> bytes, digests;
  const Horizon all;
  for (int seed = 0; seed < kSeeds; ++seed) {
    DeltaCase c(seed);
    Delta delta = c.RandomDelta(10);
    delta.user_id = delta.HasSegments() ? "u" : "";
    for (OtherSegment& segment : delta.others) {
      if (segment.kind == SegmentKind::kResolving) std::fill(segment.times.begin(), segment.times.end(), 0);
    }
    const SetDigest digest = DigestOf(delta, all);
    bytes.insert(Encoded(delta));
    digests.insert(ToHex(digest.digest) + ToHex(digest.without_id) + ToHex(digest.similar));
  }
  EXPECT_EQ(digests.size(), bytes.size());
}

TEST(SetDigest, ChangesWithEachField) {
  Delta delta;
  delta.user_id = "u";
  delta.segments = {{Day{20'000}, 10, 20, {{1}, {2}}}};
  const Horizon all;
  const SetDigest before = DigestOf(delta, all);
  EXPECT_EQ(before.users, 1U);
  EXPECT_EQ(before.items, 2U);
  EXPECT_EQ(before.users_without_id, 0U);
  const auto changed = [&](auto change) {
    Delta other = delta;
    change(other);
    return DigestOf(other, all).digest != before.digest;
  };
  EXPECT_TRUE(changed([](Delta& other) { other.segments[0].fingerprints[1].value = 3; }));
  EXPECT_TRUE(changed([](Delta& other) { other.segments[0].fingerprints.pop_back(); }));
  EXPECT_TRUE(changed([](Delta& other) { other.segments[0].day = {20'001}; }));
  EXPECT_TRUE(changed([](Delta& other) { other.segments[0].last_second = 21; }));
  EXPECT_TRUE(changed([](Delta& other) { other.removals = {{{1}, Day{20'000}}}; }));
  EXPECT_TRUE(changed([](Delta& other) { other.erased = Day{19'999}; }));
  EXPECT_NE(DigestOf(delta, all, {1, 3}).digest, before.digest);
  EXPECT_NE(DigestOf(delta, all, kUser, "video").digest, before.digest);
}

// Another program computed the values from schemas/backup.md.
TEST(SetDigest, IsAsItIsDescribed) {
  Delta delta;
  delta.user_id = "u1";
  delta.erased = Day{19'990};
  delta.removals = {{{7}, Day{20'001}}};
  delta.segments = {{Day{20'000}, 10, 20, {{1}, {0x12345678}}}};
  OtherSegment declared;
  declared.kind = static_cast<SegmentKind>(kDeclaredKindFirst + 3);
  declared.bucket = 20'000;
  declared.first_second = 5;
  declared.last_second = 6;
  declared.fingerprints = {{9}};
  OtherSegment similar = declared;
  similar.kind = SegmentKind::kSimilar;
  delta.others = {similar, declared};
  const SetDigest digest = DigestOf(delta, {}, UserKeyOf("u1"));
  EXPECT_EQ(ToHex(digest.digest), "b13855ce0ba9d8e6a5fd7b47d3b144cc");
  EXPECT_EQ(ToHex(digest.similar), "7198c37270aa872c1f16b14af3efc2e4");
  EXPECT_EQ(digest.removals, 2U);
}

TEST(SetDigest, IsASum) {
  Delta delta;
  delta.user_id = "u";
  delta.segments = {{Day{20'000}, 10, 20, {{1}, {2}}}};
  SetDigester forth("default", Kinds(), {}), back("default", Kinds(), {});
  for (uint64_t user = 0; user < 100; ++user) ASSERT_TRUE(forth.Add({user, 1}, Encoded(delta)));
  for (uint64_t user = 100; user-- > 0;) ASSERT_TRUE(back.Add({user, 1}, Encoded(delta)));
  EXPECT_EQ(forth.sum(), back.sum());
  SetDigest halves;
  for (uint64_t half = 0; half < 2; ++half) {
    SetDigester digester("default", Kinds(), {});
    for (uint64_t user = half; user < 100; user += 2) ASSERT_TRUE(digester.Add({user, 1}, Encoded(delta)));
    halves += digester.sum();
  }
  EXPECT_EQ(halves, forth.sum());
}

TEST(SetDigest, CountsWhoseIdIsGone) {
  Delta removed;
  removed.removals = {{{1}, Day{20'000}}};
  SetDigest digest = DigestOf(removed, {});
  EXPECT_EQ(digest.users, 1U);
  EXPECT_EQ(digest.users_without_id, 1U);
  EXPECT_EQ(digest.removals, 1U);
  EXPECT_EQ(digest.digest, Hash128());
  EXPECT_NE(digest.without_id, Hash128());
  Horizon later = Horizon::Of(Day{20'001});
  digest = DigestOf(removed, later);
  EXPECT_EQ(digest, SetDigest());
}

TEST(SetDigest, RefusesWhatIsNoDelta) {
  SetDigester digester("default", Kinds(), {});
  EXPECT_EQ(digester.Add(kUser, "no delta").error().code, Code::kCorrupt);
}

TEST(Hash128, AddsWithItsCarry) {
  Hash128 sum{0, UINT64_MAX};
  sum += {1, 2};
  EXPECT_EQ(sum, (Hash128{2, 1}));
  sum += {UINT64_MAX - 1, UINT64_MAX - 0};
  EXPECT_EQ(sum, (Hash128{1, 0})) << "it wraps";
}

TEST(Hash128, IsReadAsItIsWritten) {
  const Hash128 hash = HashOf("seen");
  EXPECT_EQ(HashFromHex(ToHex(hash)), hash);
  ByteHash pieces;
  pieces.Add("se");
  pieces.Add("en");
  EXPECT_EQ(pieces.Finish(), hash);
  for (const char* const bad : {"", "0", "0123456789ABCDEF0123456789abcdef",
                                "0123456789abcdef0123456789abcde ", "0123456789abcdef0123456789abcdefa"})
    EXPECT_FALSE(HashFromHex(bad)) << bad;
}

}  // namespace
}  // namespace seen
