// Checks every law that model/delta.h promises, on thousands of seeded histories. The histories hold all
// kinds, removals, erasures and segments over their limit.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <set>

#include "delta_case.h"
#include "delta_oracle.h"
#include "support/effort.h"

namespace seen {
namespace {

constexpr int kSeeds = test::Rounds(3'000);

struct Case {
  std::mt19937_64 random;
  DeltaLimits limits;
  test::HistoryShape shape;

  explicit Case(int seed) : random(static_cast<uint64_t>(seed)) {
    limits.items_per_day_max = seed % 3 == 0 ? 3 : 1'000;
    shape.removed_percent = seed % 2 == 0 ? 25 : 0;
    shape.erased_percent = seed % 5 == 0 ? 5 : 0;
    shape.others_percent = seed % 4 < 2 ? 0 : 45;
    limits.repeated = seed % 8 > 5;
    if (seed % 3 == 1) shape.seconds = 96;
    constexpr uint32_t kWidths[] = {1, 300, 7'000, 50'000, 200'000};
    limits.served_width_s = kWidths[random() % 5];
  }
  std::vector<Change> History(size_t length) { return test::RandomHistory(random, length, shape); }
  Delta RandomDelta() { return DeltaOf("u", History(random() % 12), limits); }
};

// Cuts `history` into pieces of `length()` changes each. A change that takes two entries (kResolving) stays
// whole.
std::vector<Delta> Pieces(std::span<const Change> history, const DeltaLimits& limits, auto&& length) {
  std::vector<Delta> pieces;
  for (size_t from = 0; from < history.size();) {
    size_t to = from;
    for (size_t things = length(); things > 0 && to < history.size(); --things) {
      to += history[to].kind == ChangeKind::kResolving ? 2u : 1u;
    }
    pieces.push_back(DeltaOf("u", history.subspan(from, to - from), limits));
    from = to;
  }
  return pieces;
}

Delta OneByOne(std::span<const Change> history, const DeltaLimits& limits) {
  Delta delta;
  for (const Delta& one : Pieces(history, limits, [] { return size_t{1}; }))
    delta = Compose(delta, one, limits);
  return delta;
}

// Cuts the history at random places. Then composes adjacent pieces, in a random order.
Delta RandomGrouping(std::span<const Change> history, Case& c) {
  std::vector<Delta> pieces = Pieces(history, c.limits, [&] { return 1 + c.random() % 4; });
  while (pieces.size() > 1) {
    const size_t at = c.random() % (pieces.size() - 1);
    pieces[at] = Compose(pieces[at], pieces[at + 1], c.limits);
    pieces.erase(pieces.begin() + static_cast<std::ptrdiff_t>(at) + 1);
  }
  return pieces.empty() ? Delta{} : pieces.front();
}

TEST(DeltaLaws, CompositionIsAssociativeAndIdempotentAndTheEmptyDeltaIsItsIdentity) {
  for (int seed = 0; seed < kSeeds; ++seed) {
    Case c(seed);
    const Delta a = c.RandomDelta(), b = c.RandomDelta(), d = c.RandomDelta();
    const Delta left = Compose(Compose(a, b, c.limits), d, c.limits);
    const Delta right = Compose(a, Compose(b, d, c.limits), c.limits);
    ASSERT_EQ(Encoded(left), Encoded(right)) << "seed " << seed;
    ASSERT_EQ(Compose(a, a, c.limits), a) << "seed " << seed;
    ASSERT_EQ(Compose(a, {}, c.limits), a) << "seed " << seed;
    ASSERT_EQ(Compose({}, a, c.limits), a) << "seed " << seed;
  }
}

TEST(DeltaLaws, AnyGroupingGivesTheSameBytes) {
  ChangeEncoder encoder;
  for (int seed = 0; seed < kSeeds; ++seed) {
    Case c(seed);
    auto history = c.History(1 + c.random() % 40);
    if (seed % 2 == 0)  // as for most users: the encoder has a short path for such histories
      std::erase_if(history, [&](const Change& change) {
        const bool similar = change.kind == ChangeKind::kSimilar && seed % 4 == 2;
        return change.kind != ChangeKind::kExposed && !similar;
      });
    const std::string expected = Encoded(OneByOne(history, c.limits));
    ASSERT_EQ(Encoded(DeltaOf("u", history, c.limits)), expected) << "seed " << seed;
    std::string encoded;
    encoder.Encode("u", history, c.limits, encoded);
    ASSERT_EQ(encoded, expected) << "seed " << seed;
    for (int i = 0; i < 3; ++i) ASSERT_EQ(Encoded(RandomGrouping(history, c)), expected) << "seed " << seed;
  }
}

TEST(DeltaLaws, ComposeAllEqualsFoldingFromTheLeft) {
  for (int seed = 0; seed < kSeeds; ++seed) {
    Case c(seed);
    std::vector<Delta> deltas(c.random() % 9);
    for (Delta& delta : deltas) delta = c.RandomDelta();
    Delta folded;
    for (const Delta& delta : deltas) folded = Compose(folded, delta, c.limits);
    ASSERT_EQ(ComposeAll(deltas, c.limits), folded) << "seed " << seed;
  }
}

TEST(DeltaLaws, ReplayingTheWholeOrAnySuffixChangesNothing) {
  for (int seed = 0; seed < kSeeds; ++seed) {
    Case c(seed);
    const auto history = c.History(1 + c.random() % 30);
    const Delta state = DeltaOf("u", history, c.limits);
    for (size_t from : {size_t{0}, c.random() % history.size(), history.size() - 1}) {
      // Never cut within a change that takes two entries.
      size_t begin = 0;
      while (begin + test::LengthAt(history, begin) <= from) begin += test::LengthAt(history, begin);
      from = begin;
      const Delta replayed = DeltaOf("u", std::span(history).subspan(from), c.limits);
      ASSERT_EQ(Compose(state, replayed, c.limits), state) << "seed " << seed << " from " << from;
    }
  }
}

// A fill writes such a change (flow/partition_fill.h).
TEST(DeltaLaws, EarlierHistoryUnderneathWrittenAsAChangeIsTheHistoryInOrder) {
  for (int seed = 0; seed < kSeeds; ++seed) {
    Case c(seed);
    const auto history = c.History(2 + c.random() % 20);
    // The stored part begins anywhere. The part that the fill reads may overlap with it.
    std::vector<size_t> cuts = {0};
    while (cuts.back() < history.size()) cuts.push_back(cuts.back() + test::LengthAt(history, cuts.back()));
    const size_t stored_at = c.random() % cuts.size();
    const size_t stored_from = cuts[stored_at];
    const size_t filled_to = cuts[stored_at + c.random() % (cuts.size() - stored_at)];
    const Delta stored = DeltaOf("u", std::span(history).subspan(stored_from), c.limits);
    const Delta filled = DeltaOf("u", std::span(history).first(filled_to), c.limits);
    const Delta all = DeltaOf("u", history, c.limits);
    const Delta written = Compose(filled, stored, c.limits);
    ASSERT_EQ(Encoded(written), Encoded(all)) << "seed " << seed;
    ASSERT_EQ(Encoded(Compose(stored, written, c.limits)), Encoded(all)) << "seed " << seed;
    ASSERT_EQ(Encoded(Compose(written, Compose(filled, written, c.limits), c.limits)), Encoded(all))
        << "seed " << seed;
  }
}

TEST(DeltaLaws, EqualsTheOracle) {
  size_t at_most_64 = 0, others = 0, similar_met = 0;
  for (int seed = 0; seed < kSeeds; ++seed) {
    Case c(seed);
    if (seed % 16 == 7) {  // the same few items many times
      c.shape.items = 2;
      c.shape.days = 1;
    }
    if (seed % 16 == 10) {  // similar items have eight times the limit
      c.shape.items = 40;
      c.shape.days = 1;
      c.shape.removed_percent = 3;
      c.shape.others_percent = 80;
      c.limits.items_per_day_max = 1;
    }
    const auto history = c.History(1 + c.random() % (seed % 16 == 7 || seed % 16 == 10 ? 400 : 40));
    const Delta delta = DeltaOf("u", history, c.limits);
    ASSERT_EQ(delta, DeltaOracle(history, c.limits).Expected("u")) << "seed " << seed;
    others += delta.others.size();
    for (const OtherSegment& segment : delta.others) {
      at_most_64 += segment.fingerprints.size() > 64 ? 1u : 0u;
      const bool met = segment.kind == SegmentKind::kSimilar &&
                       segment.fingerprints.size() == 8 * c.limits.items_per_day_max;
      similar_met += met ? 1u : 0u;
    }
  }
  EXPECT_GT(similar_met, static_cast<size_t>(kSeeds / 200));
  EXPECT_GT(others, static_cast<size_t>(kSeeds));  // otherwise the test checked little
  EXPECT_GT(at_most_64, static_cast<size_t>(kSeeds / 200));
}

}  // namespace
}  // namespace seen
