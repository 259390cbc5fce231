#pragma once
// How often published snapshots say "seen" for items that their users have not seen.

#include <cstdint>
#include <string_view>

namespace seen {

struct ProbeCounts {
  uint64_t probes = 0;
  uint64_t false_positives = 0;

  ProbeCounts& operator+=(const ProbeCounts& other) {
    probes += other.probes;
    false_positives += other.false_positives;
    return *this;
  }
};

/// Probes some snapshots with random fingerprints. A user's own 10,000 of 2^32 are among them too rarely to
/// matter. One thread.
class SnapshotSample {
 public:
  static constexpr uint64_t kEvery = 32;   // one snapshot of so many is probed, the first one included
  static constexpr uint32_t kProbes = 64;  // of each probed snapshot

  /// Every kEvery-th snapshot costs its checksum and kProbes look-ups. Tombstones and bytes that aren't a
  /// snapshot add no counts.
  ProbeCounts Add(std::string_view snapshot);

 private:
  uint64_t snapshots_ = 0;
  uint64_t state_ = 0;  // of the random numbers
};

}  // namespace seen
