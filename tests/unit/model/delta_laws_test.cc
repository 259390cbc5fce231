// Every law that model/delta.h promises, on thousands of seeded histories with removals, erasures and days
// over their limit.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <set>

#include "model/change.h"
#include "support/effort.h"
#include "support/random_history.h"

namespace seen {
namespace {

constexpr int kSeeds = test::Rounds(3'000);

std::string Encoded(const Delta& delta) {
  std::string bytes;
  EncodeDelta(delta, bytes);
  return bytes;
}

struct Case {
  std::mt19937_64 random;
  DeltaLimits limits;
  test::HistoryShape shape;

  explicit Case(int seed) : random(static_cast<uint64_t>(seed)) {
    limits.items_per_day_max = seed % 3 == 0 ? 3 : 1'000;
    shape.removed_percent = seed % 2 == 0 ? 25 : 0;
    shape.erased_percent = seed % 5 == 0 ? 5 : 0;
  }
  std::vector<Change> History(size_t length) { return test::RandomHistory(random, length, shape); }
  Delta RandomDelta() { return DeltaOf("u", History(random() % 12), limits); }
};

Delta OneByOne(std::span<const Change> history, const DeltaLimits& limits) {
  Delta delta;
  delta.user_id = "u";
  for (const Change& change : history) delta = Compose(delta, DeltaOf("u", {&change, 1}, limits), limits);
  return delta;
}

// A random grouping: cut anywhere, compose the pieces in a random order of adjacent pairs.
Delta RandomGrouping(std::span<const Change> history, Case& c) {
  std::vector<Delta> pieces;
  for (size_t from = 0; from < history.size();) {
    const size_t length = std::min<size_t>(1 + c.random() % 4, history.size() - from);
    pieces.push_back(DeltaOf("u", history.subspan(from, length), c.limits));
    from += length;
  }
  while (pieces.size() > 1) {
    const size_t at = c.random() % (pieces.size() - 1);
    pieces[at] = Compose(pieces[at], pieces[at + 1], c.limits);
    pieces.erase(pieces.begin() + static_cast<std::ptrdiff_t>(at) + 1);
  }
  return pieces.empty() ? Delta{"u", {}, {}, {}} : pieces.front();
}

TEST(DeltaLaws, CompositionIsAssociative) {
  for (int seed = 0; seed < kSeeds; ++seed) {
    Case c(seed);
    const Delta a = c.RandomDelta(), b = c.RandomDelta(), d = c.RandomDelta();
    const Delta left = Compose(Compose(a, b, c.limits), d, c.limits);
    const Delta right = Compose(a, Compose(b, d, c.limits), c.limits);
    ASSERT_EQ(Encoded(left), Encoded(right)) << "seed " << seed;
  }
}

TEST(DeltaLaws, TheEmptyDeltaIsTheIdentity) {
  for (int seed = 0; seed < kSeeds; ++seed) {
    Case c(seed);
    const Delta a = c.RandomDelta();
    ASSERT_EQ(Compose(a, {}, c.limits), a) << "seed " << seed;
    ASSERT_EQ(Compose({}, a, c.limits), a) << "seed " << seed;
  }
}

TEST(DeltaLaws, CompositionIsIdempotent) {
  for (int seed = 0; seed < kSeeds; ++seed) {
    Case c(seed);
    const Delta a = c.RandomDelta();
    ASSERT_EQ(Compose(a, a, c.limits), a) << "seed " << seed;
  }
}

TEST(DeltaLaws, AnyGroupingGivesTheSameBytes) {
  ChangeEncoder encoder;
  for (int seed = 0; seed < kSeeds; ++seed) {
    Case c(seed);
    auto history = c.History(1 + c.random() % 40);
    if (seed % 2 == 0)  // as most are: the encoder has a short way for them
      std::erase_if(history, [](const Change& change) { return change.kind != ChangeKind::kExposed; });
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
    for (const size_t from : {size_t{0}, c.random() % history.size(), history.size() - 1}) {
      const Delta replayed = DeltaOf("u", std::span(history).subspan(from), c.limits);
      ASSERT_EQ(Compose(state, replayed, c.limits), state) << "seed " << seed << " from " << from;
    }
  }
}

TEST(DeltaLaws, ExpiryCommutesWithComposition) {
  for (int seed = 0; seed < kSeeds; ++seed) {
    Case c(seed);
    Delta a = c.RandomDelta(), b = c.RandomDelta();
    const Day horizon{static_cast<int32_t>(c.shape.first_day + c.random() % 7)};
    Delta after = Compose(a, b, c.limits);
    Expire(after, horizon);
    Expire(a, horizon);
    Delta before = Compose(a, b, c.limits);
    Expire(before, horizon);
    ASSERT_EQ(before, after) << "seed " << seed;
    Expire(b, horizon);
    ASSERT_EQ(Compose(a, b, c.limits), after) << "seed " << seed;
  }
}

TEST(DeltaLaws, EqualsTheOracle) {
  // The oracle states the rules directly: an exposure counts unless removed later in the log with a day not
  // before its own, or earlier in the log with a day after it.
  for (int seed = 0; seed < kSeeds; ++seed) {
    Case c(seed);
    c.limits.items_per_day_max = 1'000;
    const auto history = c.History(1 + c.random() % 40);
    std::set<std::pair<int32_t, uint32_t>> expected;
    for (size_t i = 0; i < history.size(); ++i) {
      if (history[i].kind != ChangeKind::kExposed) continue;
      const auto day = static_cast<int32_t>(history[i].second / kSecondsPerDay);
      bool counts = true;
      for (size_t j = 0; j < history.size(); ++j) {
        const bool concerns =
            history[j].kind == ChangeKind::kErased ||
            (history[j].kind == ChangeKind::kRemoved && history[j].fingerprint == history[i].fingerprint);
        if (!concerns) continue;
        const auto removed = static_cast<int32_t>(history[j].second / kSecondsPerDay);
        if (j > i ? day <= removed : day < removed) counts = false;
      }
      if (counts) expected.emplace(day, history[i].fingerprint.value);
    }
    std::set<std::pair<int32_t, uint32_t>> actual;
    for (const Segment& segment : DeltaOf("u", history, c.limits).segments) {
      for (const Fingerprint fp : segment.fingerprints) actual.emplace(segment.day.since_epoch, fp.value);
    }
    ASSERT_EQ(actual, expected) << "seed " << seed;
  }
}

TEST(DeltaLaws, ADayNeverHoldsMoreThanItsLimitAndKeepsTheSmallest) {
  for (int seed = 0; seed < kSeeds; seed += 3) {
    Case c(seed);
    c.shape.removed_percent = c.shape.erased_percent = 0;
    const auto history = c.History(40);
    const Delta capped = DeltaOf("u", history, c.limits);
    const Delta whole = DeltaOf("u", history, {1'000});
    ASSERT_EQ(capped.segments.size(), whole.segments.size());
    for (size_t i = 0; i < whole.segments.size(); ++i) {
      auto smallest = whole.segments[i].fingerprints;
      if (smallest.size() > c.limits.items_per_day_max) smallest.resize(c.limits.items_per_day_max);
      ASSERT_EQ(capped.segments[i].fingerprints, smallest) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace seen
