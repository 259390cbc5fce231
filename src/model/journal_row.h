#pragma once
// What the journal keeps of one event: schemas/store.md, "Journal". The user and the time are in its key.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/filter_number.h"

namespace seen {

/// Longer scenes and request ids are cut to at most this many bytes, between characters.
inline constexpr size_t kJournalTextBytesMax = 512;
/// Positions above it are kept as it, and those below its negative as its negative. 2^53: every reader of
/// JSON takes such integers.
inline constexpr int64_t kJournalPositionMax = int64_t{1} << 53;

struct JournalItem {
  std::string_view item_id;
  std::optional<int64_t> position;
  friend bool operator==(const JournalItem&, const JournalItem&) = default;
};

/// Views into the bytes it was decoded from, or into an event.
struct JournalRow {
  uint8_t kind = 0;               // an EventKind
  std::vector<FilterId> filters;  // the filters that the event concerns, ascending
  std::string_view scene;         // empty: none
  std::string_view request_id;    // empty: none
  std::vector<JournalItem> items;
  friend bool operator==(const JournalRow&, const JournalRow&) = default;
};

/// Appends the encoding.
void EncodeJournalRow(const JournalRow& row, std::string& out);

/// Decodes into `row` and reuses its memory. False: kCorrupt, for anything EncodeJournalRow can't have
/// written.
bool DecodeJournalRow(std::string_view bytes, JournalRow& row);

}  // namespace seen
