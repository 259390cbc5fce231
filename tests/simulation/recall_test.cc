// Whatever happens to daemons and topics, a reader of snapshots and updates doesn't claim to know what it
// doesn't. Replay one world: SEEN_SEED=123 test_simulation --gtest_filter='Recall.*'.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>

#include "simulation/recall_world.h"
#include "simulation/seeds.h"
#include "support/effort.h"

namespace seen::sim {
namespace {

TEST(Recall, AReaderKnowsWhatItClaimsToKnow) {
  int faults = 0, claims = 0;
  std::array<int, 3> restarts{};  // in each third of a round of the refresh
  const auto seeds = Seeds(1'000);
  for (const uint64_t seed : seeds) {
    RecallWorld world(seed);
    ASSERT_EQ(world.Run(), "") << "SEEN_SEED=" << seed << " replays it";
    faults += world.faults();
    claims += world.claims();
    for (size_t third = 0; third < restarts.size(); ++third) restarts[third] += world.restarts()[third];
  }
  if (seeds.size() == 1) return;
  EXPECT_GT(faults, 5 * test::Rounds(1'000));
  EXPECT_GT(claims, 20 * test::Rounds(1'000));
  for (const int of_third : restarts) EXPECT_GT(of_third, test::Rounds(1'000) / 20);
}

}  // namespace
}  // namespace seen::sim
