#include "rows/position_codec.h"

#include <algorithm>
#include <span>

#include "base/byte_codec.h"
#include "rows/keys.h"

namespace seen {
namespace {

constexpr uint8_t kVersion = 1;
constexpr uint8_t kWholenessVersion = 1;

void PutRange(const LostRange& range, std::string& out) {
  PutLittleEndian(range.from, out);
  PutLittleEndian(range.to, out);
  PutLittleEndian(range.noticed_at.value, out);
}

std::string EncodeOffsets(const Position& position) {
  std::string out;
  PutLittleEndian(position.generation, out);
  if (position.read_to > position.next_offset) PutLittleEndian(position.read_to, out);
  return out;
}

Status DecodeOffsets(std::string_view bytes, Position& position) {
  FieldReader reader(bytes);
  const auto generation = reader.Get<int64_t>();
  const auto read_to = bytes.size() > sizeof generation ? reader.Get<int64_t>() : 0;
  if (!reader.Complete() || generation < 0 || read_to < 0 || (generation == 0 && read_to == 0))
    return Fail(Code::kCorrupt, "offsets: " + std::to_string(bytes.size()) + " bytes that aren't offsets");
  position.generation = generation;
  position.read_to = read_to;
  return {};
}

}  // namespace

const std::array<std::string_view, 3>& PositionKeys() {
  static const std::array<std::string_view, 3> keys{PositionKey(), WholenessKey(), OffsetsKey()};
  return keys;
}

PositionRows EncodePositionRows(const Position& position) {
  PositionRows rows{EncodePosition(position)};
  if (!position.filters.empty()) rows[1] = EncodeWholeness(position.filters);
  if (position.generation != 0 || position.read_to > position.next_offset) rows[2] = EncodeOffsets(position);
  return rows;
}

Result<std::optional<Position>> DecodePositionRows(const PositionRows& rows) {
  const auto& [record, wholeness, offsets] = rows;
  if (!record) return std::optional<Position>();
  auto position = DecodePosition(*record);
  if (!position) return Fail(position.error());
  if (wholeness) {  // older versions write none
    auto filters = DecodeWholeness(*wholeness);
    if (!filters) return Fail(filters.error());
    position->filters = std::move(*filters);
  }
  if (offsets) {
    if (Status decoded = DecodeOffsets(*offsets, *position); !decoded) return Fail(decoded.error());
  }
  return std::optional(std::move(*position));
}

std::string EncodePosition(const Position& position) {
  std::string out;
  PutLittleEndian(kVersion, out);
  PutLittleEndian(position.next_offset, out);
  PutLittleEndian(position.partition_time.value, out);
  PutLittleEndian(position.anchor.offset, out);
  PutLittleEndian(position.anchor.timestamp.value, out);
  PutLittleEndian(position.anchor.hash, out);

  // Merging the oldest two until the ranges fit gives the same as merging the oldest `merged` ranges into
  // one.
  const std::span<const LostRange> ranges = position.lost_ranges;
  const size_t merged = ranges.size() > kLostRangesMax ? ranges.size() - kLostRangesMax + 1 : 0;
  PutLittleEndian(static_cast<uint16_t>(ranges.size() - (merged > 0 ? merged - 1 : 0)), out);
  if (merged > 0) {
    LostRange all = ranges.front();
    for (const LostRange& range : ranges.first(merged)) {
      all.from = std::min(all.from, range.from);
      all.to = std::max(all.to, range.to);
      all.noticed_at = std::max(all.noticed_at, range.noticed_at);
    }
    PutRange(all, out);
  }
  for (const LostRange& range : ranges.subspan(merged)) PutRange(range, out);
  return out;
}

Result<Position> DecodePosition(std::string_view bytes) {
  FieldReader reader(bytes);
  const auto version = reader.Get<uint8_t>();
  if (reader.ok() && version != kVersion) {
    return Fail(Code::kCorrupt, "position: version " + std::to_string(version) + " is not 1");
  }
  Position position;
  position.next_offset = reader.Get<int64_t>();
  position.partition_time = {reader.Get<int64_t>()};
  position.anchor.offset = reader.Get<int64_t>();
  position.anchor.timestamp = {reader.Get<int64_t>()};
  position.anchor.hash = reader.Get<uint64_t>();
  const auto ranges = reader.Get<uint16_t>();
  for (uint32_t i = 0; i < ranges && reader.ok(); ++i) {
    LostRange range;
    range.from = reader.Get<int64_t>();
    range.to = reader.Get<int64_t>();
    range.noticed_at = {reader.Get<int64_t>()};
    position.lost_ranges.push_back(range);
  }
  if (!reader.Complete() || ranges > kLostRangesMax) {
    return Fail(Code::kCorrupt,
                "position: " + std::to_string(bytes.size()) + " bytes that are not a position");
  }
  return position;
}

std::string EncodeWholeness(const std::vector<FilterWholeness>& filters) {
  std::string out;
  PutLittleEndian(kWholenessVersion, out);
  PutLittleEndian(static_cast<uint16_t>(filters.size()), out);
  for (const FilterWholeness& filter : filters) {
    PutLittleEndian(filter.filter.number(), out);
    PutLittleEndian(filter.complete_since.value, out);
    PutLittleEndian(static_cast<uint8_t>(filter.awaits_record ? 1 : 0), out);
    PutLittleEndian(filter.window_days, out);
    PutLittleEndian(static_cast<uint8_t>(filter.last_published), out);
  }
  return out;
}

Result<std::vector<FilterWholeness>> DecodeWholeness(std::string_view bytes) {
  FieldReader reader(bytes);
  const auto version = reader.Get<uint8_t>();
  const auto count = reader.Get<uint16_t>();
  std::vector<FilterWholeness> filters;
  bool in_range = version == kWholenessVersion;
  for (uint32_t i = 0; i < count && reader.ok() && in_range; ++i) {
    FilterWholeness filter;
    filter.filter = FilterId(size_t{reader.Get<uint16_t>()});
    filter.complete_since = {reader.Get<int64_t>()};
    const auto awaits_record = reader.Get<uint8_t>();
    filter.awaits_record = awaits_record == 1;
    filter.window_days = reader.Get<int32_t>();
    const auto last_published = reader.Get<uint8_t>();
    filter.last_published = static_cast<LastPublished>(last_published);
    in_range = awaits_record <= 1 && last_published <= static_cast<uint8_t>(LastPublished::kKept) &&
               (filters.empty() || filters.back().filter < filter.filter);
    filters.push_back(filter);
  }
  if (!in_range || !reader.Complete()) {
    return Fail(Code::kCorrupt, "wholeness: " + std::to_string(bytes.size()) +
                                    " bytes that are not the wholeness of filters");
  }
  return filters;
}

}  // namespace seen
