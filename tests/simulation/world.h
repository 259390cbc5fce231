#pragma once
// A seeded world of one partition: a log that grows, a flow that reads it, and a fate that crashes it
// anywhere. Everything random comes from the seed: a failure is replayed by its number.

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "flow/partition_flow.h"
#include "simulation/oracle.h"
#include "support/fakes.h"

namespace seen::sim {

/// The disk under the store: fake, or RocksDB over a file system that loses unsynced bytes.
class Disk {
 public:
  virtual ~Disk() = default;
  virtual std::unique_ptr<PartitionStore> Open() = 0;
  /// The machine lost power; the store has been destroyed or is about to be. Then Open() again.
  virtual void Crash() = 0;
  /// The next checkpoint meets `fault`.
  virtual void Inject(StoreFault fault) = 0;
  virtual void SetLevel0Files(uint32_t files) = 0;
  /// The power was cut, or is about to be: what fails now is no finding, the world crashes instead.
  virtual bool PowerIsGoing() const { return false; }
};

enum class Step {
  kGrowLog,
  kDeliver,
  kFreeze,
  kWriteFrozen,
  kStoreFault,
  kPublish,
  kAcknowledge,
  kScan,
  kDeadLetters,
  kTime,
  kRead,
  kRetention,
  kLevel0,
  kRepublish,
  kCount
};
std::string_view StepName(Step step);

struct WorldShape {
  int steps = 600;
  int crash_percent = 4;  // after any step
  bool retention = true;
  uint64_t tail_bytes_max = 200'000;
};

class World {
 public:
  World(uint64_t seed, Disk& disk, WorldShape shape);
  ~World();

  /// Random steps with crashes, then to rest: everything read, checkpointed, acknowledged. Returns what is
  /// wrong (empty: nothing).
  std::string Run();

  const std::map<Step, int>& crashes_after() const { return crashes_after_; }
  const CountingReporter& reporter() const { return reporter_; }
  const FakeSnapshotTopic& snapshots() const { return snapshots_; }

 private:
  struct LogRecord {
    TimeMs timestamp;
    std::string key, value;
    bool null = false;
    bool bad = false;
    std::string user;
    LoggedEvent event;
  };

  void Open();
  void Crash();
  void Do(Step step);
  void GrowLog();
  void Deliver(size_t records_max);
  void WriteFrozen();
  void Publish();
  void Acknowledge();
  void Scan();
  std::string CheckUser(const std::string& user);
  std::string CheckAtRest();
  void ToRest();
  std::string RandomBadValue();
  LogRecord RandomRecord();
  LoggedEvent RandomEvent(TimeMs timestamp);
  void ChooseFilters(uint64_t seed);
  void Republish();

  /// What the user has seen now by the records below the ends given. Where these differ, or records were
  /// lost: of what may or may not have been read.
  enum class Read { kLeast, kMost };
  std::vector<Fingerprint> Expected(const std::string& user, size_t filter, Read read) const;
  /// Nothing was lost, and what was read once is what is read now.
  bool IsExact() const { return lost_.empty() && read_max_ == flow_->next_offset(); }
  /// What an answer holds, found both ways; nullopt, with problem_ set: something is wrong.
  std::optional<std::vector<Fingerprint>> Actual(const std::string& user, size_t filter);
  std::string CheckPublished(const std::string& user, size_t filter) const;

  std::mt19937_64 random_;
  Disk& disk_;
  const WorldShape shape_;
  VirtualClock clock_;
  CountingReporter reporter_;
  FakeSnapshotTopic snapshots_;
  FakeDeadLetters dead_letters_;
  std::vector<FilterPolicy> filters_;
  std::vector<Rules> rules_;        // the same, as the oracle knows them
  std::vector<std::string> kinds_;  // of events, beside exposures
  std::shared_ptr<const EventPlan> plan_;

  std::vector<LogRecord> log_;
  int64_t low_ = 0;
  int64_t read_max_ = 0;    // highest next offset ever: the state may hold up to here
  std::set<int64_t> lost_;  // offsets that retention deleted before they were read
  std::vector<std::string> users_;

  std::unique_ptr<PartitionStore> store_;
  std::unique_ptr<PartitionFlow> flow_;
  int64_t fetch_ = 0;  // next offset the log delivers
  std::map<Step, int> crashes_after_;
  std::string problem_;
};

}  // namespace seen::sim
