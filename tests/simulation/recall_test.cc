// Whatever happens to daemons and topics, a reader of snapshots and updates doesn't claim to know what it
// doesn't. Replay one world: SEEN_SEED=123 test_simulation --gtest_filter='Recall.*'.
#include <gtest/gtest.h>

#include "simulation/recall_world.h"
#include "simulation/seeds.h"
#include "support/effort.h"

namespace seen::sim {
namespace {

TEST(Recall, AReaderKnowsWhatItClaimsToKnow) {
  int faults = 0, claims = 0;
  const auto seeds = Seeds(1'000);
  for (const uint64_t seed : seeds) {
    RecallWorld world(seed);
    ASSERT_EQ(world.Run(), "") << "SEEN_SEED=" << seed << " replays it";
    faults += world.faults();
    claims += world.claims();
  }
  if (seeds.size() == 1) return;
  EXPECT_GT(faults, 5 * test::Rounds(1'000));
  EXPECT_GT(claims, 20 * test::Rounds(1'000));
}

}  // namespace
}  // namespace seen::sim
