#pragma once
// One thing that happened to one user's seen set, and what a run of them amounts to.

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
};

struct Change {
  Fingerprint fingerprint;
  uint32_t second = 0;  // since the epoch; reaches 2106
  ChangeKind kind = ChangeKind::kExposed;
};

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
  DaySeconds& SecondsOf(uint32_t day);

  std::vector<uint64_t> sorted_;  // day, fingerprint
  std::vector<DaySeconds> days_;  // of the changes, in no order
  std::vector<Fingerprint> fingerprints_;
};

}  // namespace seen
