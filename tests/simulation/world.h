#pragma once
// A seeded world of some partitions and the publisher over them. Logs grow, flows read them, and crashes
// happen anywhere. Everything random comes from the seed, so the seed's number replays a failure.

#include <array>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "bulk_load/history_fill.h"
#include "consume/fill_queue.h"
#include "flow/partition_flow.h"
#include "flow/publisher.h"
#include "simulation/fate.h"
#include "simulation/oracle.h"
#include "support/fakes.h"

namespace seen::sim {

/// The disk under one partition's store: fake, or RocksDB over a file system that loses unsynced bytes.
class Disk {
 public:
  virtual ~Disk() = default;
  virtual std::unique_ptr<PartitionStore> Open() = 0;
  /// The machine lost power. The store has been destroyed, or is about to be. Open() follows.
  virtual void Crash() = 0;
  /// The next checkpoint gets `fault`.
  virtual void Inject(StoreFault fault) = 0;
  /// The power was cut, or is about to be. An error is no finding now: the world crashes instead.
  virtual bool PowerIsGoing() const { return false; }
};

enum class Step {
  kGrowLog,
  kDeliver,
  kFreeze,
  kWriteFrozen,
  kStoreFault,
  kPublish,
  kDeadLetters,
  kTime,
  kRead,
  kRetention,
  kLevel0,
  kReassign,
  kWrongClock,
  kFill,
  kErase,
  kCount
};
std::string_view StepName(Step step);

struct WorldShape {
  int steps = 600;
  int crash_percent = 4;       // after any step
  int power_cut_permille = 4;  // at any call of the publisher's ports
  int read_fail_percent = 0;   // of the publisher's reads
  bool retention = true;
  bool wrong_clocks = true;  // for a while, the wall clock is a day or 40 days ahead or behind
  int ahead_permille = 0;    // of the records have a timestamp years ahead
  bool late_filter = false;  // a filter is added later, and filled from the log
  uint64_t tail_bytes_max = 200'000;
};

class World {
 public:
  /// A partition for each of the disks.
  World(uint64_t seed, std::span<Disk* const> disks, WorldShape shape);
  ~World();

  /// Takes random steps with crashes. Then comes to rest: everything is read, checkpointed and acknowledged.
  /// Returns the problem found; empty: none.
  std::string Run();

  const std::map<Step, int>& crashes_after() const { return crashes_after_; }
  const CountingReporter& reporter() const { return reporter_; }
  const FakeSnapshotTopic& snapshots() const { return snapshots_; }
  uint64_t reads_failed() const { return fate_.reads_failed; }
  uint64_t fills() const { return fills_; }
  uint64_t fill_pages() const { return fill_pages_; }

 private:
  struct LogRecord {
    TimeMs timestamp;
    std::string key, value;
    bool null = false;
    bool bad = false;
    std::string user;
    LoggedEvent event;
  };

  /// A partition: its log, and its flow.
  struct Lane {
    int32_t number = 0;
    Disk* disk = nullptr;
    std::vector<std::string> users;
    std::vector<LogRecord> log;
    int64_t low = 0;
    int64_t read_max = 0;    // highest next offset ever: the state may hold up to here
    std::set<int64_t> lost;  // offsets that retention deleted before they were read
    FakeDeadLetters dead_letters;
    uint32_t level0_files = 1;
    PartitionPointer open;
    int64_t fetch = 0;             // next offset the log delivers
    std::deque<FillPage> filling;  // pages of the fill under way that aren't written yet
    FilterIndex filling_filter;
    bool late_is_filled = true;  // the added filter has its history

    PartitionFlow& flow() const { return *open->flow; }
    int64_t end() const { return static_cast<int64_t>(log.size()); }
    /// Whether nothing was lost, and the flow has read as far as ever before.
    bool IsExact() const { return lost.empty() && read_max == flow().state.next_offset(); }
  };

  void ChooseFilters(uint64_t seed);
  void ChooseUsers(uint64_t seed);
  void Open(Lane& lane);
  void Crash();
  void Reassign(Lane& lane);
  void Do(Step step);
  void GrowLog(Lane& lane);
  void Deliver(Lane& lane, size_t records_max);
  void WriteFrozen(Lane& lane);
  void Publish();
  void BeginFill(Lane& lane, FilterIndex filter);
  bool WritePages(Lane& lane, size_t pages);
  void Fill(Lane& lane);
  void OpenFillQueue();
  void FillLate();
  void EraseByDaemon(Lane& lane);
  bool IsUnknown(const Lane& lane, FilterIndex filter) const {
    return shape_.late_filter && filter == late_filter_ && !lane.late_is_filled;
  }
  static void AwaitCompaction(const Lane& lane);
  void ToRest();
  Lane& AnyLane() { return *lanes_[random_() % lanes_.size()]; }
  bool PowerIsGoing() const;
  void SetClockError(int64_t ms);
  std::string RandomBadValue();
  LogRecord RandomRecord(const Lane& lane);
  LoggedEvent RandomEvent(TimeMs timestamp);

  /// The items that the user has seen now, by the oracle. Some records may be in the state or not: lost ones,
  /// and those beyond the next offset. kLeast: the items that are seen in any case. kMost: all that may be
  /// seen.
  enum class Read { kLeast, kMost };
  std::vector<Fingerprint> Expected(const Lane& lane, const std::string& user, FilterIndex filter,
                                    Read read) const;
  /// The items that an answer holds. Two readers must find the same. nullopt: there is a problem, in
  /// problem_.
  std::optional<std::vector<Fingerprint>> Actual(const Lane& lane, const std::string& user,
                                                 FilterIndex filter);
  std::string CheckErased(const Lane& lane, const std::string& user) const;
  std::string CheckUser(const Lane& lane, const std::string& user);
  std::string CheckNoneIsMissing(const std::string& user, FilterIndex filter,
                                 const std::vector<Fingerprint>& expected) const;
  std::string CheckPublished(const Lane& lane, const std::string& user, FilterIndex filter) const;
  /// If nothing is outstanding, everything is published.
  std::string CheckAllIsPublished(const Lane& lane, const std::string& user) const;
  std::string CheckAtRest(const Lane& lane);

  std::mt19937_64 random_;
  const WorldShape shape_;
  VirtualClock clock_;
  CountingReporter reporter_;
  FakeSnapshotTopic snapshots_;
  Fate fate_;
  std::vector<FilterPolicy> filters_;
  std::vector<Rules> rules_;        // the same filters, for the oracle
  std::vector<std::string> kinds_;  // of events, besides exposures
  std::shared_ptr<const EventPlan> plan_;
  Publisher::Options publishing_;
  FilterIndex late_filter_;
  bool crowded_ = false;  // more users are due than may be followed
  bool late_is_added_ = false;

  std::vector<std::unique_ptr<Lane>> lanes_;
  OpenPartitions opened_;
  std::unique_ptr<Publisher> publisher_;
  int64_t clock_error_ms_ = 0;  // of the wall clock
  bool clock_was_wrong_ = false;
  std::map<Step, int> crashes_after_;
  std::vector<FillRequest> fill_file_;  // survives a crash
  std::unique_ptr<FillQueue> fill_queue_;
  uint64_t fills_ = 0;  // fills that were written to the end
  uint64_t fill_pages_ = 0;
  std::string problem_;
};

}  // namespace seen::sim
