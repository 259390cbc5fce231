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

struct OtherView : OtherHeader {
  RiceCode fingerprints;   // count 0: none, and no code
  uint32_t entries = 0;    // of kind 2: how often they were shown, all in all; else as many as fingerprints
  std::string_view times;  // of timed kinds, as they are coded
};

/// Views into the bytes. Meant to be used again: keeps its memory.
struct DeltaView {
  std::string_view user_id;
  std::optional<Day> erased;
  RiceCode removed;               // count 0: none
  Day removed_first;              // the earliest of the removals' days
  std::string_view removed_days;  // a varint each
  std::vector<SegmentView> segments;
  std::vector<OtherView> others;
  std::string_view others_bytes;  // all of them: the same wherever they stand

  bool HasSegments() const { return !segments.empty() || !others.empty(); }
  bool TakesBack() const { return erased.has_value() || removed.count > 0; }
};

/// False for what EncodeDelta can't have written, as far as that shows without decoding a fingerprint.
/// Every code is plausible then.
bool ParseDelta(std::string_view bytes, DeltaView& view);

/// Of an encoded delta, without looking at the rest. Empty: it names none, or isn't a delta.
std::string_view UserIdOfDelta(std::string_view bytes);

/// The fingerprints of `codes`, one code's after another's, to `to`. False where a code isn't what
/// EncodeDelta writes.
bool DecodeFingerprints(std::span<const RiceCode> codes, Fingerprint* to);

/// The other segments alone. False: kCorrupt, as DecodeDelta.
bool DecodeOthers(const DeltaView& view, std::vector<OtherSegment>& others);

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
/// Whether that is all: an encoded delta that is empty.
inline bool SaysNothing(std::string_view bytes) { return bytes.size() == 2 && bytes[1] == 0; }
void PutVarint(uint64_t value, std::string& out);
void PutFingerprints(std::span<const Fingerprint> fingerprints, std::string& out);
/// In their order, behind the exposed ones.
void PutOthers(const std::vector<OtherSegment>& others, std::string& out);

class Reader;
/// The rest of the segments, of which the first one's kind was read.
void ParseOthers(Reader& reader, uint8_t kind, uint64_t count, DeltaView& view);
}  // namespace delta_bytes

}  // namespace seen
