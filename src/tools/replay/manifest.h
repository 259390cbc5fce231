#pragma once
// What a replay has done, file by file: the file that --progress names. A run that was killed goes on from
// it.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/durable_file.h"
#include "base/result.h"
#include "tools/replay/line_outcomes.h"

namespace seen {

struct ManifestFile {
  enum class State : uint8_t { kPartly, kDone, kDamaged };
  std::string name;  // as HistoryFile::name
  uint64_t size = 0;
  uint64_t first_block_hash = 0;
  LineCounts lines;             // done: acknowledged, rejected or skipped without a gap
  uint64_t bytes_not_read = 0;  // were added to it while it was read
  State state = State::kPartly;
  std::string damage;  // of kDamaged: what is wrong with it
  friend bool operator==(const ManifestFile&, const ManifestFile&) = default;
};

struct ManifestTopic {
  std::string name;
  std::string range;  // as it was asked for: another range is another replay
  std::map<int32_t, int64_t> next_offsets;
  LineCounts records;
  bool done = false;
  friend bool operator==(const ManifestTopic&, const ManifestTopic&) = default;
};

struct Manifest {
  std::string run;     // its records carry it
  std::string target;  // the topic
  std::vector<ManifestFile> files;
  std::vector<ManifestTopic> topics;
  bool finished = false;  // all that the last run was given
  friend bool operator==(const Manifest&, const Manifest&) = default;

  LineCounts Counts() const;
  bool IsDamaged() const;  // a file is
  ManifestFile* FindFile(std::string_view name);
  ManifestTopic* FindTopic(std::string_view name);
};

/// nullopt: there is none. kMalformed: it isn't one.
Result<std::optional<Manifest>> ReadManifest(const std::string& path);
/// Replaces the file whole and durably, or not at all. kNoSpace, kUnavailable.
Status WriteManifest(const std::string& path, const Manifest& manifest);

/// For people, a row a file or topic; and as the file has it.
std::string ManifestText(const Manifest& manifest);
std::string ManifestJson(const Manifest& manifest);

/// Two runs of one file at once would send the same lines: kRefused while another process has it. `path`
/// empty: nothing is locked.
Result<std::optional<FileLock>> LockManifest(const std::string& path);
/// An earlier run's, or a new one's. `path` empty: a new one's. kRefused: it is of another topic.
Result<Manifest> OpenManifest(const std::string& path, const std::string& topic, bool quiet);

}  // namespace seen
