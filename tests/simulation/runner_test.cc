// A daemon that reads a topic of several partitions, on a virtual clock. The real TopicConsumer and the real
// ExposuresHandler run over a fake log and fake stores. Partitions come and go, and the daemon crashes. Disks
// fill, are lost or turn out corrupt. Records are deleted, and partitions are recreated. Everything random
// comes from the seed.
// Replay one seed: SEEN_SEED=123 test_simulation --gtest_filter='RunnerSimulation.*'
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "flow/partition_flow.h"
#include "model/day.h"
#include "model/hashes.h"
#include "simulation/consumer_world.h"
#include "simulation/seeds.h"
#include "support/fake_stores.h"

namespace seen::sim {
namespace {
using namespace std::chrono_literals;

constexpr int32_t kPartitions = 3;

class RunnerWorld final : public ConsumerWorld {
 public:
  explicit RunnerWorld(uint64_t seed) : ConsumerWorld(seed, kPartitions, 400, 1500) {
    topic_.on_commit = [this](int32_t partition, int64_t offset) {
      const auto found = stores_.disks.find(partition);
      const bool durable = found != stores_.disks.end() && found->second.position &&
                           offset <= found->second.position->next_offset;
      if (!durable) problem_ = Name(partition) + ": " + std::to_string(offset) + " is committed, not durable";
    };
    Open();
  }
  ~RunnerWorld() override { Stop(); }

  void WaitForSpace(std::chrono::milliseconds time) override {
    clock_.Advance(time.count());
    if (Chance(30)) (void)taker_->Checkpoint();
  }

  int reread = 0;

 private:
  void Open() {
    ExposuresHandler::Options options;
    options.window_days_max = 30;
    taker_ = std::make_unique<ExposuresHandler>(options, stores_, letters_, reporter_, clock_);
    TopicConsumer::Options run;
    run.topic = "t";
    Start(run, *taker_, 2);
  }

  void Crash() override {
    Stop();
    taker_.reset();
    if (Chance(10)) LoseDisk(Any());
    Open();
  }

  void LoseDisk(int32_t partition) {
    stores_.disks.erase(partition);
    // Records that retention deleted can't come back. The flow reports them as lost, unless nothing was
    // committed yet.
    if (topic_.committed(partition)) {
      ++reread;
    } else if (topic_.watermarks(partition).low > 0) {
      bad_.insert(partition);
    }
  }

  void Grow() {
    const int32_t partition = Any();
    for (uint64_t count = random_() % 30; count > 0; --count) {
      const int64_t offset = topic_.watermarks(partition).high;
      const std::string item = "i" + std::to_string(partition) + "-" + std::to_string(offset);
      const int64_t at = clock_.WallNow().value;
      topic_.Append(partition, {{at},
                                User(partition),
                                R"({"user_id":")" + User(partition) + R"(","item_id":")" + item +
                                    R"(","exposed_at":)" + std::to_string(at) + "}"});
    }
  }
  static std::string User(int32_t partition) { return "u" + std::to_string(partition); }

  void Step() override {
    switch (random_() % 14) {
      case 0:
      case 1:
      case 2:
        return Grow();
      case 3:
      case 4:
      case 5:
        return (void)Control();
      case 6:
      case 7:
        return runner_->StepWorker(static_cast<int>(random_() % 2), 0ms);
      case 8:
        return (void)taker_->Checkpoint();
      case 9:
        return clock_.Advance(static_cast<int64_t>(random_() % 700));
      case 10:
        return log_->SetReachable(!Chance(15));
      case 11:
        return Rebalance();
      case 12:
        return Fault();
      default:
        if (Chance(20)) return Retention();
    }
  }

  void Fault() {
    const int32_t partition = Any();
    const uint64_t dice = random_() % 100;
    if (dice < 50) {
      constexpr std::array kFaults = {StoreFault::kBeginFails, StoreFault::kAddFails,
                                      StoreFault::kCommitFails, StoreFault::kNoSpace};
      stores_.fault = kFaults[random_() % kFaults.size()];
    } else if (dice < 70) {
      stores_.open_fails[partition] = {Chance(50) ? Code::kNoSpace : Code::kUnavailable, "not now"};
    } else if (dice < 90) {
      std::erase_if(stores_.open_fails, [&](const auto& fails) { return !Stops(fails.second.code); });
    } else if (dice < 92) {
      bad_.insert(partition);
      stores_.open_fails[partition] = {Chance(50) ? Code::kRefused : Code::kCorrupt, "not this one"};
    } else if (dice < 94) {
      if (const PartitionPointer open = taker_->open().Find(partition)) {
        bad_.insert(partition);
        open->Stop("a block's checksum is wrong");
      }
    } else if (dice < 96 && topic_.watermarks(partition).high > 0) {
      bad_.insert(partition);
      topic_.Recreate(partition);
    }
  }

  void Retention() {
    const int32_t partition = Any();
    const Watermarks marks = topic_.watermarks(partition);
    const auto disk = stores_.disks.find(partition);
    // Records that nobody has ever read leave no trace.
    if (disk == stores_.disks.end() || !disk->second.position) return;
    topic_.DeleteTo(partition, marks.low + static_cast<int64_t>(random_() % 20));
  }

  void Mend() override {
    stores_.fault = StoreFault::kNone;
    std::erase_if(stores_.open_fails, [&](const auto& fails) { return !Stops(fails.second.code); });
  }
  void StepAtRest() override {
    runner_->StepWorker(0, 0ms);
    runner_->StepWorker(1, 0ms);
    (void)taker_->Checkpoint();
  }
  std::map<int32_t, std::string> Stopped() override {
    std::map<int32_t, std::string> stopped;
    for (const PartitionProblem& problem : runner_->Problems()) stopped[problem.partition] = problem.reason;
    return stopped;
  }

  // Everything that isn't reported as lost must be there.
  std::string CheckPartition(int32_t partition) override {
    const PartitionPointer open = taker_->open().Find(partition);
    const int64_t high = topic_.watermarks(partition).high;
    if (!open) return "it isn't open";
    if (const int64_t next = open->flow->state.next_offset(); next != high)
      return "read up to " + std::to_string(next) + " of " + std::to_string(high);
    if (high > 0 && topic_.committed(partition) != high) return "not all is committed";
    std::set<int64_t> gone;
    for (const LostRange& range : open->flow->GetStatus().lost_ranges) {
      for (int64_t offset = range.from; offset < range.to; ++offset) gone.insert(offset);
    }
    lost += gone.size();
    const auto delta = ReadDecoded(open->flow->reader, 0, UserKeyOf(User(partition)));
    if (!delta) return delta.error().message;
    std::set<Fingerprint> seen;
    for (const auto& segment : delta->segments)
      seen.insert(segment.fingerprints.begin(), segment.fingerprints.end());
    for (int64_t offset = 0; offset < high; ++offset) {
      const std::string item = "i" + std::to_string(partition) + "-" + std::to_string(offset);
      if (!gone.contains(offset) && !seen.contains(FingerprintOf(item))) return item + " is missing";
    }
    if (seen.size() > static_cast<size_t>(high)) return "there is more than was shown";
    return "";
  }

  FakeStores stores_;
  FakeDeadLetters letters_{random_};
  CountingReporter reporter_;
  std::unique_ptr<ExposuresHandler> taker_;
};

TEST(RunnerSimulation, EveryRecordIsTakenOrShownAsLostAndABadPartitionHarmsOnlyItself) {
  int crashes = 0, refused = 0, reread = 0;
  uint64_t lost = 0;
  for (const uint64_t seed : Seeds(1'000)) {
    RunnerWorld world(seed);
    ASSERT_EQ(world.Run(), "") << "SEEN_SEED=" << seed << " replays it";
    crashes += world.crashes;
    refused += world.refused;
    reread += world.reread;
    lost += world.lost;
  }
  if (ReplaysOne()) return;
  EXPECT_GT(crashes, 0);
  EXPECT_GT(refused, 0);
  EXPECT_GT(reread, 0);
  EXPECT_GT(lost, 0u);
}

}  // namespace
}  // namespace seen::sim
