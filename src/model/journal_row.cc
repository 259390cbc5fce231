#include "model/journal_row.h"

#include <algorithm>

#include "model/delta_view.h"

namespace seen {
namespace {

using delta_bytes::PutVarint;

constexpr uint8_t kVersion = 1;
constexpr uint8_t kHasScene = 1, kHasRequestId = 2, kHasPositions = 4;

uint64_t ZigZag(int64_t value) {
  return (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
}
int64_t FromZigZag(uint64_t value) { return static_cast<int64_t>(value >> 1 ^ (~(value & 1) + 1)); }

void PutText(std::string_view text, std::string& out) {
  PutVarint(text.size(), out);
  out.append(text);
}

std::string_view Shortened(std::string_view text) {
  if (text.size() <= kJournalTextBytesMax) return text;
  size_t size = kJournalTextBytesMax;
  while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xc0u) == 0x80u) --size;
  return text.substr(0, size);
}

class Reader {
 public:
  explicit Reader(std::string_view bytes) : left_(bytes) {}

  bool Byte(uint8_t& value) {
    if (left_.empty()) return false;
    value = static_cast<uint8_t>(left_.front());
    left_.remove_prefix(1);
    return true;
  }
  // The shortest form only.
  bool Varint(uint64_t& value) {
    value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      uint8_t byte = 0;
      if (!Byte(byte)) return false;
      if (shift == 63 && byte > 1) return false;
      value |= uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return byte != 0 || shift == 0;
    }
    return false;
  }
  bool Text(std::string_view& text) {
    uint64_t size = 0;
    if (!Varint(size) || size > left_.size()) return false;
    text = left_.substr(0, size);
    left_.remove_prefix(size);
    return true;
  }
  size_t left() const { return left_.size(); }

 private:
  std::string_view left_;
};

bool ReadFilters(Reader& reader, std::vector<FilterId>& filters) {
  uint64_t count = 0;
  if (!reader.Varint(count) || count == 0 || count > reader.left()) return false;
  uint64_t next = 0;  // the least number that the next filter may have
  for (; count > 0; --count) {
    uint64_t gap = 0;
    if (!reader.Varint(gap) || gap > 0xffff || next + gap > 0xffff) return false;
    filters.push_back(FilterId(next + gap));
    next += gap + 1;
  }
  return true;
}

bool ReadItems(Reader& reader, bool positions, std::vector<JournalItem>& items) {
  uint64_t count = 0;
  if (!reader.Varint(count) || count == 0 || count > reader.left()) return false;
  bool any = false;
  int64_t expected = 0;
  items.reserve(count);
  for (; count > 0; --count) {
    JournalItem item;
    if (!reader.Text(item.item_id)) return false;
    uint64_t coded = 0;
    if (positions && !reader.Varint(coded)) return false;
    if (coded > 0) {
      const int64_t difference = FromZigZag(coded - 1);
      if (difference > 2 * kJournalPositionMax || difference < -2 * kJournalPositionMax - 1) return false;
      item.position = expected + difference;
      if (*item.position > kJournalPositionMax || *item.position < -kJournalPositionMax) return false;
      expected = *item.position + 1;
      any = true;
    }
    items.push_back(item);
  }
  return any == positions;
}

}  // namespace

void EncodeJournalRow(const JournalRow& row, std::string& out) {
  const bool positions = std::any_of(row.items.begin(), row.items.end(),
                                     [](const JournalItem& item) { return item.position.has_value(); });
  const int flags = (row.scene.empty() ? 0 : kHasScene) | (row.request_id.empty() ? 0 : kHasRequestId) |
                    (positions ? kHasPositions : 0);
  out.push_back(static_cast<char>(kVersion << 4 | flags));
  out.push_back(static_cast<char>(row.kind));
  PutVarint(row.filters.size(), out);
  uint32_t next = 0;
  for (const FilterId filter : row.filters) {
    PutVarint(filter.number() - next, out);
    next = filter.number() + 1u;
  }
  if (!row.scene.empty()) PutText(Shortened(row.scene), out);
  if (!row.request_id.empty()) PutText(Shortened(row.request_id), out);
  PutVarint(row.items.size(), out);
  int64_t expected = 0;
  for (const JournalItem& item : row.items) {
    PutText(item.item_id, out);
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
  uint8_t head = 0;
  if (!reader.Byte(head) || head >> 4 != kVersion || (head & 0x8u) != 0 || !reader.Byte(row.kind))
    return false;
  if (!ReadFilters(reader, row.filters)) return false;
  if ((head & kHasScene) != 0 && (!reader.Text(row.scene) || row.scene.empty())) return false;
  if ((head & kHasRequestId) != 0 && (!reader.Text(row.request_id) || row.request_id.empty())) return false;
  return ReadItems(reader, (head & kHasPositions) != 0, row.items) && reader.left() == 0;
}

}  // namespace seen
