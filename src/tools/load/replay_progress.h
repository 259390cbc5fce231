#pragma once
// What a replay has sent, on disk, so that one that was killed goes on where it stopped: everything is sent
// at least once, nothing is left out.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace seen {

struct ReplayPosition {
  std::string source;         // what is replayed: a file's path, or topic and time range
  uint64_t source_bytes = 0;  // the file's size: another file under the same name is noticed
  std::string target;         // topic it goes to
  uint64_t done = 0;          // lines of the file that are acknowledged, or too bad to send, without a gap
  uint64_t sent = 0;
  uint64_t rejected = 0;
  std::string offsets;  // from a topic: "partition:next offset,…" instead of lines
  bool finished = false;
  friend bool operator==(const ReplayPosition&, const ReplayPosition&) = default;
};

/// nullopt: no such file. kMalformed: it is not a progress file.
Result<std::optional<ReplayPosition>> ReadReplayPosition(const std::string& path);

/// Replaces the file at once or not at all (written beside it, fsynced, renamed, directory fsynced).
Status WriteReplayPosition(const std::string& path, const ReplayPosition& position);

/// kRefused where `stored` is about another source or target than `wanted`: says which, and the remedy.
Status CheckSameReplay(const std::string& path, const ReplayPosition& stored, const ReplayPosition& wanted);

/// Which entries of a numbered sequence are all done although they finish out of order, as acknowledgements
/// of several partitions do. One thread.
class ContiguousProgress {
 public:
  explicit ContiguousProgress(uint64_t done) : done_(done), next_(done) {}
  /// Numbers the next entry; call in order.
  uint64_t Begin();
  void Finish(uint64_t number);
  uint64_t done() const { return done_; }  // all entries below it are finished
  uint64_t outstanding() const { return next_ - done_ - finished_ahead_; }

 private:
  uint64_t done_;
  uint64_t next_;
  uint64_t finished_ahead_ = 0;
  std::string finished_;  // a flag an entry, from done_ on, its start trimmed now and then
  size_t trimmed_ = 0;    // entries of finished_ before done_
};

}  // namespace seen
