#include "filter/indexed_cuckoo.h"

#include <algorithm>
#include <bit>

#include "base/check.h"
#include "filter/bits.h"
#include "filter/cuckoo_build.h"
#include "filter/cuckoo_shape.h"
#include "filter/field_writer.h"

namespace seen {
namespace {

constexpr size_t kNumberBitsAt = 1, kBucketsAt = 2, kNextAt = 6, kCapacityAt = 10, kDaysAt = 14,
                 kFieldBytes = 16;
constexpr size_t kDayBytes = 8, kFirstNumberAt = 4;  // in a day's row
constexpr size_t kDaysMax = std::numeric_limits<uint16_t>::max();

tl::unexpected<Error> Malformed(std::string what) {
  return Fail(Code::kMalformed, "payload: indexed cuckoo filter: " + std::move(what));
}

uint64_t BytesOf(CuckooShape shape, uint32_t number_bits, size_t days) {
  return kFieldBytes + kDayBytes * days + BytesOfBits(shape.Places() * (shape.entry_bits + number_bits));
}

// The fewest bits, at least 1, that tell `count` numbers apart.
uint32_t BitsFor(size_t count) {
  return std::max<uint32_t>(1, count == 0 ? 0 : static_cast<uint32_t>(std::bit_width(count - 1)));
}

// What a number leads to; `first_number(i)` is that of row i, `day(i)` its day.
template <typename FirstNumber, typename DayAt>
IndexedItem ItemFrom(const IndexedWindow& window, uint32_t low_number, size_t days, FirstNumber first_number,
                     DayAt day) {
  const uint32_t age = window.AgeOf(low_number);
  IndexedItem item;
  item.number = window.next - 1 - age;
  for (size_t i = days; i-- > 0;) {
    if (window.next - 1 - first_number(i) < age) continue;  // its day began later
    item.has_day = true;
    item.day = day(i);
    item.rank = item.number - first_number(i);
    break;
  }
  return item;
}

CuckooShape RoomyShape(size_t capacity, uint32_t number_bits, double rate) {
  return CuckooShapeFor(capacity, rate, RoomyCuckooBuckets(capacity), number_bits);
}

// While 2^number_bits inserts pass, the newest `capacity` numbers and those long gone never look alike for as
// long as a place is swept in between: twice as many numbers as items leave `capacity` insertions for it.
IndexedWindow WindowFor(size_t capacity) {
  Check(capacity <= kCuckooCountMax, "too many items for one filter");
  capacity = std::max<size_t>(1, capacity);
  return {.next = 0, .capacity = static_cast<uint32_t>(capacity), .number_bits = BitsFor(2 * capacity)};
}

size_t ItemsIn(std::span<const DayOfItems> days) {
  size_t count = 0;
  for (const DayOfItems& day : days) count += day.fingerprints.size();
  return count;
}

}  // namespace

Result<IndexedCuckooView> IndexedCuckooView::Parse(std::string_view payload) {
  if (payload.size() < kFieldBytes) {
    return Malformed(std::to_string(payload.size()) + " bytes; the fields alone take 16");
  }
  IndexedCuckooView view;
  view.shape_ = {.entry_bits = static_cast<uint8_t>(payload[0]),
                 .buckets = GetInteger<uint32_t>(payload, kBucketsAt)};
  view.window_ = {.next = GetInteger<uint32_t>(payload, kNextAt),
                  .capacity = GetInteger<uint32_t>(payload, kCapacityAt),
                  .number_bits = static_cast<uint8_t>(payload[kNumberBitsAt])};
  const auto days = GetInteger<uint16_t>(payload, kDaysAt);
  const uint32_t entry_bits = view.shape_.entry_bits;
  const uint32_t number_bits = view.window_.number_bits;
  if (entry_bits < 2 || entry_bits > 32) {
    return Malformed("f is " + std::to_string(entry_bits) + "; it must be 2 to 32");
  }
  if (number_bits < 1 || number_bits > 32) {
    return Malformed("n is " + std::to_string(number_bits) + "; it must be 1 to 32");
  }
  if (view.shape_.buckets == 0) return Malformed("it has no buckets; it must have one at least");
  if (view.window_.capacity > uint64_t{1} << number_bits) {
    return Malformed("a capacity of " + std::to_string(view.window_.capacity) + "; " +
                     std::to_string(number_bits) + " bits number fewer items");
  }
  if (payload.size() != BytesOf(view.shape_, number_bits, days)) {
    return Malformed(std::to_string(payload.size()) + " bytes; by its fields it has " +
                     std::to_string(BytesOf(view.shape_, number_bits, days)));
  }
  view.days_ = payload.substr(kFieldBytes, kDayBytes * days);
  view.buckets_ =
      PackedBuckets(payload.substr(kFieldBytes + kDayBytes * days), entry_bits, entry_bits + number_bits);
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
  const IndexedCuckooView view = *this;  // in registers: the answers could be anything's bytes
  for (size_t i = 0; i < fingerprints.size(); ++i) answers[i] = view.MightContain(fingerprints[i]) ? 1 : 0;
}

IndexedItem IndexedCuckooView::ItemOf(uint32_t number) const {
  return ItemFrom(
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

IndexedCuckooFilter::IndexedCuckooFilter(size_t capacity, double rate)
    : window_(WindowFor(capacity)), table_(RoomyShape(window_.capacity, window_.number_bits, rate)) {
  const uint64_t until_alike = (uint64_t{1} << window_.number_bits) - window_.capacity;
  sweep_each_ = (table_.shape().Places() + until_alike - 1) / until_alike;
}

bool IndexedCuckooFilter::IsLive(Slot slot) const {
  return CuckooTable<Slot>::EntryOf(slot) != 0 && window_.Holds(static_cast<uint32_t>(slot >> 32));
}

bool IndexedCuckooFilter::Insert(Fingerprint fingerprint, Day day) {
  const uint64_t hash = HashOf(fingerprint);
  const CuckooShape shape = table_.shape();
  const uint32_t number = window_.next++;  // so that the place of the one evicted is free already
  const Slot slot = uint64_t{number} << 32 | shape.EntryOf(hash);
  if (!table_.Insert(shape.FirstOf(hash), slot, [&](Slot other) { return !IsLive(other); })) {
    --window_.next;
    return false;
  }
  Sweep();
  if (days_.empty() || day > days_.back().day) days_.push_back({day, number});
  // A day is over when the first of the next one is as old as can be.
  while (days_.size() > kDaysMax ||
         (days_.size() > 1 && window_.next - days_[1].first_number >= window_.capacity)) {
    days_.erase(days_.begin());
  }
  return true;
}

void IndexedCuckooFilter::Sweep() {
  for (uint64_t i = 0; i < sweep_each_; ++i) {
    if (!IsLive(table_[swept_])) table_[swept_] = 0;
    swept_ = swept_ + 1 == table_.shape().Places() ? 0 : swept_ + 1;
  }
}

IndexedItems IndexedCuckooFilter::Find(Fingerprint fingerprint) const {
  const uint64_t hash = HashOf(fingerprint);
  const CuckooShape shape = table_.shape();
  const uint32_t entry = shape.EntryOf(hash);
  const uint32_t first = shape.FirstOf(hash);
  const uint32_t second = shape.Other(first, entry);
  IndexedItems items;
  for (uint32_t i = 0; i < (first == second ? 1u : 2u); ++i) {
    const uint64_t start = uint64_t{i == 0 ? first : second} * kCuckooBucketPlaces;
    for (uint64_t place = start; place < start + kCuckooBucketPlaces; ++place) {
      const Slot slot = table_[place];
      if (CuckooTable<Slot>::EntryOf(slot) != entry || !IsLive(slot)) continue;
      items.Add(ItemFrom(
          window_, static_cast<uint32_t>(slot >> 32), days_.size(),
          [&](size_t row) { return days_[row].first_number; }, [&](size_t row) { return days_[row].day; }));
    }
  }
  return items;
}

void IndexedCuckooFilter::AppendPayload(const CuckooTable<Slot>& table, const IndexedWindow& window,
                                        std::span<const DayRow> days, std::string& out) {
  const CuckooShape shape = table.shape();
  const size_t at = out.size();
  out.resize(at + BytesOf(shape, window.number_bits, days.size()));
  const auto payload = std::span(out).subspan(at);
  PutInteger(payload, 0, static_cast<uint8_t>(shape.entry_bits));
  PutInteger(payload, kNumberBitsAt, static_cast<uint8_t>(window.number_bits));
  PutInteger(payload, kBucketsAt, shape.buckets);
  PutInteger(payload, kNextAt, window.next);
  PutInteger(payload, kCapacityAt, window.capacity);
  PutInteger(payload, kDaysAt, static_cast<uint16_t>(days.size()));
  for (size_t i = 0; i < days.size(); ++i) {
    PutInteger(payload, kFieldBytes + kDayBytes * i, days[i].day.since_epoch);
    PutInteger(payload, kFieldBytes + kDayBytes * i + kFirstNumberAt, days[i].first_number);
  }
  FieldWriter writer(payload.subspan(kFieldBytes + kDayBytes * days.size()));
  for (const Slot slot : table.slots()) {
    const auto number = static_cast<uint32_t>(slot >> 32);
    const uint32_t entry = window.Holds(number) ? CuckooTable<Slot>::EntryOf(slot) : 0;
    writer.Put(entry, shape.entry_bits);
    writer.Put(entry == 0 ? 0 : number & LowBits(window.number_bits), window.number_bits);
  }
  writer.Finish();
}

void IndexedCuckooFilter::Serialise(std::string& out) const { AppendPayload(table_, window_, days_, out); }

size_t IndexedCuckooFilter::PayloadBytes(size_t count, size_t days, double rate) {
  const uint32_t number_bits = BitsFor(count);
  return BytesOf(CuckooShapeFor(count, rate, TightCuckooBuckets(count), number_bits), number_bits, days);
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
  const IndexedWindow window = {.next = count, .capacity = count, .number_bits = BitsFor(count)};
  uint32_t buckets = TightCuckooBuckets(count);
  for (;;) {
    const CuckooShape shape = CuckooShapeFor(count, rate, buckets, window.number_bits);
    const auto table = BuildCuckooTable<Slot>(
        by_number, shape, [](uint32_t entry, size_t number) { return uint64_t{number} << 32 | entry; });
    if (table) return AppendPayload(*table, window, rows, out);
    Check(shape.buckets <= 16 * by_number.size() + 1024, "no cuckoo filter: repeated fingerprints?");
    buckets = MoreCuckooBuckets(shape.buckets);
  }
}

}  // namespace seen
