// Seeded worlds on the fake store. Replay one seed: SEEN_SEED=123 test_simulation
// --gtest_filter='Simulation.*'. Run more seeds than usual: SEEN_SEEDS=5000
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>

#include "simulation/seeds.h"
#include "simulation/world.h"
#include "support/effort.h"

namespace seen::sim {
namespace {

class FakeDisk final : public Disk {
 public:
  std::unique_ptr<PartitionStore> Open() override {
    return std::make_unique<FakeStore>(durable_, fault_, level0_files_);
  }
  void Crash() override {}
  void Inject(StoreFault fault) override { fault_ = fault; }

 private:
  DurableState durable_;
  StoreFault fault_ = StoreFault::kNone;
  uint32_t level0_files_ = 0;
};

TEST(Simulation, RecordsOfYearsAheadChangeNothingOfOthers) {
  uint64_t ahead = 0;
  const auto seeds = Seeds(500);
  for (const uint64_t seed : seeds) {
    std::array<FakeDisk, 1> disks;
    Disk* const only = &disks[0];
    WorldShape shape;
    shape.retention = false;
    shape.crash_percent = seed % 3 == 0 ? 0 : 2;
    shape.power_cut_permille = shape.crash_percent;
    shape.ahead_permille = seed % 2 == 0 ? 0 : 20;
    World world(seed, {&only, 1}, shape);
    ASSERT_EQ(world.Run(), "") << "SEEN_SEED=" << seed << " replays it";
    ahead += world.reporter().timestamps_ahead;
  }
  if (seeds.size() == 1) return;
  EXPECT_GT(ahead, static_cast<uint64_t>(test::Rounds(500)));
}

TEST(Simulation, AFilterThatIsAddedIsFilledFromTheLogWhereverItCrashes) {
  uint64_t fills = 0, pages = 0;
  const auto seeds = Seeds(500);
  for (const uint64_t seed : seeds) {
    std::array<FakeDisk, 2> disks;
    const std::array<Disk*, 2> all = {&disks[0], &disks[1]};
    WorldShape shape;
    shape.late_filter = true;
    shape.crash_percent = static_cast<int>(seed % 4);
    shape.power_cut_permille = shape.crash_percent;
    shape.retention = false;  // no fill can find records that retention deleted
    World world(seed, std::span(all).first(1 + seed % 2), shape);
    ASSERT_EQ(world.Run(), "") << "SEEN_SEED=" << seed << " replays it";
    fills += world.fills();
    pages += world.fill_pages();
  }
  if (seeds.size() == 1) return;
  EXPECT_GT(fills, static_cast<uint64_t>(test::Rounds(200)));
  EXPECT_GT(pages, static_cast<uint64_t>(test::Rounds(2'000)));
}

TEST(Simulation, EndsWithTheOraclesSetsWhereverItCrashes) {
  std::map<Step, int> crashes;
  uint64_t checkpoints = 0, failed = 0, rejected = 0, lost = 0, sent = 0, too_old = 0, send_failures = 0;
  uint64_t removed = 0, erased = 0, served = 0, declared = 0, tombstones = 0, reads_failed = 0;
  const auto seeds = Seeds(2'000);
  for (const uint64_t seed : seeds) {
    std::array<FakeDisk, 3> disks;
    const std::array<Disk*, 3> all = {&disks[0], &disks[1], &disks[2]};
    WorldShape shape;
    shape.crash_percent = seed % 4 == 0 ? 0 : static_cast<int>(seed % 12);
    shape.retention = seed % 3 == 0;
    shape.power_cut_permille = shape.crash_percent;
    shape.read_fail_percent = seed % 5 == 0 ? 10 : 0;
    World world(seed, std::span(all).first(1 + seed / 2 % 3), shape);
    const std::string problem = world.Run();
    ASSERT_EQ(problem, "") << "SEEN_SEED=" << seed << " replays it";
    for (const auto& [step, times] : world.crashes_after()) crashes[step] += times;
    checkpoints += world.reporter().checkpoints;
    failed += world.reporter().checkpoints_failed;
    rejected += world.reporter().rejected;
    lost += world.reporter().ranges_lost;
    sent += world.reporter().sent;
    too_old += world.reporter().too_old;
    send_failures += world.reporter().send_failures;
    removed += world.reporter().removed;
    erased += world.reporter().erased;
    served += world.reporter().served;
    declared += world.reporter().declared;
    tombstones += world.snapshots().tombstones;
    reads_failed += world.reads_failed();
    uint64_t reported = 0;
    for (const auto& [of, times] : world.reporter().publish_failures) reported += times;
    ASSERT_EQ(reported, world.reads_failed()) << "SEEN_SEED=" << seed;
  }
  if (seeds.size() == 1) return;
  // The worlds must have covered all these cases.
  for (int step = 0; step < static_cast<int>(Step::kCount); ++step) {
    EXPECT_GT(crashes[static_cast<Step>(step)], test::Rounds(50)) << StepName(static_cast<Step>(step));
  }
  EXPECT_GT(checkpoints, static_cast<uint64_t>(test::Rounds(1'000)));
  EXPECT_GT(failed, static_cast<uint64_t>(test::Rounds(100)));
  EXPECT_GT(rejected, static_cast<uint64_t>(test::Rounds(1'000)));
  EXPECT_GT(lost, static_cast<uint64_t>(test::Rounds(50)));
  EXPECT_GT(sent, static_cast<uint64_t>(test::Rounds(10'000)));
  EXPECT_GT(too_old, static_cast<uint64_t>(test::Rounds(100)));
  EXPECT_GT(send_failures, static_cast<uint64_t>(test::Rounds(100)));
  EXPECT_GT(removed, static_cast<uint64_t>(test::Rounds(10'000)));
  EXPECT_GT(erased, static_cast<uint64_t>(test::Rounds(1'000)));
  EXPECT_GT(served, static_cast<uint64_t>(test::Rounds(10'000)));
  EXPECT_GT(declared, static_cast<uint64_t>(test::Rounds(10'000)));
  EXPECT_GT(reads_failed, static_cast<uint64_t>(test::Rounds(100)));
  EXPECT_GT(tombstones, static_cast<uint64_t>(test::Rounds(1'000)));
}

}  // namespace
}  // namespace seen::sim
