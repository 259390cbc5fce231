#include "unit/filter/golden_bytes.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>

#include "base/result.h"
#include "unit/filter/reference_bloom.h"

namespace seen::golden {
namespace {

uint64_t RangeOf(uint64_t x, uint64_t n) { return (x * n) >> 32; }
uint64_t Ones(uint32_t bits) { return (uint64_t{1} << bits) - 1; }

std::string Finished(BitString bits, Padding padding) {
  if (padding == Padding::kOnes) bits.Pad();
  return bits.bytes();
}

struct CuckooEntry {
  uint64_t entry = 0, number = 0;
};

/// All places of all buckets; an item's number is its place in `items`.
std::vector<CuckooEntry> CuckooEntries(uint32_t entry_bits, uint64_t buckets,
                                       std::span<const Fingerprint> items) {
  std::vector<CuckooEntry> places(4 * buckets);
  for (size_t number = 0; number < items.size(); ++number) {
    const uint64_t h = reference::HashOf(items[number]);
    const uint64_t entry = RangeOf(h & Ones(32), Ones(entry_bits)) + 1;
    const uint64_t first = RangeOf(h >> 32, buckets);
    const uint64_t second = (RangeOf(entry * 0x9e3779b1 & Ones(32), buckets) + buckets - first) % buckets;
    bool placed = false;
    for (const uint64_t bucket : {first, second}) {
      for (uint64_t i = 4 * bucket; i < 4 * bucket + 4 && !placed; ++i) {
        placed = places[i].entry == 0;
        if (placed) places[i] = {entry, number};
      }
    }
    Check(placed, "a golden cuckoo filter has room for all its items");
  }
  return places;
}

}  // namespace

std::string Sealed(std::string bytes) {
  const uint32_t checksum = reference::Checksum(bytes);
  return Changed(std::move(bytes), 52, checksum);
}

std::string Enveloped(const SnapshotMeta& meta, std::string_view payload, std::string_view more_header) {
  std::string bytes = Fields()
                          .Add("SEEN")
                          .U8(1)
                          .U8(static_cast<uint8_t>(meta.format))
                          .U8(1)
                          .U8(0)
                          .U32(56 + more_header.size())
                          .U32(meta.item_count)
                          .U64(static_cast<uint64_t>(meta.as_of.value))
                          .U32(static_cast<uint32_t>(meta.horizon.since_epoch))
                          .U32(static_cast<uint32_t>(meta.partition))
                          .U64(static_cast<uint64_t>(meta.input_offset))
                          .U64(std::bit_cast<uint64_t>(meta.false_positive_rate))
                          .U32(payload.size())
                          .U32(0);
  bytes += more_header;
  bytes += payload;
  return Sealed(std::move(bytes));
}

std::string Enveloped(const SnapshotMeta& meta, std::string_view payload, const SecondFilter& similar,
                      uint8_t reserved) {
  const std::string fields = Fields()
                                 .U32(similar.payload.size())
                                 .U8(static_cast<uint8_t>(similar.format))
                                 .Add(std::string(3, static_cast<char>(reserved)))
                                 .U32(similar.count)
                                 .Add(std::string(4, static_cast<char>(reserved)));
  std::string both(payload);
  both += similar.payload;
  return Patched(Enveloped(meta, both, fields), 7, uint8_t{1});
}

SnapshotMeta UsualMeta(SnapshotFormat format, size_t item_count, double rate) {
  return {format, static_cast<uint32_t>(item_count), {1763700000123}, {20383}, 3, 123456789, rate};
}

std::string DLeftPayload(const DLeftShape& shape, std::span<const CountedItem> items, Padding padding) {
  constexpr std::array<uint64_t, 4> kMultipliers = {0x9e3779b1, 0x85ebca77, 0xc2b2ae3d, 0x27d4eb2f};
  const uint64_t buckets = shape.buckets;
  struct Cell {
    uint64_t remainder;
    uint32_t count;
  };
  std::vector<std::vector<Cell>> all(4 * buckets);
  for (const CountedItem& item : items) {
    const uint64_t h = reference::HashOf(item.fingerprint);
    const uint64_t remainder = h & Ones(shape.remainder_bits);
    size_t least = 0;
    for (size_t table = 0; table < 4; ++table) {
      const uint64_t shift = RangeOf((remainder + 1) * kMultipliers[table] & Ones(32), buckets);
      const size_t bucket = table * buckets + (RangeOf(h >> 32, buckets) + shift) % buckets;
      if (table == 0 || all[bucket].size() < all[least].size()) least = bucket;
    }
    all[least].push_back({remainder, item.count});
    Check(all[least].size() <= shape.cells, "a golden d-left filter has room for all its items");
  }
  BitString cells;
  for (std::vector<Cell>& bucket : all) {
    bucket.resize(shape.cells, Cell{0, 0});
    for (const Cell& cell : bucket) {
      cells.Append(cell.count, 2);
      cells.Append(cell.remainder, shape.remainder_bits);
    }
  }
  return Fields().U8(shape.remainder_bits).U8(shape.cells).U32(buckets).Add(Finished(cells, padding));
}

std::string QuotientPayload(uint32_t remainder_bits, uint32_t quotients, std::span<const Fingerprint> items,
                            RunOrder order, Padding padding, std::span<const Fingerprint> ghosts) {
  const auto key = [&](Fingerprint item) {
    const uint64_t y = (reference::HashOf(item) >> 32) * quotients;
    return std::pair(y >> 32, (y & Ones(32)) >> (32 - remainder_bits));
  };
  std::map<uint64_t, std::vector<uint64_t>> runs;
  for (const Fingerprint item : items) runs[key(item).first].push_back(key(item).second);
  std::vector<uint64_t> slots;
  std::vector<bool> taken;
  std::map<uint64_t, uint64_t> ends;  // the last slot of each quotient's run
  for (auto& [quotient, run] : runs) {
    std::sort(run.begin(), run.end());
    if (order == RunOrder::kDescending) std::reverse(run.begin(), run.end());
    slots.resize(std::max<size_t>(slots.size(), quotient));
    taken.resize(slots.size());
    slots.insert(slots.end(), run.begin(), run.end());
    taken.resize(slots.size(), true);
    ends[quotient] = slots.size() - 1;
  }
  slots.resize(std::max<size_t>(slots.size(), quotients));
  taken.resize(slots.size());
  for (const Fingerprint ghost : ghosts) {
    const auto [quotient, remainder] = key(ghost);
    if (quotient > 0 && !taken[quotient - 1]) slots[quotient - 1] = remainder;
  }
  Fields payload;
  payload.U8(remainder_bits).U32(quotients).U32(slots.size());
  for (uint64_t begin = 0; begin < slots.size(); begin += 64) {
    uint64_t offset = 0, occupied = 0, run_ends = 0;
    for (const auto& [quotient, end] : ends) {
      if (quotient < begin && end >= begin) offset = end + 1 - begin;
      if (quotient / 64 == begin / 64) occupied |= uint64_t{1} << (quotient % 64);
      if (end / 64 == begin / 64) run_ends |= uint64_t{1} << (end % 64);
    }
    BitString remainders;
    for (uint64_t slot = begin; slot < std::min<uint64_t>(begin + 64, slots.size()); ++slot)
      remainders.Append(slots[slot], remainder_bits);
    payload.U16(offset).U64(occupied).U64(run_ends).Add(Finished(remainders, padding));
  }
  return payload;
}

std::string CuckooPayload(uint32_t entry_bits, uint32_t buckets, std::span<const Fingerprint> items,
                          Padding padding) {
  BitString entries;
  for (const CuckooEntry& place : CuckooEntries(entry_bits, buckets, items))
    entries.Append(place.entry, entry_bits);
  return Fields().U8(entry_bits).U32(buckets).Add(Finished(entries, padding));
}

std::string IndexedPayload(const IndexedShape& shape, std::span<const Fingerprint> by_number,
                           Padding padding) {
  const uint64_t first_number = uint64_t{shape.next} - by_number.size();
  BitString entries;
  for (const CuckooEntry& place : CuckooEntries(shape.entry_bits, shape.buckets, by_number)) {
    entries.Append(place.entry, shape.entry_bits);
    entries.Append(place.entry == 0 ? 0 : first_number + place.number, shape.number_bits);
  }
  Fields payload;
  payload.U8(shape.entry_bits).U8(shape.number_bits).U32(shape.buckets).U32(shape.next).U32(shape.capacity);
  payload.U16(shape.rows.size());
  for (const IndexedRow& row : shape.rows)
    payload.U32(static_cast<uint32_t>(row.day.since_epoch)).U32(row.first_number);
  return payload.Add(Finished(entries, padding));
}

std::string ChainPayload(std::span<const ChainRow> rows) {
  Fields payload;
  payload.U32(rows.size());
  for (const ChainRow& row : rows) {
    payload.U32(static_cast<uint32_t>(row.day.since_epoch)).U32(row.items.size());
    payload.U32(row.first_second).U32(row.last_second).U32(row.blocks);
  }
  for (const ChainRow& row : rows) payload.Add(reference::Blocks(row.items, row.blocks));
  return payload;
}

std::string FingerprintsPayload(uint32_t k, std::span<const Fingerprint> values) {
  BitString code;
  uint64_t smallest = 0;
  for (const Fingerprint value : values) {
    const uint64_t gap = value.value - smallest;
    for (uint64_t zeros = gap >> k; zeros > 0; --zeros) code.Append(0, 1);
    code.Append(1, 1);
    code.Append(gap, k);
    smallest = uint64_t{value.value} + 1;
  }
  return Fields().U8(k).U32(values.size()).Add(code.bytes());
}

std::vector<Fingerprint> PrintsOf(std::span<const std::string> ids) {
  std::vector<Fingerprint> prints;
  for (const std::string& id : ids) prints.push_back(FingerprintOf(id));
  return prints;
}

std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      constexpr std::string_view kHex = "0123456789abcdef";
      quoted += "\\u00";
      quoted += kHex[static_cast<size_t>(c) >> 4];
      quoted += kHex[static_cast<size_t>(c) & 15];
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

std::string List(const std::vector<std::string>& ids) { return "[" + Joined(ids, ",", Quoted) + "]"; }

uint64_t RecallSize(const SnapshotMeta& meta, int64_t want, uint64_t also_seen) {
  if (want <= 0) return 0;
  const double p = meta.false_positive_rate, n = static_cast<double>(want);
  return meta.item_count + also_seen + static_cast<uint64_t>(std::ceil((n + 3 * std::sqrt(n * p)) / (1 - p)));
}

}  // namespace seen::golden
