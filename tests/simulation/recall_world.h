#pragma once
// Readers of snapshots and updates, over two processes that share a partition. The shipped code runs on both
// sides: the flow, the publisher, the sender of updates, the guard, and the C++ reader of clients/. Topics
// are faked: they lose their ends, expire, are compacted between any two reads, and are made anew. After
// schemas/update.md, "The reader".

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "support/fakes.h"

namespace seen::sim {

class RecallWorld {
 public:
  enum class Fault {
    kCrash,
    kTakeover,       // the former owner may go on as a zombie, which sends updates alone
    kUpdatesCut,     // the topic of updates loses its end
    kUpdatesExpire,  // it loses its beginning
    kSnapshotsCut,
    kInputRecreated,
    kStateLost,
    kUpdatesRefused,  // brokers take no updates, for longer than the daemon waits
    kNewReader,
    kCount
  };
  explicit RecallWorld(uint64_t seed);
  ~RecallWorld();

  /// Returns the problem found; empty: none.
  std::string Run();

  int faults() const { return faults_; }
  int claims() const { return claims_; }  // checks of a reader that said that it was fresh to some point

 private:
  class Process;
  class Reader;
  enum class Kind { kExposed, kRemoved, kErased, kBad };
  struct Event {
    int64_t written_ms = 0;
    std::string user, item;
    Kind kind = Kind::kExposed;
    bool replayed = false;
    std::string value;
  };
  struct Snapshot {
    std::string user;
    std::optional<std::string> bytes;
  };

  void Step(bool quiet);
  void Grow();
  std::vector<std::string> PartsOf(const std::string& bytes);
  void Break();
  void CutSnapshots(Process& owner);
  void Replace();
  bool Chance(int percent) { return static_cast<int>(random_() % 100) < percent; }
  size_t Below(size_t bound) { return random_() % bound; }
  /// Whether the generation is that of the log as it is, by one of the processes.
  bool IsCurrent(int64_t generation) const;

  std::mt19937_64 random_;
  VirtualClock clock_;
  std::vector<Event> log_;
  std::vector<Snapshot> snapshots_;  // by offset, before compaction
  std::vector<std::string> updates_;
  size_t updates_begin_ = 0;
  bool updates_refused_ = false;
  std::string beat_;  // the newest; empty: none
  std::optional<DurableState> state_topic_;
  size_t owner_ = 0;
  std::array<std::unique_ptr<Process>, 2> processes_;
  std::vector<std::unique_ptr<Reader>> readers_;
  std::string problem_;
  int faults_ = 0, claims_ = 0;
};

}  // namespace seen::sim
