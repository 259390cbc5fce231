#pragma once
// The progress of a replay, file by file, in the file that --progress names. The next run continues from this
// file, even if the run was killed.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/durable_file.h"
#include "base/result.h"
#include "config/config.h"
#include "flow/store_port.h"

namespace seen {

enum class LineOutcome : uint8_t { kPending, kSent, kRejected, kSkipped };

struct LineCounts {
  uint64_t sent = 0;
  uint64_t rejected = 0;
  uint64_t skipped = 0;  // left out by conditions and kinds of the configuration, or by times
  uint64_t done() const { return sent + rejected + skipped; }
  LineCounts& operator+=(const LineCounts& other) {
    sent += other.sent;
    rejected += other.rejected;
    skipped += other.skipped;
    return *this;
  }
  friend bool operator==(const LineCounts&, const LineCounts&) = default;
};

/// Offsets or numbers of entries as ascending ranges, each from the first to the last.
using OffsetRanges = std::vector<std::pair<int64_t, int64_t>>;
void AddOffset(OffsetRanges& ranges, int64_t offset);  // beyond the last one
void AddOffsets(OffsetRanges& ranges, int64_t first, int64_t last);
bool HasOffset(const OffsetRanges& ranges, int64_t offset);
uint64_t CountOf(const OffsetRanges& ranges);

/// Finds the entries of a sequence that are done without a gap. Entries finish in any order. The next run
/// skips the entries before the first unfinished one. So the counts cover only those. One thread.
class LineOutcomes {
 public:
  explicit LineOutcomes(const LineCounts& before = {})
      : counts_(before), done_(before.done()), next_(done_) {}

  uint64_t Begin();  // returns the new entry's number; numbers continue after `before`
  void Finish(uint64_t number, LineOutcome outcome);

  const LineCounts& counts() const { return counts_; }  // of the entries done without a gap
  uint64_t done() const { return done_; }
  uint64_t begun() const { return next_; }
  /// The numbers of the rejected ones among those. Of very many, some that aren't rejected stand between
  /// them.
  const OffsetRanges& rejected() const { return rejected_; }
  uint64_t outstanding() const { return next_ - done_ - finished_ahead_; }

 private:
  LineCounts counts_;
  uint64_t done_;
  uint64_t next_;
  uint64_t finished_ahead_ = 0;  // entries that are finished after a gap
  OffsetRanges rejected_;
  std::string outcomes_;  // begins with entry done_ - trimmed_
  size_t trimmed_ = 0;    // entries at the front of outcomes_: done, not yet erased
};

struct ManifestFile {
  enum class State : uint8_t { kPartly, kDone, kDamaged };
  std::string name;  // as HistoryFile::name
  uint64_t size = 0;
  uint64_t first_block_hash = 0;
  LineCounts lines;             // done: acknowledged, rejected or skipped without a gap
  OffsetRanges rejected = {};   // numbers of lines, from 0; the next run tries them again
  uint64_t bytes_not_read = 0;  // added to the file since the start
  State state = State::kPartly;
  std::string damage;  // for kDamaged: what is wrong with the file
  friend bool operator==(const ManifestFile&, const ManifestFile&) = default;
};

struct ManifestTopic {
  std::string name;
  std::string range;  // as requested; a different range is a different replay
  std::map<int32_t, int64_t> next_offsets;
  std::map<int32_t, OffsetRanges> rejected = {};  // below next_offsets; the next run tries them again
  LineCounts records;
  bool done = false;
  std::map<int32_t, Anchor> anchors = {};  // the last record that is done, of each partition
  friend bool operator==(const ManifestTopic&, const ManifestTopic&) = default;
};

struct Manifest {
  std::string run;     // the run's id, in a header of its records
  std::string target;  // the topic
  std::vector<ManifestFile> files;
  std::vector<ManifestTopic> topics;
  bool finished = false;   // the last run completed its whole input
  std::string rules = {};  // what decides which entries are skipped, as SkippingRules has it
  std::map<int32_t, int64_t> acknowledged = {};  // the run's last record in each partition of the target
  uint64_t by_rules = 0;                         // entries that were skipped on their account, at least
  friend bool operator==(const Manifest&, const Manifest&) = default;

  LineCounts Counts() const;
  bool IsDamaged() const;  // at least one file is
  ManifestFile* FindFile(std::string_view name);
  ManifestTopic* FindTopic(std::string_view name);
};

/// nullopt: no such file. kMalformed: not a progress file of this version.
Result<std::optional<Manifest>> ReadManifest(const std::string& path);
/// Replaces the file whole and durably, or not at all. kNoSpace, kUnavailable.
Status WriteManifest(const std::string& path, const Manifest& manifest);

/// As text for people, one row per file or topic, and as the JSON of the file.
std::string ManifestText(const Manifest& manifest);
std::string ManifestJson(const Manifest& manifest);

/// Locks the file: two runs at once would send the same lines. kRefused: another process holds the lock. An
/// empty `path` locks nothing.
Result<std::optional<FileLock>> LockManifest(const std::string& path);
/// The stored manifest of an earlier run, or a new one. An empty `path` gives a new one. kRefused: the stored
/// manifest is for another topic. kInvalidArgument: it skipped entries by other rules than `rules`.
Result<Manifest> OpenManifest(const std::string& path, const std::string& topic, const std::string& rules,
                              bool quiet);
/// A fingerprint of what makes replay skip an entry: the event format's conditions, and `times` as requested.
std::string SkippingRules(const Config& config, std::string_view times);

}  // namespace seen
