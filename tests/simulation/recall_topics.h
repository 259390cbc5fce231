#pragma once
// What the brokers of a recall world hold, and what its processes and readers share.

#include <algorithm>
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
  static constexpr int64_t kCompactionLagMs = 3'000;
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
    int64_t written_ms = 0;
    bool is_compacted = false;  // the record is gone
  };

  explicit RecallTopics(uint64_t seed) : random(seed) {}
  bool Chance(int percent) { return static_cast<int>(random() % 100) < percent; }
  size_t Below(size_t bound) { return random() % bound; }
  void Fails(std::string found) {
    if (problem.empty()) problem = std::move(found);
  }
  /// A round of the refresh takes longer than a world, unless it hurries.
  bool IsRefreshedSlowly() const { return refresh_ms > 100'000; }
  int64_t log_end() const { return static_cast<int64_t>(log.size()); }
  /// Whether brokers remove the record: they compact no segment that is still written. A cut spares what they
  /// compacted for, because a broker that lacks the newest records hasn't compacted for them.
  bool CompactsAway(size_t at) {
    for (size_t later = at + 1; later < snapshots.size(); ++later) {
      if (snapshots[later].user != snapshots[at].user) continue;
      if (snapshots[later].written_ms > clock.WallNow().value - kCompactionLagMs) return false;
      compacted_for_below = std::max(compacted_for_below, later + 1);
      return true;
    }
    return false;
  }
  void Compact() {
    for (size_t at = 0; at < snapshots.size(); ++at)
      snapshots[at].is_compacted = snapshots[at].is_compacted || CompactsAway(at);
  }
  /// Whether the filter's state may lack the event although nobody took it back: decision 0007.
  bool MayLack(int64_t offset) const { return offset < lacks_below; }

  std::mt19937_64 random;
  VirtualClock clock;
  std::vector<Event> log;
  std::set<int64_t> generations;  // of the states that have read this log
  bool had_another_log = false;
  std::vector<Snapshot> snapshots;  // by offset
  size_t compacted_for_below = 0;
  std::vector<std::string> updates;
  size_t updates_begin = 0;
  bool updates_away = false;  // brokers take no updates
  std::string too_large;      // the snapshots of this user; empty: nobody's
  std::string beat;           // the newest; empty: none
  std::optional<DurableState> state;
  size_t owner = 0;  // by number

  // The filter's configuration.
  size_t filter = 0;  // its id
  std::string name = "home";
  SnapshotFormat format = SnapshotFormat::kFingerprints;
  int64_t lacks_below = 0;  // the filter was added when the log ended here

  // Updates that arrived, by generation: all below the offset, but for gaps that a daemon reported.
  std::map<int64_t, int64_t> covered;
  int64_t gap_allowed_to = 0;

  // The world's character.
  int64_t refresh_ms = 5'000;
  int checkpoint_percent = 25;
  size_t reads_at_most = 3;  // records a step
  bool replicas_lag = false;
  bool beats_are_late = false;  // while snapshots aren't
  std::string problem;
};

}  // namespace seen::sim
