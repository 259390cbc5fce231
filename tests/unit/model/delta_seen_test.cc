// Compares the items that count, read from encoded deltas, with SeenFingerprints over decoded deltas.
#include "model/delta_seen.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "delta_case.h"
#include "support/effort.h"

namespace seen {
namespace {

constexpr int kSeeds = test::Rounds(5'000);

TEST(SeenReader, ReadsWhatSeenFingerprintsTells) {
  SeenReader reader;
  size_t similar_met = 0;
  for (int seed = 0; seed < kSeeds; ++seed) {
    DeltaCase c(seed);
    const Delta stored = c.RandomDelta(400);
    const auto changes = c.History(c.random() % 3 == 0 ? 0 : c.random() % 20);
    const std::string changed_id = changes.empty() ? "" : c.RandomId();
    const AnswerLimits limits = c.RandomAnswer();

    std::vector<Delta> parts = {stored};
    if (!changes.empty()) parts.push_back(DeltaOf(changed_id, changes, c.limits));
    const Delta composed = ComposeAll(parts, c.limits);
    const auto expected = SeenFingerprints(composed, limits);

    const bool none_stored = stored == Delta{};
    ASSERT_TRUE(reader.Read(none_stored ? "" : Encoded(stored), changed_id, changes, limits));
    std::vector<Fingerprint> actual(reader.seen().values().begin(), reader.seen().values().end());
    std::sort(actual.begin(), actual.end());
    ASSERT_EQ(actual, expected) << "seed " << seed;
    // The reader knows the id that came with the changes, even if nothing is left of the user.
    const std::string other_id = changed_id.empty() ? stored.user_id : changed_id;
    ASSERT_EQ(reader.user_id(), stored.user_id.empty() ? other_id : std::min(other_id, stored.user_id));
    size_t kept = 0, largest = 0;
    const auto count = [&](const auto& segments) {
      for (const auto& segment : segments) {
        kept += segment.fingerprints.size();
        const std::set<Fingerprint> distinct(segment.fingerprints.begin(), segment.fingerprints.end());
        largest = std::max(largest, distinct.size());
      }
    };
    count(composed.segments);
    auto others = composed.others;
    std::erase_if(others, [](const OtherSegment& one) { return one.kind == SegmentKind::kSimilar; });
    count(others);
    std::vector<Fingerprint> similar(reader.similar().values().begin(), reader.similar().values().end());
    std::sort(similar.begin(), similar.end());
    ASSERT_EQ(similar, limits.similar ? SimilarFingerprints(composed, limits) : std::vector<Fingerprint>())
        << "seed " << seed;
    similar_met += similar.size();
    ASSERT_GE(reader.kept_items(), kept) << "seed " << seed;
    if (changes.empty()) {
      ASSERT_EQ(reader.kept_items(), kept) << "seed " << seed;
    }
    ASSERT_EQ(reader.met_daily_limit(), largest >= limits.delta.items_per_day_max) << "seed " << seed;
    std::vector<Fingerprint> many = {{0}};
    for (uint32_t i = 0; i < 50; ++i) {
      const Fingerprint asked = i % 2 == 0 || expected.empty()
                                    ? Fingerprint{static_cast<uint32_t>(c.random())}
                                    : expected[c.random() % expected.size()];
      ASSERT_EQ(reader.seen().Contains(asked), std::binary_search(expected.begin(), expected.end(), asked));
      many.push_back(asked);
    }
    std::vector<uint8_t> answers(many.size(), 7);
    reader.seen().ContainsEach(many, answers);
    for (size_t i = 0; i < many.size(); ++i) ASSERT_EQ(answers[i], reader.seen().Contains(many[i]) ? 1 : 0);
  }
  EXPECT_GT(similar_met, static_cast<size_t>(kSeeds / 2));
}

TEST(SeenReader, OfArbitraryBytesGivesASetOrAnError) {
  std::mt19937_64 random(7);
  SeenReader reader;
  for (int round = 0; round < test::Rounds(50'000); ++round) {
    DeltaCase c(round % 50);
    std::string bytes = Encoded(c.RandomDelta(100));
    for (size_t i = random() % 4; i > 0; --i) bytes[random() % bytes.size()] = static_cast<char>(random());
    const std::vector<char> exact(bytes.begin(), bytes.end());  // a sanitizer sees a read beyond the end
    const auto read = reader.Read({exact.data(), exact.size()}, {}, {}, {c.RandomDay(), 1'000, c.limits});
    if (!read) {
      ASSERT_EQ(read.error().code, Code::kCorrupt);
    }
  }
}

TEST(SeenFingerprints, NeverFallBelowItemsMaxWhileThereAreThatMany) {
  for (uint64_t seed = 0; seed < 1'000; ++seed) {
    std::mt19937_64 random(seed);
    test::HistoryShape shape;
    shape.items = 30;
    shape.removed_percent = 10;
    const Delta delta = DeltaOf("u", test::RandomHistory(random, 80, shape), {});
    const Day horizon{static_cast<int32_t>(shape.first_day + 1)};
    std::map<uint32_t, int32_t> newest;
    for (const Segment& segment : delta.segments) {
      if (segment.day < horizon) continue;
      for (const Fingerprint fp : segment.fingerprints) newest[fp.value] = segment.day.since_epoch;
    }
    for (const uint32_t items_max : {1u, 5u, 20u, 100u}) {
      const auto seen = SeenFingerprints(delta, horizon, items_max);
      ASSERT_EQ(seen.size(), std::min<size_t>(items_max, newest.size())) << "seed " << seed;
      ASSERT_TRUE(std::is_sorted(seen.begin(), seen.end()));
      int32_t oldest_kept = INT32_MAX;
      for (const Fingerprint fp : seen) oldest_kept = std::min(oldest_kept, newest.at(fp.value));
      for (const auto& [value, day] : newest) {
        const bool kept = std::binary_search(seen.begin(), seen.end(), Fingerprint{value});
        ASSERT_TRUE(kept || day <= oldest_kept) << "seed " << seed;
      }
    }
  }
}

TEST(FingerprintSet, HoldsTheExtremesAndValuesThatShareTheirBits) {
  FingerprintSet set;
  set.Reset(100);
  std::vector<Fingerprint> values = {{0}, {UINT32_MAX}, {1}};
  for (uint32_t i = 1; i < 90; ++i) values.push_back({i << 25 | i});
  for (const Fingerprint value : values) EXPECT_TRUE(set.Insert(value)) << value.value;
  for (const Fingerprint value : values) EXPECT_FALSE(set.Insert(value)) << value.value;
  for (const Fingerprint value : values) EXPECT_TRUE(set.Contains(value)) << value.value;
  EXPECT_EQ(set.size(), values.size());
  EXPECT_FALSE(set.Contains({2}));
  set.Reset(0);
  EXPECT_FALSE(set.Contains({0}));
  EXPECT_EQ(set.size(), 0u);
}

}  // namespace
}  // namespace seen
