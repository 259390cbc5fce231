// A process that stood still for longer than its session owns nothing when it goes on.
#include "simulation/two_owners.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

#include "simulation/seeds.h"
#include "support/effort.h"

namespace seen::sim {
namespace {

struct Sum {
  int stale = 0, takeovers = 0, delivered = 0, inside = 0, wrong = 0;
};

Sum RunAll(TwoOwners::Options options, const std::vector<uint64_t>& seeds) {
  Sum sum;
  for (const uint64_t seed : seeds) {
    TwoOwners world(seed, options);
    const std::string wrong = world.Run();
    if (options.guarded) {
      EXPECT_EQ(wrong, "") << "SEEN_SEED=" << seed << " replays it";
    }
    if (options.leased && !options.network_holds) {
      EXPECT_EQ(world.stale(), 0) << "SEEN_SEED=" << seed << " replays it";
    }
    sum.wrong += wrong.empty() ? 0 : 1;
    sum.stale += world.stale();
    sum.takeovers += world.takeovers();
    sum.delivered += world.delivered();
    sum.inside += world.stood_still_inside();
    if (::testing::Test::HasFailure()) break;
  }
  return sum;
}

// As many under sanitizers, because few worlds have a stale snapshot.
std::vector<uint64_t> Hundred() {
  std::vector<uint64_t> seeds(100);
  std::iota(seeds.begin(), seeds.end(), 1);
  return seeds;
}

TEST(TwoOwners, NoOldSnapshotReplacesANewerOneWhereverAProcessStandsStill) {
  const int worlds = test::Rounds(350);
  const Sum sum = RunAll({}, Seeds(350));
  if (ReplaysOne()) return;
  EXPECT_GT(sum.takeovers, worlds);
  EXPECT_GT(sum.inside, 5 * worlds);
  EXPECT_GT(sum.delivered, 500 * worlds);
}

// The test above can fail: it fails without the lease.
TEST(TwoOwners, WithoutTheLeaseOldSnapshotsReplaceNewerOnes) {
  if (ReplaysOne()) return;
  const Sum sum = RunAll({.leased = false, .guarded = false}, Hundred());
  EXPECT_GT(sum.stale, 0) << "of " << sum.delivered;
}

TEST(TwoOwners, NoOldSnapshotStaysHoweverLongTheNetworkHeldItBack) {
  const Sum sum = RunAll({.network_holds = true}, Seeds(350));
  if (ReplaysOne()) return;
  EXPECT_GT(sum.stale, 0) << "the lease alone doesn't see to it";
}

// The test above can fail: it fails without the guard.
TEST(TwoOwners, WithoutTheGuardOldSnapshotsStay) {
  if (ReplaysOne()) return;
  EXPECT_GT(RunAll({.guarded = false, .network_holds = true}, Hundred()).wrong, 0);
}

TEST(TwoOwners, NoOldSnapshotStaysThatAnOwnerHadNotFoundWhenItWasKilled) {
  const Sum sum = RunAll({.network_holds = true, .kills = true}, Seeds(350));
  if (ReplaysOne()) return;
  EXPECT_GT(sum.stale, 0);
}

TEST(TwoOwners, APromotedReplicaPublishesAllThatTheOwnerLeft) {
  const int worlds = test::Rounds(250);
  TwoOwners::Options options{.network_holds = true, .kills = true, .two_groups = true};
  int kills = 0;
  for (const uint64_t seed : Seeds(250)) {
    TwoOwners world(seed, options);
    EXPECT_EQ(world.Run(), "") << "SEEN_SEED=" << seed << " replays it";
    kills += world.kills();
    if (::testing::Test::HasFailure()) return;
  }
  if (ReplaysOne()) return;
  EXPECT_GT(kills, worlds);
}

// The test above can fail: it fails if withheld snapshots count as published at once.
TEST(TwoOwners, AReplicaThatForgetsWhatItWithheldLeavesOldSnapshots) {
  if (ReplaysOne()) return;
  int wrong = 0;
  for (const uint64_t seed : Hundred()) {
    TwoOwners world(seed, {.looks_back = false, .two_groups = true, .replica_forgets = true});
    wrong += world.Run().empty() ? 0 : 1;
  }
  EXPECT_GT(wrong, 0);
}

}  // namespace
}  // namespace seen::sim
