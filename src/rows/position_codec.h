#pragma once
// The value of the position record: schemas/store.md, "Position".

#include <string>
#include <string_view>

#include "base/result.h"
#include "flow/store_port.h"

namespace seen {

/// If there are more ranges, the oldest two are merged into one that spans both, so that the record stays
/// small.
inline constexpr size_t kLostRangesMax = 64;

std::string EncodePosition(const Position& position);

/// kCorrupt for anything EncodePosition can't have written.
Result<Position> DecodePosition(std::string_view bytes);

/// Encodes Position::filters: schemas/store.md, "Wholeness".
std::string EncodeWholeness(const std::vector<FilterWholeness>& filters);

/// kCorrupt for anything EncodeWholeness can't have written.
Result<std::vector<FilterWholeness>> DecodeWholeness(std::string_view bytes);

/// Encodes Position::generation and read_to: schemas/store.md, "Keys".
std::string EncodeOffsets(const Position& position);

/// Sets these two. kCorrupt for anything EncodeOffsets can't have written.
Status DecodeOffsets(std::string_view bytes, Position& position);

}  // namespace seen
