#pragma once
// A cuckoo filter whose entries carry the number of their item, in the order of insertion: the oldest leave
// one by one as new ones come, without a queue beside it, and an entry leads to its item's day and rank
// within it. Bytes: schemas/snapshot.md, "7: indexed cuckoo filter". Source: as cuckoo.h; the age is ours.

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "filter/cuckoo_places.h"
#include "filter/cuckoo_table.h"
#include "filter/days.h"
#include "model/fingerprint.h"

namespace seen {

/// What an entry says of its item.
struct IndexedItem {
  uint32_t number = 0;   // of all that were inserted, modulo 2^32
  bool has_day = false;  // else neither day nor rank is known
  Day day;
  uint32_t rank = 0;  // among those of its day, from 0 on
  friend bool operator==(const IndexedItem&, const IndexedItem&) = default;
};

/// Up to eight of them.
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

/// Which numbers are in: the newest `capacity` before `next`, known by their low bits.
struct IndexedWindow {
  uint32_t next = 0;  // the number of the next item
  uint32_t capacity = 0;
  uint32_t number_bits = 1;  // 1 to 32; capacity is at most 2^number_bits

  uint32_t AgeOf(uint32_t number) const { return (next - 1 - number) & LowBits(number_bits); }
  bool Holds(uint32_t number) const { return AgeOf(number) < capacity; }
  friend bool operator==(const IndexedWindow&, const IndexedWindow&) = default;
};

/// Points into a payload. Any thread. A look-up costs the two buckets.
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
  /// All entries that may be its item's, in no order; none: certainly not in. One of them at most is right.
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
  static constexpr bool kSizesExactly = false;  // a bucket or a few more where a set doesn't fit
  static constexpr size_t kDaysMax = std::numeric_limits<uint16_t>::max();
  /// Of `count` items, up to 2^26, of `days` days that have any.
  static size_t PayloadBytes(size_t count, size_t days, double rate);
  /// Of these days; only how many fingerprints each has is looked at.
  static size_t PayloadBytes(std::span<const DayOfItems> days, double rate);
  /// Appends a payload of `days`, the newest first, no fingerprint in two of them, at most kDaysMax with any;
  /// all items are in. `rate` in (0, kRateMax] (Check). The same bytes for the same days. Never fails.
  static void Render(std::span<const DayOfItems> days, double rate, std::string& out);

  /// Of a filled table: the number above the entry.
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

/// What a number leads to; `first_number(i)` is that of row i of `days`, which ascend, and `day(i)` its day.
template <typename FirstNumber, typename DayAt>
IndexedItem IndexedItemOf(const IndexedWindow& window, uint32_t low_number, size_t days,
                          FirstNumber first_number, DayAt day) {
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

}  // namespace seen
