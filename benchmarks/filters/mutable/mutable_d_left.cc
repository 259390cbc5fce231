#include "filters/mutable/mutable_d_left.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

namespace seen {
namespace {

using d_left::Geometry;
using d_left::kTables;
using d_left::Value;

struct Cell {
  uint32_t count = 0;
  uint32_t remainder = 0;
};

struct Place {
  uint64_t at;  // the cell's first bit
  Cell cell;
};

Cell GetCell(const Geometry& geometry, std::span<const char> cells, uint64_t at) {
  const std::string_view bytes(cells.data(), cells.size());
  return {GetBits(bytes, at, 2), GetBits(bytes, at + 2, geometry.remainder_bits)};
}

/// The one cell that has the value, if any. The value of another item never leads to the same cell.
std::optional<Place> Find(const Geometry& geometry, std::span<const char> cells, const Value& value) {
  for (uint32_t table = 0; table < kTables; ++table) {
    const uint64_t bucket = geometry.BucketOf(value, table);
    for (uint32_t i = 0; i < geometry.cells; ++i) {
      const uint64_t at = geometry.CellAt(bucket, i);
      const Cell cell = GetCell(geometry, cells, at);
      if (cell.count > 0 && cell.remainder == value.remainder) return Place{at, cell};
    }
  }
  return std::nullopt;
}

}  // namespace

MutableDLeft::MutableDLeft(size_t count, double rate) : geometry_(d_left::SizeFor(count, rate, 1e-6)) {
  d_left::AppendFields(geometry_, payload_);
  payload_.resize(d_left::kFieldsOfPayload + geometry_.Bytes());
}

bool MutableDLeft::Insert(Fingerprint fingerprint) { return Add(geometry_.ValueOf(HashOf(fingerprint)), 1); }

bool MutableDLeft::Add(const Value& value, uint32_t count) {
  if (const auto place = Find(geometry_, Cells(), value)) {
    const uint32_t sum = std::min(place->cell.count + count, d_left::kCountMax);
    d_left::PutCell(geometry_, Cells(), place->at, sum, value.remainder);
    return true;
  }
  uint32_t fewest = geometry_.cells;
  uint64_t free_at = 0;
  for (uint32_t table = 0; table < kTables; ++table) {
    const uint64_t bucket = geometry_.BucketOf(value, table);
    uint32_t taken = 0;
    uint64_t free = 0;
    for (uint32_t i = geometry_.cells; i > 0; --i) {
      const uint64_t at = geometry_.CellAt(bucket, i - 1);
      if (GetCell(geometry_, Cells(), at).count > 0) {
        ++taken;
      } else {
        free = at;
      }
    }
    if (taken >= fewest) continue;
    fewest = taken;
    free_at = free;
  }
  if (fewest == geometry_.cells) return false;
  d_left::PutCell(geometry_, Cells(), free_at, count, value.remainder);
  return true;
}

bool MutableDLeft::Remove(Fingerprint fingerprint) {
  const auto place = Find(geometry_, Cells(), geometry_.ValueOf(HashOf(fingerprint)));
  if (!place.has_value()) return false;
  Cell cell = place->cell;
  if (cell.count == d_left::kCountMax) return true;
  if (--cell.count == 0) cell.remainder = 0;
  d_left::PutCell(geometry_, Cells(), place->at, cell.count, cell.remainder);
  return true;
}

Status MutableDLeft::Merge(const MutableDLeft& other) {
  const auto name = [](const Geometry& geometry) {
    return std::to_string(geometry.buckets) + " buckets of " + std::to_string(geometry.cells) + " cells of " +
           std::to_string(geometry.CellBits()) + " bits";
  };
  if (!(geometry_ == other.geometry_)) {
    return Fail(Code::kInvalidArgument,
                "merge: " + name(other.geometry_) + " into " + name(geometry_) + "; both must have as many");
  }
  MutableDLeft merged = *this;
  const auto cells = std::span(other.payload_).subspan(d_left::kFieldsOfPayload);
  for (uint32_t table = 0; table < kTables; ++table) {
    for (uint32_t bucket = 0; bucket < geometry_.buckets; ++bucket) {
      for (uint32_t i = 0; i < geometry_.cells; ++i) {
        const uint64_t at = geometry_.CellAt(uint64_t{table} * geometry_.buckets + bucket, i);
        const Cell cell = GetCell(geometry_, cells, at);
        if (cell.count == 0) continue;
        const uint32_t shift = geometry_.ShiftOf(cell.remainder, table);
        const uint32_t first = bucket >= shift ? bucket - shift : bucket + (geometry_.buckets - shift);
        if (!merged.Add({first, cell.remainder}, cell.count)) {
          return Fail(Code::kInvalidArgument, "merge: the items of both don't fit into " + name(geometry_) +
                                                  "; make both filters for more items");
        }
      }
    }
  }
  *this = std::move(merged);
  return {};
}

}  // namespace seen
