#pragma once
// One thing that happened to one user's seen set, and what a run of them amounts to.

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
  kErased,   // the user was: every item; the fingerprint is ignored
  kServed,   // the item was returned by the recommender
  /// As kExposed in a filter whose window goes by creation: `second` is PackDays.
  kExposedOfCreation,
  /// Two in a row, see ResolvingChanges.
  kResolving,
  kSimilar,  // something like the fingerprint's item, or of its group, was shown
  /// And on: a declared kind; the number of its SegmentKind.
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

/// Days since the epoch, of creation and exposure, each at most 65,535. An item created later than it was
/// shown counts as created on that day.
inline constexpr uint32_t PackDays(uint32_t created, uint32_t exposed) {
  return std::min(created, exposed) << 16 | exposed;
}

/// An exposure of `exposed_second`, consumed when partition time was `partition_second`: kept under the
/// stretch of the former. To be appended one after the other; the first alone says nothing.
inline constexpr std::array<Change, 2> ResolvingChanges(Fingerprint fingerprint, uint32_t exposed_second,
                                                        uint32_t partition_second) {
  return {{{fingerprint, exposed_second, ChangeKind::kResolving},
           {fingerprint, partition_second, ChangeKind::kResolving}}};
}

/// The delta of `changes`, in log order. Equal to composing one delta a change. O(n log n).
Delta DeltaOf(std::string user_id, std::span<const Change> changes, const DeltaLimits& limits);

/// What a checkpoint does for each user. Reuses its memory; one per thread.
class ChangeEncoder {
 public:
  /// Appends what EncodeDelta writes of DeltaOf(user_id, changes, limits).
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
