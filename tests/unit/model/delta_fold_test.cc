// Folding and expiring encoded deltas gives the same bytes as folding and expiring decoded deltas.
#include "model/delta_fold.h"

#include <gtest/gtest.h>

#include <random>

#include "delta_case.h"
#include "support/effort.h"

namespace seen {
namespace {

constexpr int kSeeds = test::Rounds(5'000);

TEST(FoldEncoded, GivesTheBytesOfComposingExpiringAndEncoding) {
  for (int seed = 0; seed < kSeeds; ++seed) {
    DeltaCase c(seed);
    std::vector<Delta> deltas(c.random() % 6);
    std::vector<std::string> bytes;
    for (Delta& delta : deltas) bytes.push_back(Encoded(delta = c.RandomDelta(bytes.empty() ? 400 : 30)));
    const Horizon horizon = c.RandomHorizon();
    Delta expected = ComposeAll(deltas, c.limits);
    Expire(expected, horizon);
    const std::vector<std::string_view> parts(bytes.begin(), bytes.end());
    std::string folded = "is replaced";
    ASSERT_TRUE(FoldEncoded(parts, c.limits, horizon, folded)) << "seed " << seed;
    ASSERT_EQ(folded, Encoded(expected)) << "seed " << seed;
  }
}

TEST(FoldEncoded, IsFalseWhereAPartIsNoDelta) {
  for (int seed = 0; seed < 500; ++seed) {
    DeltaCase c(seed);
    const std::string good = Encoded(c.RandomDelta(40));
    std::string cut = Encoded(c.RandomDelta(40));
    cut.resize(c.random() % cut.size());
    std::string folded;
    for (const auto& parts : {std::vector<std::string_view>{good, cut}, {cut, good}, {cut}}) {
      ASSERT_FALSE(FoldEncoded(parts, c.limits, c.RandomHorizon(), folded)) << "seed " << seed;
    }
  }
}

TEST(FoldEncoded, OfArbitraryBytesGivesBytesOrFalse) {
  std::mt19937_64 random(7);
  for (int round = 0; round < test::Rounds(50'000); ++round) {
    DeltaCase c(round % 50);
    std::string bytes = Encoded(c.RandomDelta(100));
    const std::string other = Encoded(c.RandomDelta(20));
    for (size_t i = random() % 4; i > 0; --i) bytes[random() % bytes.size()] = static_cast<char>(random());
    const std::vector<char> exact(bytes.begin(), bytes.end());  // a sanitizer sees a read beyond the end
    const std::string_view parts[] = {{exact.data(), exact.size()}, other};
    std::string out;
    (void)FoldEncoded(parts, c.limits, c.RandomHorizon(), out);
    (void)ExpireEncoded(parts[0], c.RandomHorizon(), out);
  }
}

TEST(ExpireEncoded, DoesWhatExpireDoes) {
  for (int seed = 0; seed < kSeeds; ++seed) {
    DeltaCase c(seed);
    const Delta delta = c.RandomDelta(200);
    const Horizon horizon = c.RandomHorizon();
    Delta expected = delta;
    Expire(expected, horizon);
    std::string out = Encoded(delta);
    switch (ExpireEncoded(Encoded(delta), horizon, out)) {
      case Expired::kEverything:
        ASSERT_EQ(expected, Delta{}) << "seed " << seed;
        break;
      case Expired::kNothing:
        ASSERT_NE(expected, Delta{}) << "seed " << seed;
        [[fallthrough]];
      case Expired::kSomething:
        ASSERT_EQ(out, Encoded(expected)) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace seen
