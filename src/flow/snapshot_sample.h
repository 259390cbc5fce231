#pragma once
// How often published snapshots say "seen" of items that their users have not seen.

#include <cstdint>
#include <string_view>

namespace seen {

struct ProbeCounts {
  uint64_t probes = 0;
  uint64_t false_positives = 0;
};

/// Asks some snapshots about fingerprints of chance. A user's own 10,000 of 2^32 are among them too rarely to
/// matter. One thread.
class SnapshotSample {
 public:
  static constexpr uint64_t kEvery = 32;   // snapshots, the first of them included
  static constexpr uint32_t kProbes = 64;  // of each

  /// Every kEvery-th snapshot costs its checksum and kProbes look-ups. Tombstones and bytes that aren't a
  /// snapshot count nothing.
  ProbeCounts Add(std::string_view snapshot);

 private:
  uint64_t snapshots_ = 0;
  uint64_t state_ = 0;  // of the chance
};

}  // namespace seen
