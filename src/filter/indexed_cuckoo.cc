#include "filter/indexed_cuckoo.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "filter/bits.h"
#include "filter/cuckoo_build.h"

namespace seen {
namespace {

constexpr size_t kNumberBitsAt = 1, kIndexedBucketsAt = 2, kNextAt = 6, kCapacityAt = 10, kDaysAt = 14,
                 kIndexedFieldBytes = 16;
constexpr size_t kDayBytes = 8, kFirstNumberAt = 4;  // in a day's row

uint64_t IndexedBytes(CuckooShape shape, uint32_t number_bits, size_t days) {
  return kIndexedFieldBytes + kDayBytes * days +
         BytesOfBits(shape.Places() * (shape.entry_bits + number_bits));
}

}  // namespace

Result<IndexedCuckooView> IndexedCuckooView::Parse(std::string_view payload) {
  if (payload.size() < kIndexedFieldBytes) {
    return Malformed("indexed cuckoo filter: " + std::to_string(payload.size()) +
                     " bytes; the fields alone take 16");
  }
  IndexedCuckooView view;
  view.shape_ = {.entry_bits = static_cast<uint8_t>(payload[0]),
                 .buckets = GetInteger<uint32_t>(payload, kIndexedBucketsAt)};
  view.window_ = {.next = GetInteger<uint32_t>(payload, kNextAt),
                  .capacity = GetInteger<uint32_t>(payload, kCapacityAt),
                  .number_bits = static_cast<uint8_t>(payload[kNumberBitsAt])};
  const auto days = GetInteger<uint16_t>(payload, kDaysAt);
  const uint32_t entry_bits = view.shape_.entry_bits;
  const uint32_t number_bits = view.window_.number_bits;
  if (entry_bits < 2 || entry_bits > 32) {
    return Malformed("indexed cuckoo filter: f is " + std::to_string(entry_bits) + "; it must be 2 to 32");
  }
  if (number_bits < 1 || number_bits > 32) {
    return Malformed("indexed cuckoo filter: n is " + std::to_string(number_bits) + "; it must be 1 to 32");
  }
  if (view.shape_.buckets == 0)
    return Malformed("indexed cuckoo filter: it has no buckets; it must have one at least");
  if (view.window_.capacity > uint64_t{1} << number_bits) {
    return Malformed("indexed cuckoo filter: a capacity of " + std::to_string(view.window_.capacity) + "; " +
                     std::to_string(number_bits) + " bits number fewer items");
  }
  if (payload.size() != IndexedBytes(view.shape_, number_bits, days)) {
    return Malformed("indexed cuckoo filter: " + std::to_string(payload.size()) +
                     " bytes; by its fields it has " +
                     std::to_string(IndexedBytes(view.shape_, number_bits, days)));
  }
  view.days_ = payload.substr(kIndexedFieldBytes, kDayBytes * days);
  view.buckets_ = PackedBuckets(payload.substr(kIndexedFieldBytes + kDayBytes * days), entry_bits,
                                entry_bits + number_bits);
  return view;
}

template <typename Visit>
void IndexedCuckooView::ForEachLive(uint32_t first, uint32_t second, uint32_t entry, Visit visit) const {
  for (uint32_t i = 0; i < (first == second ? 1u : 2u); ++i) {
    const uint64_t start = uint64_t{i == 0 ? first : second} * kCuckooBucketPlaces;
    for (uint64_t place = start; place < start + kCuckooBucketPlaces; ++place) {
      if (buckets_.Entry(place) != entry) continue;
      const uint32_t number = buckets_.Rest(place, shape_.entry_bits);
      if (window_.Holds(number)) visit(number);
    }
  }
}

bool IndexedCuckooView::HasLive(uint32_t first, uint32_t second, uint32_t entry) const {
  bool found = false;
  ForEachLive(first, second, entry, [&](uint32_t) { found = true; });
  return found;
}

void IndexedCuckooView::MightContainEach(std::span<const Fingerprint> fingerprints,
                                         std::span<uint8_t> answers) const {
  Check(fingerprints.size() == answers.size(), "one answer for each fingerprint");
  const IndexedCuckooView view = *this;  // a copy in registers: `answers` could alias anything
  for (size_t i = 0; i < fingerprints.size(); ++i) answers[i] = view.MightContain(fingerprints[i]) ? 1 : 0;
}

IndexedItem IndexedCuckooView::ItemOf(uint32_t number) const {
  return IndexedItemOf(
      window_, number, days_.size() / kDayBytes,
      [&](size_t i) { return GetInteger<uint32_t>(days_, kDayBytes * i + kFirstNumberAt); },
      [&](size_t i) { return Day{GetInteger<int32_t>(days_, kDayBytes * i)}; });
}

IndexedItems IndexedCuckooView::Find(Fingerprint fingerprint) const {
  const uint64_t hash = HashOf(fingerprint);
  const uint32_t entry = shape_.EntryOf(hash);
  const uint32_t first = shape_.FirstOf(hash);
  IndexedItems items;
  ForEachLive(first, shape_.Other(first, entry), entry, [&](uint32_t number) { items.Add(ItemOf(number)); });
  return items;
}

uint32_t NumberBitsFor(size_t count) {
  return std::max<uint32_t>(1, count == 0 ? 0 : static_cast<uint32_t>(std::bit_width(count - 1)));
}

void IndexedCuckooFilter::Append(const CuckooTable<Slot>& table, const IndexedWindow& window,
                                 std::span<const DayRow> days, std::string& out) {
  const CuckooShape shape = table.shape();
  const size_t at = out.size();
  out.resize(at + IndexedBytes(shape, window.number_bits, days.size()));
  const auto payload = std::span(out).subspan(at);
  PutInteger(payload, 0, static_cast<uint8_t>(shape.entry_bits));
  PutInteger(payload, kNumberBitsAt, static_cast<uint8_t>(window.number_bits));
  PutInteger(payload, kIndexedBucketsAt, shape.buckets);
  PutInteger(payload, kNextAt, window.next);
  PutInteger(payload, kCapacityAt, window.capacity);
  PutInteger(payload, kDaysAt, static_cast<uint16_t>(days.size()));
  for (size_t i = 0; i < days.size(); ++i) {
    PutInteger(payload, kIndexedFieldBytes + kDayBytes * i, days[i].day.since_epoch);
    PutInteger(payload, kIndexedFieldBytes + kDayBytes * i + kFirstNumberAt, days[i].first_number);
  }
  FieldWriter writer(payload.subspan(kIndexedFieldBytes + kDayBytes * days.size()));
  for (const Slot slot : table.slots()) {
    const auto number = static_cast<uint32_t>(slot >> 32);
    const uint32_t entry = window.Holds(number) ? CuckooTable<Slot>::EntryOf(slot) : 0;
    writer.Put(entry, shape.entry_bits);
    writer.Put(entry == 0 ? 0 : number & LowBits(window.number_bits), window.number_bits);
  }
  writer.Finish();
}

size_t IndexedCuckooFilter::PayloadBytes(size_t count, size_t days, double rate) {
  const uint32_t number_bits = NumberBitsFor(count);
  return IndexedBytes(CuckooShapeFor(count, rate, TightCuckooBuckets(count), number_bits), number_bits, days);
}

size_t IndexedCuckooFilter::PayloadBytes(std::span<const DayOfItems> days, double rate) {
  const auto with_items = std::count_if(days.begin(), days.end(),
                                        [](const DayOfItems& day) { return !day.fingerprints.empty(); });
  return PayloadBytes(ItemsIn(days), static_cast<size_t>(with_items), rate);
}

void IndexedCuckooFilter::Render(std::span<const DayOfItems> days, double rate, std::string& out) {
  std::vector<Fingerprint> by_number;
  by_number.reserve(ItemsIn(days));
  std::vector<DayRow> rows;
  for (size_t i = days.size(); i-- > 0;) {
    const DayOfItems& day = days[i];
    if (day.fingerprints.empty()) continue;
    Check(rows.empty() || rows.back().day < day.day, "the days of an indexed cuckoo filter descend");
    rows.push_back({day.day, static_cast<uint32_t>(by_number.size())});
    by_number.insert(by_number.end(), day.fingerprints.begin(), day.fingerprints.end());
  }
  Check(rows.size() <= kDaysMax, "an indexed cuckoo filter has at most 65,535 days");
  const auto count = static_cast<uint32_t>(by_number.size());
  const IndexedWindow window = {.next = count, .capacity = count, .number_bits = NumberBitsFor(count)};
  uint32_t buckets = TightCuckooBuckets(count);
  for (;;) {
    const CuckooShape shape = CuckooShapeFor(count, rate, buckets, window.number_bits);
    const auto table = BuildCuckooTable<Slot>(
        by_number, shape, [](uint32_t entry, size_t number) { return uint64_t{number} << 32 | entry; });
    if (table) return Append(*table, window, rows, out);
    Check(shape.buckets <= 16 * by_number.size() + 1024, "no cuckoo filter: repeated fingerprints?");
    buckets = MoreCuckooBuckets(shape.buckets);
  }
}

}  // namespace seen
