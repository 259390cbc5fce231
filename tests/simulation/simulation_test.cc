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

/// What the worlds must have covered, all together.
struct Covered {
  const char* what;
  uint64_t (*of)(const World&);
  int times_min;
};
constexpr Covered kCovered[] = {
    {"checkpoints", [](const World& world) { return world.reporter().checkpoints; }, 1'000},
    {"failed checkpoints", [](const World& world) { return world.reporter().checkpoints_failed; }, 100},
    {"rejected", [](const World& world) { return world.reporter().rejected; }, 1'000},
    {"lost ranges", [](const World& world) { return world.reporter().ranges_lost; }, 50},
    {"sent", [](const World& world) { return world.reporter().sent; }, 10'000},
    {"too old", [](const World& world) { return world.reporter().too_old; }, 100},
    {"failed sends", [](const World& world) { return world.reporter().send_failures; }, 100},
    {"removed", [](const World& world) { return world.reporter().removed; }, 10'000},
    {"erased", [](const World& world) { return world.reporter().erased; }, 1'000},
    {"served", [](const World& world) { return world.reporter().served; }, 10'000},
    {"declared", [](const World& world) { return world.reporter().declared; }, 10'000},
    {"failed reads", [](const World& world) { return world.reads_failed(); }, 100},
    {"tombstones", [](const World& world) { return world.snapshots().tombstones; }, 1'000},
};

TEST(Simulation, EndsWithTheOraclesSetsWhereverItCrashes) {
  std::map<Step, int> crashes;
  std::array<uint64_t, std::size(kCovered)> covered{};
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
    for (size_t i = 0; i < covered.size(); ++i) covered[i] += kCovered[i].of(world);
    uint64_t reported = 0;
    for (const auto& [of, times] : world.reporter().publish_failures) reported += times;
    ASSERT_EQ(reported, world.reads_failed()) << "SEEN_SEED=" << seed;
  }
  if (seeds.size() == 1) return;
  for (int step = 0; step < static_cast<int>(Step::kCount); ++step) {
    EXPECT_GT(crashes[static_cast<Step>(step)], test::Rounds(50)) << StepName(static_cast<Step>(step));
  }
  for (size_t i = 0; i < covered.size(); ++i)
    EXPECT_GT(covered[i], static_cast<uint64_t>(test::Rounds(kCovered[i].times_min))) << kCovered[i].what;
}

}  // namespace
}  // namespace seen::sim
