#pragma once
// The rows of a partition's position: schemas/store.md, "Position", "Wholeness" and "Keys".

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "flow/store_port.h"

namespace seen {

/// If there are more ranges, the oldest two are merged into one that spans both, so that the record stays
/// small.
inline constexpr size_t kLostRangesMax = 64;

/// The keys of a position's rows, ascending: its record, the wholeness of filters and the offsets.
const std::array<std::string_view, 3>& PositionKeys();
/// By PositionKeys(); nullopt: there is no such row.
using PositionRows = std::array<std::optional<std::string>, 3>;
PositionRows EncodePositionRows(const Position& position);
/// nullopt: nothing was ever committed. kCorrupt for anything EncodePositionRows can't have written.
Result<std::optional<Position>> DecodePositionRows(const PositionRows& rows);

/// The record alone.
std::string EncodePosition(const Position& position);
/// kCorrupt for anything EncodePosition can't have written.
Result<Position> DecodePosition(std::string_view bytes);

/// Encodes Position::filters: schemas/store.md, "Wholeness".
std::string EncodeWholeness(const std::vector<FilterWholeness>& filters);

/// kCorrupt for anything EncodeWholeness can't have written.
Result<std::vector<FilterWholeness>> DecodeWholeness(std::string_view bytes);

}  // namespace seen
