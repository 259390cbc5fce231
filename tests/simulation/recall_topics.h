#pragma once
// What the brokers of a recall world hold, and what its processes and readers share.

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "filter/payload.h"
#include "support/fakes.h"

namespace seen::sim {

/// How a step of a world goes: with faults; with events and without faults; without both.
enum class RecallPace { kBusy, kCalm, kRest };

struct RecallTopics {
  enum class Kind { kExposed, kRemoved, kErased, kBad };
  struct Event {
    int64_t written_ms = 0;
    TimeMs timestamp;  // what the producer claims
    std::string user, item;
    Kind kind = Kind::kExposed;
    bool replayed = false;
    std::string value;
  };
  struct Snapshot {
    std::string user;
    std::optional<std::string> bytes;
  };

  explicit RecallTopics(uint64_t seed) : random(seed) {}
  bool Chance(int percent) { return static_cast<int>(random() % 100) < percent; }
  size_t Below(size_t bound) { return random() % bound; }
  void Fails(std::string found) {
    if (problem.empty()) problem = std::move(found);
  }
  int64_t log_end() const { return static_cast<int64_t>(log.size()); }
  /// Whether the filter's state may lack the event although nobody took it back: decision 0007.
  bool MayLack(int64_t offset) const { return offset < lacks_below; }

  std::mt19937_64 random;
  VirtualClock clock;
  std::vector<Event> log;
  std::set<int64_t> generations;  // of the states that have read this log
  bool had_another_log = false;
  std::vector<Snapshot> snapshots;  // by offset, before compaction
  std::vector<std::string> updates;
  size_t updates_begin = 0;
  bool updates_away = false;  // brokers take no updates
  std::string beat;           // the newest; empty: none
  std::optional<DurableState> state;
  size_t owner = 0;  // by number

  // The filter's configuration.
  size_t filter = 0;  // its id
  SnapshotFormat format = SnapshotFormat::kFingerprints;
  int64_t lacks_below = 0;  // the filter was added when the log ended here

  // Updates that arrived, by generation: all below the offset, but for gaps that a daemon reported.
  std::map<int64_t, int64_t> covered;
  int64_t gap_allowed_to = 0;

  // The world's character.
  int64_t refresh_ms = 5'000;
  int checkpoint_percent = 25;
  size_t reads_at_most = 3;  // records a step
  std::string problem;
};

}  // namespace seen::sim
