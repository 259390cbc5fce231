#pragma once
// Which replays are under way in a partition. A replay is a run of a tool that brings history into the input
// topic beside the live events. A run begins with its first record. It ends with its end mark, or when no
// record of it has come for a while. Threads: the partition's worker; any thread for Names.

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "flow/log_port.h"

namespace seen {

// The headers of replayed records, and of the records without a value that begin and end a run in a
// partition: docs/REPLAY.md.

inline constexpr std::string_view kReplayHeader = "seen-replay";  // the run's name
inline constexpr std::string_view kReplayPublishHeader = "seen-replay-publish";
inline constexpr std::string_view kReplayPublishLive = "live";  // anything else: when the run ends
inline constexpr std::string_view kReplayMarkHeader = "seen-replay-mark";
inline constexpr std::string_view kReplayBegin = "begin";
inline constexpr std::string_view kReplayEnd = "end";
inline constexpr size_t kReplayRunBytesMax = 64;
/// Of a dead letter that was sent again: the run's name. If the daemon rejects it again, its new letter says
/// so.
inline constexpr std::string_view kResentHeader = "seen-resent";

class ReplayRuns {
 public:
  /// Further runs at the same time are treated as if they published live.
  static constexpr size_t kRunsMax = 16;

  explicit ReplayRuns(std::chrono::milliseconds idle) : idle_(idle) {}

  void Note(const ReplayNote& note, Instant now);
  /// Ends the runs without a record for the idle time.
  void EndIdle(Instant now);
  /// Whether a run that publishes at its end is under way.
  bool holds() const { return holds_; }
  /// Whether users that only this record touches wait for the run's end.
  bool Defers(const ReplayNote& note) const;

  std::vector<std::string> Names() const;

 private:
  struct Run {
    std::string name;
    bool publishes_live;
    Instant heard;
  };
  void Changed() REQUIRES(mutex_);

  const std::chrono::milliseconds idle_;
  bool holds_ = false;
  size_t count_ = 0;
  mutable Mutex mutex_;  // readers wait for the worker at most while it adds a run
  std::vector<Run> runs_ GUARDED_BY(mutex_);
};

}  // namespace seen
