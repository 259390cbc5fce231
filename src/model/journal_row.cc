#include "model/journal_row.h"

#include <algorithm>
#include <limits>

#include "model/delta_reader.h"
#include "model/delta_view.h"

namespace seen {
namespace {

using delta_bytes::kMax32;
using delta_bytes::PutVarint;
using delta_bytes::Reader;
using delta_bytes::ZigZag;

constexpr uint8_t kRowVersion = 1;
constexpr uint64_t kFilterMax = 0xffff;
constexpr uint64_t kMax63 = std::numeric_limits<int64_t>::max();
constexpr uint8_t kHasScene = 1, kHasRequestId = 2, kHasPositions = 4;

int64_t FromZigZag(uint64_t value) { return static_cast<int64_t>(value >> 1 ^ (~(value & 1) + 1)); }

void PutRowText(std::string_view text, std::string& out) {
  PutVarint(text.size(), out);
  out.append(text);
}

std::string_view Shortened(std::string_view text) {
  if (text.size() <= kJournalTextBytesMax) return text;
  size_t size = kJournalTextBytesMax;
  while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xc0u) == 0x80u) --size;
  return text.substr(0, size);
}

std::string_view ReadText(Reader& reader) { return reader.Bytes(reader.Varint(kMax32)); }

void ReadFilters(Reader& reader, std::vector<FilterId>& filters) {
  const uint64_t count = reader.Varint(reader.left());
  reader.Require(count > 0);
  uint64_t next = 0;  // the least number that the next filter may have
  for (uint64_t i = 0; i < count && reader.ok(); ++i) {
    const uint64_t number = next + reader.Varint(kFilterMax);
    reader.Require(number <= kFilterMax);
    filters.push_back(FilterId(number));
    next = number + 1;
  }
}

void ReadItems(Reader& reader, bool positions, std::vector<JournalItem>& items) {
  const uint64_t count = reader.Varint(reader.left());
  reader.Require(count > 0);
  bool any = false;
  int64_t expected = 0;
  items.reserve(count);
  for (uint64_t i = 0; i < count && reader.ok(); ++i) {
    JournalItem& item = items.emplace_back();
    item.item_id = ReadText(reader);
    const uint64_t coded = positions ? reader.Varint(kMax63) : 0;
    if (coded == 0) continue;
    const int64_t difference = FromZigZag(coded - 1);
    reader.Require(difference <= 2 * kJournalPositionMax && difference >= -2 * kJournalPositionMax - 1);
    if (!reader.ok()) return;
    item.position = expected + difference;
    reader.Require(*item.position <= kJournalPositionMax && *item.position >= -kJournalPositionMax);
    expected = *item.position + 1;
    any = true;
  }
  reader.Require(any == positions);
}

}  // namespace

void EncodeJournalRow(const JournalRow& row, std::string& out) {
  const bool positions = std::any_of(row.items.begin(), row.items.end(),
                                     [](const JournalItem& item) { return item.position.has_value(); });
  const int flags = (row.scene.empty() ? 0 : kHasScene) | (row.request_id.empty() ? 0 : kHasRequestId) |
                    (positions ? kHasPositions : 0);
  out.push_back(static_cast<char>(kRowVersion << 4 | flags));
  out.push_back(static_cast<char>(row.kind));
  PutVarint(row.filters.size(), out);
  uint32_t next = 0;
  for (const FilterId filter : row.filters) {
    PutVarint(filter.number() - next, out);
    next = filter.number() + 1u;
  }
  if (!row.scene.empty()) PutRowText(Shortened(row.scene), out);
  if (!row.request_id.empty()) PutRowText(Shortened(row.request_id), out);
  PutVarint(row.items.size(), out);
  int64_t expected = 0;
  for (const JournalItem& item : row.items) {
    PutRowText(item.item_id, out);
    if (!positions) continue;
    if (!item.position) {
      PutVarint(0, out);
      continue;
    }
    const int64_t position = std::clamp(*item.position, -kJournalPositionMax, kJournalPositionMax);
    PutVarint(ZigZag(position - expected) + 1, out);
    expected = position + 1;
  }
}

bool DecodeJournalRow(std::string_view bytes, JournalRow& row) {
  row.filters.clear();
  row.items.clear();
  row.scene = row.request_id = {};
  Reader reader(bytes);
  const uint8_t head = reader.Byte();
  reader.Require(head >> 4 == kRowVersion && (head & 0x8u) == 0);
  row.kind = reader.Byte();
  ReadFilters(reader, row.filters);
  if ((head & kHasScene) != 0) reader.Require(!(row.scene = ReadText(reader)).empty());
  if ((head & kHasRequestId) != 0) reader.Require(!(row.request_id = ReadText(reader)).empty());
  ReadItems(reader, (head & kHasPositions) != 0, row.items);
  return reader.ok() && reader.AtEnd();
}

}  // namespace seen
