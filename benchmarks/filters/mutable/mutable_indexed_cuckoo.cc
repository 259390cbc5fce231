#include "filters/mutable/mutable_indexed_cuckoo.h"

#include <algorithm>

#include "base/result.h"
#include "filter/cuckoo.h"

namespace seen {
namespace {

CuckooShape RoomyShape(size_t capacity, uint32_t number_bits, double rate) {
  return CuckooShapeFor(capacity, rate, RoomyCuckooBuckets(capacity), number_bits);
}

// Numbers repeat after 2^number_bits insertions. So a place must be swept before its old number looks like
// one of the newest `capacity` numbers. There are twice as many numbers as items, which leaves `capacity`
// insertions for the sweep.
IndexedWindow WindowFor(size_t capacity) {
  Check(capacity <= kCuckooCountMax, "too many items for one filter");
  capacity = std::max<size_t>(1, capacity);
  return {.next = 0, .capacity = static_cast<uint32_t>(capacity), .number_bits = NumberBitsFor(2 * capacity)};
}

}  // namespace

MutableIndexedCuckoo::MutableIndexedCuckoo(size_t capacity, double rate)
    : window_(WindowFor(capacity)), table_(RoomyShape(window_.capacity, window_.number_bits, rate)) {
  const uint64_t until_alike = (uint64_t{1} << window_.number_bits) - window_.capacity;
  sweep_each_ = (table_.shape().Places() + until_alike - 1) / until_alike;
}

bool MutableIndexedCuckoo::IsLive(Slot slot) const {
  return CuckooTable<Slot>::EntryOf(slot) != 0 && window_.Holds(static_cast<uint32_t>(slot >> 32));
}

bool MutableIndexedCuckoo::Insert(Fingerprint fingerprint, Day day) {
  const uint64_t hash = HashOf(fingerprint);
  const CuckooShape shape = table_.shape();
  const uint32_t number = window_.next++;  // taken first, so that the place of the evicted item is free
  const Slot slot = uint64_t{number} << 32 | shape.EntryOf(hash);
  if (!table_.Insert(shape.FirstOf(hash), slot, [&](Slot other) { return !IsLive(other); })) {
    --window_.next;
    return false;
  }
  Sweep();
  if (days_.empty() || day > days_.back().day) days_.push_back({day, number});
  // A day is over when the first item of the next day is the oldest item in the window.
  while (days_.size() > IndexedCuckooFilter::kDaysMax ||
         (days_.size() > 1 && window_.next - days_[1].first_number >= window_.capacity)) {
    days_.erase(days_.begin());
  }
  return true;
}

void MutableIndexedCuckoo::Sweep() {
  for (uint64_t i = 0; i < sweep_each_; ++i) {
    if (!IsLive(table_[swept_])) table_[swept_] = 0;
    swept_ = swept_ + 1 == table_.shape().Places() ? 0 : swept_ + 1;
  }
}

IndexedItems MutableIndexedCuckoo::Find(Fingerprint fingerprint) const {
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
      items.Add(IndexedItemOf(
          window_, static_cast<uint32_t>(slot >> 32), days_.size(),
          [&](size_t row) { return days_[row].first_number; }, [&](size_t row) { return days_[row].day; }));
    }
  }
  return items;
}

}  // namespace seen
