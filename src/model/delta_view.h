#pragma once
// An encoded delta with its fields found and its fingerprints still coded: what composing and expiring need
// where they leave most of a delta as it is. Bytes: schemas/store.md. Pure, any thread.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/delta.h"
#include "model/rice.h"

namespace seen {

struct SegmentView {
  Day day;
  uint32_t first_second = 0;
  uint32_t last_second = 0;
  RiceCode fingerprints;   // count 0: none, and no code
  std::string_view whole;  // all of it; as it stands only behind a segment of the same day as here
  std::string_view body;   // from its seconds on: the same wherever it stands
};

/// Views into the bytes. Meant to be used again: keeps its memory.
struct DeltaView {
  std::string_view user_id;
  std::optional<Day> erased;
  RiceCode removed;               // count 0: none
  Day removed_first;              // the earliest of the removals' days
  std::string_view removed_days;  // a varint each
  std::vector<SegmentView> segments;

  bool TakesBack() const { return erased.has_value() || removed.count > 0; }
};

/// False for what EncodeDelta can't have written, as far as that shows without decoding a fingerprint.
/// Every code is plausible then.
bool ParseDelta(std::string_view bytes, DeltaView& view);

/// The fingerprints of `codes`, one code's after another's, to `to`. False where a code isn't what
/// EncodeDelta writes.
bool DecodeFingerprints(std::span<const RiceCode> codes, Fingerprint* to);

/// False: kCorrupt, as DecodeDelta.
bool DecodeView(const DeltaView& view, Delta& delta);

/// For who writes the pieces of a delta one after another; see EncodeDelta for their order.
namespace delta_bytes {
inline constexpr uint8_t kHasUserId = 1, kHasErased = 2, kHasRemovals = 4, kHasSegments = 8;
void PutHeader(uint8_t flags, std::string_view user_id, std::optional<Day> erased, std::string& out);
/// `previous`: the segment's before it; nullopt for the first.
void PutDay(Day day, std::optional<Day> previous, std::string& out);
void PutBody(uint32_t first_second, uint32_t last_second, std::span<const Fingerprint> fingerprints,
             std::string& out);
void PutVarint(uint64_t value, std::string& out);
}  // namespace delta_bytes

}  // namespace seen
