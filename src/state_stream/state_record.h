#pragma once
// The records of the state topic: schemas/state.md. A partition's owner begins with an opening, whose offset
// is the owner's epoch. Then the owner writes runs, which hold changes, and now and then a base, which holds
// all rows. Runs and bases consist of parts, one record each.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace seen {

/// Raised when an older program would misread what a newer one writes.
inline constexpr uint8_t kStateVersion = 1;

/// No offset, no epoch.
inline constexpr int64_t kNoOffset = -1;

struct StateOpening {
  std::string group;      // of the owner
  std::string instance;   // of that group
  std::string program;    // its version, for people
  bool takeover = false;  // the owner means to end another owner's epoch
  TimeMs at;
  int64_t position = kNoOffset;  // the state that the owner holds has all records below; kNoOffset: none
  int64_t base_at = kNoOffset;   // as in StatePart
  friend bool operator==(const StateOpening&, const StateOpening&) = default;
};

/// Below this offset an output topic holds what the owner sent and nothing else.
struct VerifiedOutput {
  std::string topic;
  int64_t offset = 0;
  friend bool operator==(const VerifiedOutput&, const VerifiedOutput&) = default;
};

enum class StreamKind : uint8_t {
  kRun = 2,   // what changed between two positions of the input
  kBase = 3,  // all rows, as of one position
};

/// One record of a run or a base.
struct StatePart {
  StreamKind kind = StreamKind::kRun;
  int64_t epoch = kNoOffset;
  uint32_t number = 0;  // of the run or base, in its epoch: ascending
  uint32_t part = 0;    // of the run or base: 0, 1, ...
  bool is_last = false;
  bool ends_block = true;       // false: the block goes on in the next part
  int64_t base_at = kNoOffset;  // offset of the first part of the newest whole base; kNoOffset: none
  // The state before holds all records below `from`, after it those below `to`. In a base both are the same.
  int64_t from = 0;
  int64_t to = 0;
  std::vector<VerifiedOutput> verified = {};  // in part 0; ascending by topic
  bool behind_gap = false;                    // of a run: changes before it are in no base and no run
  friend bool operator==(const StatePart&, const StatePart&) = default;
};

/// A part as it was read. `bytes`, a view of the record, are a piece of a block (rows/row_block.h).
struct ReadStatePart {
  StatePart head;
  std::string_view bytes;
};

void EncodeStateOpening(const StateOpening& opening, std::string& out);
/// Appends the part without its block; the block's bytes follow.
void EncodeStatePart(const StatePart& part, std::string& out);
/// Greatest length of a part without its block and its verified outputs.
inline constexpr size_t kStatePartHeadBytes = 64;

using StateRecord = std::variant<StateOpening, ReadStatePart>;
/// kRefused: a newer version wrote the record, or its type isn't known. kMalformed: the bytes aren't one of
/// these records.
Result<StateRecord> DecodeStateRecord(std::string_view bytes);
/// As above, for the record at `offset`. kMalformed also: the record names an opening or a base that would
/// stand behind it.
Result<StateRecord> DecodeStateRecord(std::string_view bytes, int64_t offset);

}  // namespace seen
