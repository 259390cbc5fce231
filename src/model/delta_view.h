#pragma once
// A view of an encoded delta: its fields are parsed, its fingerprints are still coded. Composing and expiring
// use it where they leave most of a delta as it is. Bytes: schemas/store.md. Pure, any thread.

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
  std::string_view whole;  // all its bytes; right only behind a segment of the same day as here
  std::string_view body;   // its bytes from the seconds on; right anywhere
};

struct OtherView : OtherHeader {
  RiceCode fingerprints;   // count 0: none, and no code
  uint32_t entries = 0;    // kind 2: how often the items were shown in all; else the number of fingerprints
  std::string_view times;  // for timed kinds, still coded
};

/// Views into the bytes. Keeps its memory: use it again and again.
struct DeltaView {
  std::string_view user_id;
  std::optional<Day> erased;
  RiceCode removed;               // count 0: none
  Day removed_first;              // the earliest of the removals' days
  std::string_view removed_days;  // a varint each
  std::vector<SegmentView> segments;
  std::vector<OtherView> others;
  std::string_view others_bytes;  // the bytes of all others; right behind any segments

  /// What was taken back, alone.
  DeltaView Removals() const {
    DeltaView view;
    view.removed = removed, view.removed_first = removed_first, view.removed_days = removed_days;
    return view;
  }
  bool HasSegments() const { return !segments.empty() || !others.empty(); }
  bool TakesBack() const { return erased.has_value() || removed.count > 0; }
};

/// False if EncodeDelta can't have written the bytes, as far as this shows without decoding fingerprints. If
/// true, every code is plausible (RiceCode::Plausible).
bool ParseDelta(std::string_view bytes, DeltaView& view);

/// The error of code that reads such bytes: kCorrupt.
Error NotADelta(std::string_view bytes);

/// The user id of an encoded delta. Doesn't look at the rest. Empty: the delta has no id, or the bytes are no
/// delta.
std::string_view UserIdOfDelta(std::string_view bytes);

/// Writes the fingerprints of `codes` to `to`, one code after another. False if EncodeDelta can't have
/// written a code.
bool DecodeFingerprints(std::span<const RiceCode> codes, Fingerprint* to);

/// Decodes only the other segments. False: kCorrupt, as DecodeDelta.
bool DecodeOthers(const DeltaView& view, std::vector<OtherSegment>& others);

/// False: kCorrupt, as DecodeDelta.
bool DecodeView(const DeltaView& view, Delta& delta);

/// One segment alone: a user with many items takes little memory then. False: kCorrupt, as DecodeDelta.
bool DecodeSegment(const SegmentView& view, Segment& segment);
bool DecodeSegment(const OtherView& view, OtherSegment& segment);

/// For code that writes a delta piece by piece. EncodeDelta has the order of the pieces.
namespace delta_bytes {
inline constexpr uint8_t kDeltaVersion = 1;
inline constexpr uint8_t kHasUserId = 1, kHasErased = 2, kHasRemovals = 4, kHasSegments = 8;
void PutHeader(uint8_t flags, std::string_view user_id, std::optional<Day> erased, std::string& out);
/// `previous`: the day of the segment before; nullopt for the first segment.
void PutDay(Day day, std::optional<Day> previous, std::string& out);
void PutBody(uint32_t first_second, uint32_t last_second, std::span<const Fingerprint> fingerprints,
             std::string& out);
/// Whether `bytes` are an encoded delta that is empty.
inline bool SaysNothing(std::string_view bytes) { return bytes.size() == 2 && bytes[1] == 0; }
void PutVarint(uint64_t value, std::string& out);
/// Small for numbers near zero, also below it.
constexpr uint64_t ZigZag(int64_t value) {
  return (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
}
void PutFingerprints(std::span<const Fingerprint> fingerprints, std::string& out);
/// Appends the segments in their order. They stand behind the exposed ones.
void PutOthers(const std::vector<OtherSegment>& others, std::string& out);

class Reader;
/// Parses the rest of the segments. The kind of the first one has been read already.
void ParseOthers(Reader& reader, uint8_t kind, uint64_t count, DeltaView& view);
}  // namespace delta_bytes

}  // namespace seen
