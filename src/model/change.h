#pragma once
// A change: one thing that happened to one user's seen set. Also how a run of changes becomes a delta.

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/delta.h"

namespace seen {

enum class ChangeKind : uint8_t {
  kExposed,  // the item was shown
  kRemoved,  // the item was taken back
  kErased,   // the user was erased, with every item; the fingerprint is ignored
  kServed,   // the item was returned by the recommender
  /// As kExposed, in a filter whose window uses the day of creation: `second` holds PackDays.
  kExposedOfCreation,
  /// Always two in a row, see ResolvingChanges.
  kResolving,
  kSimilar,  // an item similar to the fingerprint's item, or of the fingerprint's group, was shown
  /// From here on: declared kinds, by the number of their SegmentKind.
  kDeclaredFirst = kDeclaredKindFirst,
};

struct Change {
  Fingerprint fingerprint;
  uint32_t second = 0;  // since the epoch; reaches 2106
  ChangeKind kind = ChangeKind::kExposed;
};

inline constexpr bool TakesBack(ChangeKind kind) {
  return kind == ChangeKind::kRemoved || kind == ChangeKind::kErased;
}

/// Both days count from the epoch and are at most 65,535. If an item was created after it was shown, the day
/// it was shown counts as its day of creation.
inline constexpr uint32_t PackDays(uint32_t created, uint32_t exposed) {
  return std::min(created, exposed) << 16 | exposed;
}

/// An exposure at `exposed_second` that was read when partition time was `partition_second`. Its segment is
/// that of `exposed_second`. Append both changes in this order; the first alone has no effect.
inline constexpr std::array<Change, 2> ResolvingChanges(Fingerprint fingerprint, uint32_t exposed_second,
                                                        uint32_t partition_second) {
  return {{{fingerprint, exposed_second, ChangeKind::kResolving},
           {fingerprint, partition_second, ChangeKind::kResolving}}};
}

/// The delta of `changes`, which are in log order. Equal to composing one delta per change. O(n log n).
Delta DeltaOf(std::string user_id, std::span<const Change> changes, const DeltaLimits& limits);

/// Encodes each user's changes for a checkpoint. Reuses its memory; one per thread.
class ChangeEncoder {
 public:
  /// Appends what EncodeDelta writes for DeltaOf(user_id, changes, limits).
  void Encode(std::string_view user_id, std::span<const Change> changes, const DeltaLimits& limits,
              std::string& out);

 private:
  struct DaySeconds {
    uint32_t day;
    uint32_t first, last;
  };
  struct Row {                     // of one kind
    std::vector<uint64_t> sorted;  // day, fingerprint
    std::vector<DaySeconds> days;  // of the changes, in no order

    void Clear() { sorted.clear(), days.clear(); }
    void Add(const Change& change);
    void Sort();
    DaySeconds& SecondsOf(uint32_t day);
  };
  void PutSimilar(const DeltaLimits& limits, std::string& out);

  Row exposed_;
  Row similar_;
  std::vector<Fingerprint> fingerprints_;
  std::vector<OtherSegment> others_;
};

}  // namespace seen
