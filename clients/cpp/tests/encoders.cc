#include "encoders.h"

#include <algorithm>
#include <cstring>
#include <set>

namespace seen::client::test {
namespace {

constexpr std::uint32_t kSalts[8] = {0x47b6137bU, 0x44974d91U, 0x8824ad5bU, 0xa2b7289dU,
                                     0x705495c7U, 0x2df1424bU, 0x9efc4947U, 0x5c6bfb31U};

/// By the library, where the reader has a short cut of its own.
std::uint64_t HashOf(Fingerprint fingerprint) {
  std::string bytes;
  Put(bytes, static_cast<std::uint32_t>(fingerprint));
  return XXH64(bytes.data(), bytes.size(), 0);
}

std::uint32_t Hi(std::uint64_t h) { return static_cast<std::uint32_t>(h >> 32); }
std::uint32_t Lo(std::uint64_t h) { return static_cast<std::uint32_t>(h); }
std::uint64_t Range(std::uint64_t x, std::uint64_t n) { return (x * n) >> 32; }

std::string Joined(std::string fields, const BitString& bits) { return fields + bits.bytes(); }

}  // namespace

void BitString::Append(std::uint64_t value, unsigned width) {
  for (unsigned j = 0; j < width; ++j, ++bits_) {
    if (bits_ % 8 == 0) bytes_ += '\0';
    if ((value >> j & 1) != 0) bytes_.back() = static_cast<char>(bytes_.back() | 1 << bits_ % 8);
  }
}

void BitString::Set(std::size_t at, std::uint64_t value, unsigned width) {
  for (unsigned j = 0; j < width; ++j) {
    char& byte = bytes_.at((at + j) / 8);
    const int bit = 1 << (at + j) % 8;
    byte = static_cast<char>((value >> j & 1) != 0 ? byte | bit : byte & ~bit);
  }
}

std::uint64_t BitString::Get(std::size_t at, unsigned width) const {
  std::uint64_t value = 0;
  for (unsigned j = 0; j < width; ++j) {
    const auto byte = static_cast<unsigned char>(bytes_.at((at + j) / 8));
    value |= std::uint64_t{byte >> (at + j) % 8 & 1U} << j;
  }
  return value;
}

std::string Signed(std::string bytes) {
  const std::string covered = bytes.substr(0, 52) + bytes.substr(56);
  std::string checksum;
  Put(checksum, static_cast<std::uint32_t>(XXH64(covered.data(), covered.size(), 0)));
  return bytes.replace(52, 4, checksum);
}

std::string Envelope(Format format, std::string_view payload, const Header& header) {
  std::string bytes = "SEEN";
  Put(bytes, std::uint8_t{1});
  Put(bytes, static_cast<std::uint8_t>(format));
  Put(bytes, std::uint16_t{1});
  Put(bytes, std::uint32_t{56});
  Put(bytes, header.item_count);
  Put(bytes, header.as_of_ms);
  Put(bytes, header.horizon_day);
  Put(bytes, header.partition);
  Put(bytes, header.input_offset);
  std::uint64_t rate = 0;
  std::memcpy(&rate, &header.false_positive_rate, sizeof(rate));
  Put(bytes, rate);
  Put(bytes, static_cast<std::uint32_t>(payload.size()));
  Put(bytes, std::uint32_t{0});
  return Signed(bytes.append(payload));
}

std::string WithSimilar(std::string snapshot, Format similar_format, std::string_view payload) {
  std::string fields, header_bytes, payload_bytes;
  Put(fields, static_cast<std::uint32_t>(payload.size()));
  Put(fields, static_cast<std::uint32_t>(similar_format));  // with the three bytes of 0
  Put(fields, std::uint64_t{12});                           // a count that nothing goes by
  Put(header_bytes, std::uint32_t{72});
  Put(payload_bytes, static_cast<std::uint32_t>(snapshot.size() - 56 + payload.size()));
  snapshot[7] = 1;
  snapshot.replace(8, 4, header_bytes).replace(48, 4, payload_bytes).insert(56, fields).append(payload);
  return Signed(std::move(snapshot));
}

std::string SplitBlockBloomPayload(const Items& items, std::uint32_t blocks) {
  BitString bits(std::size_t{blocks} * 256);
  for (const Fingerprint item : items) {
    const std::uint64_t h = HashOf(item);
    for (std::size_t i = 0; i < 8; ++i)
      bits.Set(Range(Hi(h), blocks) * 256 + 32 * i + ((Lo(h) * kSalts[i]) >> 27), 1, 1);
  }
  return bits.bytes();
}

namespace {

std::string BloomOf(const Items& items, unsigned k, std::size_t bytes, unsigned cell_bits) {
  BitString cells(8 * (bytes - 1));
  for (const Fingerprint item : items) {
    std::uint64_t g = HashOf(item);
    for (unsigned i = 0; i < k; ++i, g *= 0xd1342543de82ef95U) {
      const std::size_t at = Range(Hi(g), cells.bits() / cell_bits) * cell_bits;
      cells.Set(at, std::min<std::uint64_t>(cells.Get(at, cell_bits) + 1, (1U << cell_bits) - 1), cell_bits);
    }
  }
  return Joined(std::string(1, static_cast<char>(k)), cells);
}

}  // namespace

std::string BloomPayload(const Items& items, unsigned k, std::size_t bytes) {
  return BloomOf(items, k, bytes, 1);
}
std::string CountingBloomPayload(const Items& items, unsigned k, std::size_t bytes) {
  return BloomOf(items, k, bytes, 4);
}

std::string DLeftPayload(const Items& items, unsigned remainder_bits, unsigned cells) {
  constexpr std::uint32_t kMultipliers[4] = {0x9e3779b1U, 0x85ebca77U, 0xc2b2ae3dU, 0x27d4eb2fU};
  const unsigned width = remainder_bits + 2;
  for (std::uint32_t buckets = static_cast<std::uint32_t>(items.size() / (2 * cells) + 1);;
       buckets += buckets / 2 + 1) {
    BitString bits(std::size_t{4} * buckets * cells * width);
    const auto put = [&](Fingerprint item) {
      const std::uint64_t h = HashOf(item);
      const std::uint64_t remainder = Lo(h) & ((std::uint64_t{1} << remainder_bits) - 1);
      std::size_t free_at = 0, free_cells_most = 0;
      for (std::size_t i = 0; i < 4; ++i) {
        const std::size_t bucket =
            (Range(Hi(h), buckets) + Range(Lo((remainder + 1) * kMultipliers[i]), buckets)) % buckets;
        std::size_t free_cells = 0, last_free = 0;
        for (std::size_t j = 0; j < cells; ++j) {
          const std::size_t at = ((i * buckets + bucket) * cells + j) * width;
          const std::uint64_t count = bits.Get(at, 2);
          if (count > 0 && bits.Get(at + 2, remainder_bits) == remainder) {
            bits.Set(at, std::min<std::uint64_t>(count + 1, 3), 2);
            return true;
          }
          if (count == 0) last_free = at, ++free_cells;
        }
        if (free_cells > free_cells_most) free_cells_most = free_cells, free_at = last_free;
      }
      if (free_cells_most == 0) return false;
      bits.Set(free_at, 1 | remainder << 2, width);
      return true;
    };
    if (!std::all_of(items.begin(), items.end(), put)) continue;
    std::string fields{static_cast<char>(remainder_bits), static_cast<char>(cells)};
    Put(fields, buckets);
    return Joined(fields, bits);
  }
}

std::string QuotientPayload(const Items& items, unsigned remainder_bits, std::uint32_t quotients) {
  std::multiset<std::pair<std::size_t, std::uint64_t>> sorted;
  for (const Fingerprint item : items) {
    const std::uint64_t y = std::uint64_t{Hi(HashOf(item))} * quotients;
    sorted.emplace(y >> 32, Lo(y) >> (32 - remainder_bits));
  }
  std::vector<std::uint64_t> remainders;
  std::vector<std::pair<std::size_t, std::size_t>> runs;  // quotient, its last slot
  for (const auto& [quotient, remainder] : sorted) {
    const bool new_run = runs.empty() || runs.back().first != quotient;
    if (new_run) remainders.resize(std::max(remainders.size(), quotient));
    remainders.push_back(remainder);
    if (new_run) runs.emplace_back(quotient, 0);
    runs.back().second = remainders.size() - 1;
  }
  const std::size_t slots = std::max<std::size_t>(quotients, remainders.size());
  remainders.resize(slots);
  std::string payload(1, static_cast<char>(remainder_bits));
  Put(payload, quotients);
  Put(payload, static_cast<std::uint32_t>(slots));
  for (std::size_t first = 0; first < slots; first += 64) {
    std::uint64_t offset = 0, occupied = 0, ends = 0;
    for (const auto& [quotient, end] : runs) {
      if (quotient < first && end >= first) offset = end + 1 - first;
      if (quotient >= first && quotient < first + 64) occupied |= std::uint64_t{1} << (quotient - first);
      if (end >= first && end < first + 64) ends |= std::uint64_t{1} << (end - first);
    }
    Put(payload, static_cast<std::uint16_t>(offset));
    Put(payload, occupied);
    Put(payload, ends);
    BitString bits;
    for (std::size_t i = first; i < std::min(first + 64, slots); ++i)
      bits.Append(remainders[i], remainder_bits);
    payload += bits.bytes();
  }
  return payload;
}

namespace {

/// Places of a cuckoo filter: an entry and what goes with it.
using CuckooTable = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

std::uint32_t EntryOf(std::uint64_t h, unsigned entry_bits) {
  return static_cast<std::uint32_t>(Range(Lo(h), (std::uint64_t{1} << entry_bits) - 1) + 1);
}

bool CuckooPut(CuckooTable& table, std::uint64_t h, unsigned entry_bits, std::uint32_t with) {
  const std::uint64_t buckets = table.size() / 4;
  std::pair<std::uint32_t, std::uint32_t> item = {EntryOf(h, entry_bits), with};
  std::uint64_t bucket = Range(Hi(h), buckets);
  for (std::uint32_t kick = 0; kick < 500; ++kick) {
    for (std::size_t i = 0; i < 4; ++i) {
      auto& place = table[4 * bucket + i];
      if (place.first == 0) return place = item, true;
    }
    if (kick > 0) std::swap(item, table[4 * bucket + kick * 7919 / 16 % 4]);
    bucket = (Range(Lo(std::uint64_t{item.first} * 0x9e3779b1U), buckets) + buckets - bucket) % buckets;
  }
  return false;
}

/// `put(table)` until it succeeds, each time with more buckets.
template <typename PutAll>
CuckooTable CuckooOf(std::size_t items, PutAll put) {
  for (std::size_t buckets = items * 10 / 36 + 1;; buckets += buckets / 8 + 1) {
    CuckooTable table(4 * buckets);
    if (put(table)) return table;
  }
}

}  // namespace

std::string CuckooPayload(const Items& items, unsigned entry_bits) {
  const CuckooTable table = CuckooOf(items.size(), [&](CuckooTable& places) {
    return std::all_of(items.begin(), items.end(),
                       [&](Fingerprint item) { return CuckooPut(places, HashOf(item), entry_bits, 0); });
  });
  std::string fields(1, static_cast<char>(entry_bits));
  Put(fields, static_cast<std::uint32_t>(table.size() / 4));
  BitString bits;
  for (const auto& place : table) bits.Append(place.first, entry_bits);
  return Joined(fields, bits);
}

std::string IndexedCuckooPayload(std::vector<DayOfItems> days, unsigned entry_bits, unsigned number_bits,
                                 std::uint32_t first_number, std::uint32_t capacity) {
  std::string rows;
  Items in_order;
  for (DayOfItems& day : days) {
    Put(rows, day.day);
    Put(rows, first_number + static_cast<std::uint32_t>(in_order.size()));
    std::sort(day.items.begin(), day.items.end());
    in_order.insert(in_order.end(), day.items.begin(), day.items.end());
  }
  const CuckooTable table = CuckooOf(in_order.size(), [&](CuckooTable& places) {
    std::uint32_t number = first_number;
    return std::all_of(in_order.begin(), in_order.end(), [&](Fingerprint item) {
      return CuckooPut(places, HashOf(item), entry_bits, number++);
    });
  });
  std::string fields{static_cast<char>(entry_bits), static_cast<char>(number_bits)};
  Put(fields, static_cast<std::uint32_t>(table.size() / 4));
  Put(fields, first_number + static_cast<std::uint32_t>(in_order.size()));
  Put(fields, capacity);
  Put(fields, static_cast<std::uint16_t>(days.size()));
  BitString bits;
  for (const auto& [entry, number] : table) {
    bits.Append(entry, entry_bits);
    bits.Append(number, number_bits);
  }
  return Joined(fields + rows, bits);
}

std::string DayChainPayload(const std::vector<DayOfItems>& days, std::uint32_t blocks) {
  std::string payload, filters;
  Put(payload, static_cast<std::uint32_t>(days.size()));
  for (const DayOfItems& day : days) {
    Put(payload, day.day);
    Put(payload, static_cast<std::uint32_t>(day.items.size()));
    Put(payload, day.first_second);
    Put(payload, day.last_second);
    Put(payload, blocks);
    filters += SplitBlockBloomPayload(day.items, blocks);
  }
  return payload + filters;
}

std::string FingerprintsPayload(Items items, unsigned k) {
  std::sort(items.begin(), items.end());
  std::string payload(1, static_cast<char>(k));
  Put(payload, static_cast<std::uint32_t>(items.size()));
  BitString bits;
  std::uint64_t smallest = 0;
  for (const Fingerprint item : items) {
    const std::uint64_t gap = static_cast<std::uint32_t>(item) - smallest;
    for (std::uint64_t i = 0; i < gap >> k; ++i) bits.Append(0, 1);
    bits.Append(1, 1);
    bits.Append(gap, k);
    smallest = static_cast<std::uint32_t>(item) + std::uint64_t{1};
  }
  return Joined(payload, bits);
}

std::string SnapshotOf(Format format, const Items& items) {
  const auto count = static_cast<std::uint32_t>(items.size());
  const auto half = items.begin() + static_cast<std::ptrdiff_t>(items.size() / 2);
  const DayOfItems older = {20400, 1762560000, 1762646399, Items(items.begin(), half)};
  const DayOfItems newer = {20401, 1762646400, 1762732799, Items(half, items.end())};
  const auto payload = [&]() -> std::string {
    switch (format) {
      case Format::kSplitBlockBloom:
        return SplitBlockBloomPayload(items, count / 20 + 1);
      case Format::kBloom:
        return BloomPayload(items, 7, count * 10 / 8 + 2);
      case Format::kCountingBloom:
        return CountingBloomPayload(items, 7, count * 5 + 2);
      case Format::kDLeft:
        return DLeftPayload(items, 11, 8);
      case Format::kQuotient:
        return QuotientPayload(items, 7, count + count / 8 + 1);
      case Format::kCuckoo:
        return CuckooPayload(items, 10);
      case Format::kIndexedCuckoo:
        return IndexedCuckooPayload({older, newer}, 10, 13, 0xfffffff0U, count);
      case Format::kBinaryFuse8:
        return BinaryFusePayload(items, 1);
      case Format::kBinaryFuse16:
        return BinaryFusePayload(items, 2);
      case Format::kDayChain:
        return DayChainPayload({newer, older}, count / 40 + 1);
      case Format::kFingerprints: {
        unsigned k = 0;
        while (k < 31 && (std::uint64_t{1} << (k + 1)) * (count + 1) <= 0xffffffffU) ++k;
        return FingerprintsPayload(items, k);
      }
    }
    return {};
  };
  Header header;
  header.item_count = count;
  return Envelope(format, payload(), header);
}

Items Numbered(std::string_view prefix, int count) {
  std::set<Fingerprint> items;
  for (int i = 0; i < count; ++i) items.insert(FingerprintOf(std::string(prefix) + std::to_string(i)));
  return {items.begin(), items.end()};
}

}  // namespace seen::client::test
