#pragma once
// A cuckoo filter whose entries have the number of their item, in the order of insertion. The oldest items
// leave one by one as new ones come, without a queue beside the filter. An entry also gives its item's day,
// and the rank within that day. Bytes: schemas/snapshot.md, "7: indexed cuckoo filter". Source: as cuckoo.h;
// the age is ours.

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "filter/cuckoo.h"
#include "filter/snapshot_format.h"
#include "model/hashes.h"

namespace seen {

/// What an entry says about its item.
struct IndexedItem {
  uint32_t number = 0;   // in the order of insertion, modulo 2^32
  bool has_day = false;  // false: day and rank are unknown
  Day day;
  uint32_t rank = 0;  // among the items of its day, from 0 on
  friend bool operator==(const IndexedItem&, const IndexedItem&) = default;
};

/// Up to eight items.
class IndexedItems {
 public:
  const IndexedItem* begin() const { return items_.data(); }
  const IndexedItem* end() const { return items_.data() + count_; }
  size_t size() const { return count_; }
  void Add(const IndexedItem& item) { items_[count_++] = item; }

 private:
  std::array<IndexedItem, size_t{2} * kCuckooBucketPlaces> items_;
  size_t count_ = 0;
};

/// The numbers that are in: the newest `capacity` before `next`, known by their low bits.
struct IndexedWindow {
  uint32_t next = 0;  // the number of the next item
  uint32_t capacity = 0;
  uint32_t number_bits = 1;  // 1 to 32; capacity is at most 2^number_bits

  uint32_t AgeOf(uint32_t number) const { return (next - 1 - number) & LowBits(number_bits); }
  bool Holds(uint32_t number) const { return AgeOf(number) < capacity; }
  friend bool operator==(const IndexedWindow&, const IndexedWindow&) = default;
};

/// Points into a payload. Any thread. A look-up reads two buckets.
class IndexedCuckooView {
 public:
  /// kMalformed: a field out of range, or a length other than the fields say.
  static Result<IndexedCuckooView> Parse(std::string_view payload);
  /// False: certainly not in.
  bool MightContain(Fingerprint fingerprint) const {
    const uint64_t hash = HashOf(fingerprint);
    const uint32_t entry = shape_.EntryOf(hash);
    const uint32_t first = shape_.FirstOf(hash);
    const uint32_t second = shape_.Other(first, entry);
    return buckets_.EitherHas(first, second, entry) && HasLive(first, second, entry);
  }
  /// `answers[i]` is 1 if `fingerprints[i]` may be in, else 0. The spans are of one length.
  void MightContainEach(std::span<const Fingerprint> fingerprints, std::span<uint8_t> answers) const;
  /// All entries that may be the item's, in no order; none: certainly not in. At most one of them is right.
  IndexedItems Find(Fingerprint fingerprint) const;

  uint32_t capacity() const { return window_.capacity; }

 private:
  IndexedCuckooView() = default;
  template <typename Visit>
  void ForEachLive(uint32_t first, uint32_t second, uint32_t entry, Visit visit) const;
  bool HasLive(uint32_t first, uint32_t second, uint32_t entry) const;
  IndexedItem ItemOf(uint32_t number) const;

  std::string_view days_;
  CuckooShape shape_;
  IndexedWindow window_;
  PackedBuckets buckets_;
};

/// Payloads of kind 7.
struct IndexedCuckooFilter {
  static constexpr bool kSizesExactly = false;  // a set that doesn't fit takes a few more buckets
  static constexpr size_t kDaysMax = std::numeric_limits<uint16_t>::max();
  /// For `count` items, up to 2^26, on `days` days that have items.
  static size_t PayloadBytes(size_t count, size_t days, double rate);
  /// For these days; only the number of fingerprints of each day counts.
  static size_t PayloadBytes(std::span<const DayOfItems> days, double rate);
  /// Appends a payload of all items of `days`: the newest day first, no fingerprint in two days, at most
  /// kDaysMax days with items. `rate` in (0, kRateMax] (Check). The same bytes for the same days. Never
  /// fails.
  static void Render(std::span<const DayOfItems> days, double rate, std::string& out);

  /// A place of a filled table: the number above the entry.
  using Slot = uint64_t;
  struct DayRow {
    Day day;
    uint32_t first_number;
  };
  /// Appends the payload of a filled table. `days` ascend.
  static void Append(const CuckooTable<Slot>& table, const IndexedWindow& window,
                     std::span<const DayRow> days, std::string& out);
};

/// The fewest bits, at least 1, that number `count` items.
uint32_t NumberBitsFor(size_t count);

/// The item that a number leads to. `days`: the number of rows, which ascend. `first_number(i)` is the first
/// number of row i, and `day(i)` its day.
template <typename FirstNumber, typename DayAt>
IndexedItem IndexedItemOf(const IndexedWindow& window, uint32_t low_number, size_t days,
                          FirstNumber first_number, DayAt day) {
  const uint32_t age = window.AgeOf(low_number);
  IndexedItem item;
  item.number = window.next - 1 - age;
  for (size_t i = days; i-- > 0;) {
    if (window.next - 1 - first_number(i) < age) continue;  // this day began after the item
    item.has_day = true;
    item.day = day(i);
    item.rank = item.number - first_number(i);
    break;
  }
  return item;
}

}  // namespace seen
