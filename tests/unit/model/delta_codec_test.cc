#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "delta_case.h"
#include "model/rice.h"
#include "support/effort.h"

namespace seen {
namespace {

Delta RandomDelta(uint64_t seed) {
  std::mt19937_64 random(seed);
  test::HistoryShape shape;
  shape.items = 1 + static_cast<uint32_t>(random() % 200);
  shape.others_percent = seed % 3 == 0 ? 0 : 60;
  DeltaLimits limits;
  limits.repeated = seed % 5 == 0;
  limits.served_width_s = seed % 2 == 0 ? 300 : 10'000;
  const auto history = test::RandomHistory(random, random() % 300, shape);
  return DeltaOf(seed % 4 == 0 ? "" : "user-" + std::to_string(seed), history, limits);
}

void ExpectDecodesAsItWas(const Delta& delta) {
  const auto decoded = DecodeDelta(Encoded(delta));
  ASSERT_TRUE(decoded.has_value()) << decoded.error().message;
  ASSERT_EQ(*decoded, delta);
}

TEST(DeltaCodec, DecodesWhatItEncoded) {
  for (uint64_t seed = 0; seed < 2'000 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    ExpectDecodesAsItWas(RandomDelta(seed));
  }
}

TEST(DeltaCodec, HoldsTheExtremesOf32Bits) {
  Delta delta;
  delta.user_id = std::string(512, 'x');
  delta.erased = Day{-1};
  delta.removals = {{{0}, {INT32_MIN}}, {{UINT32_MAX}, {INT32_MAX}}};
  delta.segments = {{{INT32_MIN}, 0, 0, {{0}}},
                    {{-1}, 0, 86'399, {{UINT32_MAX}}},
                    {{0}, 5, 5, {}},
                    {{INT32_MAX}, 86'399, 86'399, {{0}, {1}, {UINT32_MAX - 1}, {UINT32_MAX}}}};
  ExpectDecodesAsItWas(delta);
}

TEST(DeltaCodec, HoldsTheExtremesOfOtherKinds) {
  Delta delta;
  delta.others = {
      {{SegmentKind::kServed, 1, 0, 0, 0, 0}, {{7}}, {}},
      {{SegmentKind::kServed, 1, UINT32_MAX, 0, 0, 0}, {}, {}},
      {{SegmentKind::kServed, UINT32_MAX, 0, 0, UINT32_MAX - 1, 0}, {{0}, {UINT32_MAX}}, {}},
      {{SegmentKind::kRepeated, 86'400, 49'710, 0, 86'399, 0}, {{3}, {3}, {4}}, {0, 86'399, 5}},
      {{SegmentKind::kByCreation, 86'400, 0, 0, 0, 65'535}, {{1}, {2}}, {0, 65'535}},
      {{SegmentKind::kByCreation, 86'400, 65'535, 0, 0, 65'535}, {}, {}},
      {{SegmentKind::kResolving, 300, 1, 0, 299, 0}, {{1}, {2}}, {0, UINT32_MAX}},
      {{SegmentKind::kSimilar, 86'400, 49'710, 0, 86'399, 0}, {{0}, {UINT32_MAX}}, {}},
      {{static_cast<SegmentKind>(16), 86'400, 0, 1, 2, 0}, {{1}}, {}},
      {{static_cast<SegmentKind>(31), 86'400, 49'710, 1, 2, 0}, {{1}}, {}},
  };
  ExpectDecodesAsItWas(delta);
}

TEST(DeltaCodec, RefusesWhatNoSegmentIs) {
  const auto refuses = [](std::string_view segments) {
    return !DecodeDelta(std::string("\x01\x08", 2) + std::string(segments)).has_value();
  };
  using namespace std::string_view_literals;
  EXPECT_FALSE(refuses("\x01\x01\x06\x02\x00\x00\x00"sv)) << "served, width 5, bucket 2, empty";
  EXPECT_TRUE(refuses("\x01\x01\x00\x02\x00\x00\x00"sv)) << "no width";
  EXPECT_TRUE(refuses("\x01\x01\x05\x02\x05\x00\x00"sv)) << "a second outside the bucket";
  EXPECT_TRUE(refuses("\x01\x06\x02\x00\x00\x00"sv)) << "no such kind";
  EXPECT_TRUE(refuses("\x01\x20\x02\x00\x00\x00"sv)) << "no such kind";
  EXPECT_FALSE(refuses("\x02\x10\x02\x00\x00\x00\x11\x02\x00\x00\x00"sv)) << "two declared kinds";
  EXPECT_TRUE(refuses("\x02\x11\x02\x00\x00\x00\x10\x02\x00\x00\x00"sv)) << "the other way round";
  EXPECT_TRUE(refuses("\x02\x10\x02\x00\x00\x00\x00\x02\x00\x00\x00"sv)) << "exposed ones come first";
  EXPECT_TRUE(refuses("\x01\x10\xaf\x84\x03\x00\x00\x00"sv)) << "a day after 2106";
}

TEST(DeltaCodec, AnyTruncationIsAnError) {
  for (uint64_t seed = 1; seed < 200; ++seed) {
    const std::string bytes = Encoded(RandomDelta(seed));
    for (size_t length = 0; length < bytes.size(); ++length) {
      ASSERT_FALSE(DecodeDelta(std::string(bytes, 0, length)).has_value())
          << "seed " << seed << " at " << length;
    }
    ASSERT_FALSE(DecodeDelta(bytes + '\0').has_value()) << "seed " << seed;
  }
}

TEST(DeltaCodec, ArbitraryBytesGiveADeltaOrAnErrorAndNeverTwoFormsOfOne) {
  std::mt19937_64 random(7);
  std::vector<std::string> whole;
  for (uint64_t seed = 0; seed < 50; ++seed) whole.push_back(Encoded(RandomDelta(seed)));
  size_t decoded_count = 0;
  for (int round = 0; round < test::Rounds(200'000); ++round) {
    std::string bytes = whole[random() % whole.size()];
    const size_t flips = 1 + random() % 4;
    for (size_t i = 0; i < flips && !bytes.empty(); ++i) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    if (round % 3 == 0) bytes.resize(random() % (bytes.size() + 1));
    const std::vector<char> exact(bytes.begin(), bytes.end());  // a sanitizer sees a read beyond the end
    const auto decoded = DecodeDelta({exact.data(), exact.size()});
    if (!decoded) {
      ASSERT_EQ(decoded.error().code, Code::kCorrupt);
      continue;
    }
    ++decoded_count;
    ASSERT_EQ(Encoded(*decoded), bytes) << "round " << round;
    for (const Segment& segment : decoded->segments) {
      ASSERT_TRUE(std::is_sorted(segment.fingerprints.begin(), segment.fingerprints.end()));
    }
  }
  EXPECT_GT(decoded_count, 100u);  // otherwise the test checked nothing
}

TEST(DeltaCodec, AThousandHugeCountsDontAllocate) {
  // version, segments, one segment, kind, day, seconds, then a count of 4 billion items without their bytes
  const std::string bytes("\x01\x08\x01\x00\x02\x00\x00\xff\xff\xff\xff\x0f\x05\x00", 14);
  for (int i = 0; i < 1'000; ++i) ASSERT_FALSE(DecodeDelta(bytes).has_value());
}

TEST(Rice, TheParameterIsWithinOnePercentOfTheBest) {
  std::mt19937_64 random(3);
  for (const size_t count : {10u, 100u, 1'000u, 50'000u}) {
    std::set<Fingerprint> unique;
    while (unique.size() < count) unique.insert({static_cast<uint32_t>(random())});
    const std::vector<Fingerprint> values(unique.begin(), unique.end());
    size_t best = SIZE_MAX;
    for (uint32_t parameter = 10; parameter < 32; ++parameter) {
      std::string bytes;
      RiceEncode(values, parameter, bytes);
      best = std::min(best, bytes.size());
    }
    std::string bytes;
    RiceEncode(values, RiceParameter(count, values.back().value), bytes);
    EXPECT_LE(static_cast<double>(bytes.size()), 1.01 * static_cast<double>(best) + 1) << count;
  }
}

TEST(DeltaCodec, AHundredItemsADayTakeAtMost28BitsAnItem) {
  std::mt19937_64 random(5);
  std::vector<Change> changes;
  for (uint32_t day = 0; day < 30; ++day) {
    for (int i = 0; i < 100; ++i) {
      changes.push_back({{static_cast<uint32_t>(random())},
                         (20'000 + day) * 86'400 + static_cast<uint32_t>(random() % 86'400),
                         ChangeKind::kExposed});
    }
  }
  const double bits = 8.0 * static_cast<double>(Encoded(DeltaOf("u1", changes, {})).size()) / 3'000;
  EXPECT_LE(bits, 28.0);
  RecordProperty("bits_per_item", std::to_string(bits));
}

}  // namespace
}  // namespace seen
