// The same worlds on RocksDB, over a disk that loses what nobody synced. The power is cut within commits.
// Replay one seed: SEEN_SEED=7 test_simulation --gtest_filter='SimulationOnRocks.*'
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "simulation/seeds.h"
#include "simulation/world.h"
#include "store/rocks_partition_store.h"
#include "store/store_directory.h"
#include "support/effort.h"
#include "support/lossy_file_system.h"

namespace seen::sim {
namespace {

class RocksDisk final : public Disk {
 public:
  RocksDisk(const std::string& folder, uint64_t seed)
      : random_(seed ^ 0xd15c), folder_(folder), resources_(8 << 20, 1) {
    std::filesystem::create_directories(folder_);
    disk_ = std::make_unique<test::LossyDisk>(folder_);
  }

  std::unique_ptr<PartitionStore> Open() override {
    directory_.reset();  // releases its lock
    auto opened = StoreDirectory::Open(folder_ + "/store");
    if (!opened) ADD_FAILURE() << opened.error().message;
    directory_ = std::move(*opened);
    StoreOptions options{directory_->path(), {"exposures", 0, 1, "murmur2"}, {}, resources_, disk_->Mount()};
    options.delta_cache_bytes = random_() % 3 * 4096;  // none, or too small for all users
    options.filters = {{"month", 30, {}}, {"days", 2, {}}, {"quiet", 7, {}}};
    options.kinds = {"clicked"};
    auto store = RocksPartitionStore::Open(std::move(options));
    if (!store) {
      ADD_FAILURE() << store.error().message;
      std::abort();
    }
    return std::move(*store);
  }
  void Crash() override {
    disk_->Crash(random_());
    directory_.reset();
    cutting_ = false;
    ++crashes;
  }
  void Inject(StoreFault fault) override {
    if (fault == StoreFault::kNone || cutting_) return;
    if (fault == StoreFault::kCommitFails || fault == StoreFault::kNoSpace) {
      cutting_ = true;
      ++cuts;
      disk_->CrashAfter(random_() % 24);
    }
  }
  bool PowerIsGoing() const override { return cutting_; }

  int crashes = 0;
  int cuts = 0;

 private:
  std::mt19937_64 random_;
  const std::string folder_;
  StoreResources resources_;
  std::unique_ptr<test::LossyDisk> disk_;
  std::unique_ptr<StoreDirectory> directory_;
  bool cutting_ = false;
};

TEST(SimulationOnRocks, EndsWithTheOraclesSetsAfterLossOfPower) {
  const auto root = std::filesystem::temp_directory_path() / ("seen-simulation-" + std::to_string(getpid()));
  int crashes = 0, cuts = 0;
  uint64_t checkpoints = 0;
  for (const uint64_t seed : Seeds(40)) {
    RocksDisk disk((root / std::to_string(seed)).string(), seed);
    WorldShape shape;
    shape.steps = 300;
    shape.crash_percent = 2;
    shape.late_filter = seed % 3 == 0;
    shape.retention = seed % 4 == 0 && !shape.late_filter;
    std::string problem;
    {
      Disk* const only = &disk;
      World world(seed, {&only, 1}, shape);
      problem = world.Run();
      checkpoints += world.reporter().checkpoints;
    }
    EXPECT_EQ(problem, "") << "SEEN_SEED=" << seed << " replays it";
    crashes += disk.crashes;
    cuts += disk.cuts;
    if (!problem.empty()) break;
  }
  std::filesystem::remove_all(root);
  if (ReplaysOne()) return;
  EXPECT_GT(crashes, test::Rounds(100));
  EXPECT_GT(cuts, test::Rounds(40));
  EXPECT_GT(checkpoints, static_cast<uint64_t>(test::Rounds(100)));
}

}  // namespace
}  // namespace seen::sim
