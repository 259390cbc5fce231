#include "filter/binary_fuse.h"

#include "unit/filter/every_kind.h"

namespace seen {
namespace {

using namespace kinds;

template <typename Entry>
std::string Rendered(std::span<const Fingerprint> fingerprints) {
  std::string payload;
  BinaryFuse<Entry>::Render(fingerprints, BinaryFuse<Entry>::kRate, payload);
  return payload;
}

// As schemas/snapshot.md has it.
template <typename Entry>
bool ReferenceAnswer(const std::string& payload, Fingerprint fingerprint) {
  const uint64_t length = uint64_t{1} << payload.at(0);
  const uint64_t segments = U32(payload, 2);
  if (segments == 0) return false;
  uint64_t x = reference::HashOf(fingerprint) + static_cast<unsigned char>(payload[1]) * 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 33)) * 0xff51afd7ed558ccdu;
  x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53u;
  x = x ^ (x >> 33);
  const uint64_t first = ((x >> 32) * (segments * length)) >> 32;
  const uint64_t second = (first + length) ^ ((x >> 18) & (length - 1));
  const uint64_t third = (first + 2 * length) ^ (x & (length - 1));
  constexpr uint32_t kBits = 8 * sizeof(Entry);
  uint64_t entry = (x ^ (x >> 32)) & ((1u << kBits) - 1);
  for (const uint64_t place : {first, second, third}) entry ^= Bits(payload, 8 * 6 + place * kBits, kBits);
  return entry == 0;
}

template <typename Entry>
class BinaryFuseTest : public testing::Test {};
using Entries = testing::Types<uint8_t, uint16_t>;
TYPED_TEST_SUITE(BinaryFuseTest, Entries);

TYPED_TEST(BinaryFuseTest, HoldsAllOfTheSetAndAnswersAsTheFormatHasIt) {
  for (const size_t count : ManyCounts()) {
    const auto fingerprints = RandomFingerprints(count, count);
    const std::string payload = Rendered<TypeParam>(fingerprints);
    const auto view = BinaryFuseView<TypeParam>::Parse(payload);
    ASSERT_TRUE(view.has_value()) << view.error().message;
    HoldsAll(*view, fingerprints);
    for (const Fingerprint question : RandomFingerprints(300, 1)) {
      const bool expected = ReferenceAnswer<TypeParam>(payload, question);
      EXPECT_EQ(view->MightContain(question), expected);
      uint8_t answer = 2;
      view->MightContainEach({&question, 1}, {&answer, 1});
      EXPECT_EQ(answer == 1, expected);
    }
    for (const Fingerprint question : fingerprints) {
      ASSERT_TRUE(ReferenceAnswer<TypeParam>(payload, question));
    }
  }
}

TYPED_TEST(BinaryFuseTest, HasItsOwnRate) {
  constexpr double kRate = BinaryFuse<TypeParam>::kRate;
  for (const size_t count : {10u, 100u, 3000u, 40'000u}) {
    Positives positives;
    const size_t sets = count < 1000 ? 400 : 8;
    for (uint64_t seed = 0; seed < sets; ++seed) {
      const auto fingerprints = RandomFingerprints(count, seed);
      const std::string payload = Rendered<TypeParam>(fingerprints);
      positives.Ask(*BinaryFuseView<TypeParam>::Parse(payload), fingerprints, 1'600'000 / sets, seed);
    }
    EXPECT_NEAR(positives.Rate(), kRate, positives.Deviations(kRate, 4) + 0.02 * kRate) << count;
  }
}

TYPED_TEST(BinaryFuseTest, IsSmallForItsItems) {
  struct Case {
    size_t count;
    double entries_max;  // an item, on average
  };
  for (const Case c : {Case{1, 3},
                       {10, 1.21},
                       {20, 1.25},
                       {40, 1.25},
                       {100, 1.35},
                       {200, 1.4},
                       {1000, 1.35},
                       {3000, 1.3},
                       {10'000, 1.25},
                       {100'000, 1.18}}) {
    const size_t sets = c.count < 1000 ? 100 : 3;
    size_t bytes = 0;
    for (uint64_t seed = 0; seed < sets; ++seed) {
      const size_t size = Rendered<TypeParam>(RandomFingerprints(c.count, seed)).size();
      EXPECT_GE(size, BinaryFuse<TypeParam>::PayloadBytes(c.count, 0.01));
      EXPECT_LE(size, 6 + (2 * c.count + 6) * sizeof(TypeParam));
      bytes += size - 6;
    }
    const double entries =
        static_cast<double>(bytes) / static_cast<double>(sets * c.count * sizeof(TypeParam));
    EXPECT_LE(entries, c.entries_max) << c.count;
  }
  EXPECT_EQ(BinaryFuse<TypeParam>::PayloadBytes(0, 0.01), 6u);
  EXPECT_EQ(Rendered<TypeParam>({}), std::string(6, '\0'));
}

TEST(BinaryFuse, TriesEverLargerShapes) {
  for (const size_t count : {1u, 2u, 10u, 250u, 251u, 5000u, 1u << 26}) {
    BinaryFuseShapes shapes(count);
    while (shapes.shape().Entries() <= 16 * uint64_t{count} + 1024) {  // where Render would give up
      const BinaryFuseShape before = shapes.shape();
      EXPECT_GE(before.segments, 1u);
      EXPECT_GE(shapes.seeds(), 1u);
      EXPECT_LE(shapes.seeds(), 256u);
      EXPECT_LE(before.length_log2, 18u);
      EXPECT_EQ(before.Starts() >> 32, 0u);
      shapes.Next();
      EXPECT_GT(shapes.shape().Entries(), before.Entries());
    }
  }
}

TYPED_TEST(BinaryFuseTest, RefusesEntriesWhoseNumberPasses32Bits) {
  const auto view = BinaryFuseView<TypeParam>::Parse(std::string("\x02\0\xff\xff\xff\x3f", 6));
  ASSERT_FALSE(view.has_value());
  EXPECT_NE(view.error().message.find("bytes of entries"), std::string::npos) << view.error().message;
}

TEST(BinaryFuseDeathTest, RefusesARateBelowItsOwn) {
  EXPECT_DEATH((void)BinaryFuse8::PayloadBytes(10, 0.003), "its own rate");
  EXPECT_DEATH((void)BinaryFuse16::PayloadBytes(10, 1e-5), "its own rate");
}

}  // namespace
}  // namespace seen
