// Golden snapshots of kind 7 that the daemon doesn't write. The daemon's own hold all their items, numbered
// from 0 on. In a filter that lives on, entries are evicted and numbers wrap.

#include <algorithm>
#include <limits>

#include "unit/filter/golden_bytes.h"
#include "unit/filter/golden_payloads.h"
#include "unit/filter/golden_snapshots.h"

namespace seen::golden {
namespace {

/// `shape.next` - 1 is the number of the last of `count` items.
GoldenSnapshot Made(std::string file, std::string note, const IndexedShape& shape, uint32_t count,
                    Padding padding = Padding::kZeros) {
  const std::vector<std::string> ids = Numbered("item-", 0, static_cast<int>(count));
  const uint32_t live = std::min(shape.capacity, count);
  GoldenSnapshot made;
  made.file = std::move(file);
  made.note = std::move(note);
  made.bytes = Enveloped(UsualMeta(SnapshotFormat::kIndexedCuckoo, live),
                         IndexedPayload(shape, PrintsOf(ids), padding));
  made.unseen = UnseenOf(made.bytes, Numbered("item-", 5000, 50));
  for (uint32_t i = 0; i < count; ++i) {
    const bool evicted = count - i > live;
    (evicted ? made.unseen : made.seen).push_back(ids[i]);
    if (evicted) continue;
    IndexedItem item;
    item.number = shape.next - count + i;
    for (const IndexedRow& row : shape.rows) {
      // The day began after the item came.
      if (shape.next - 1 - row.first_number < count - 1 - i) continue;
      item.has_day = true;
      item.day = row.day;
      item.rank = item.number - row.first_number;
    }
    made.entries.push_back({ids[i], item});
  }
  return made;
}

/// Rows of ten numbers each, the last of which ends with `next`.
std::vector<IndexedRow> Tens(uint32_t next, uint32_t count) {
  std::vector<IndexedRow> rows;
  for (uint32_t i = 0; i < count; i += 10)
    rows.push_back({Day{static_cast<int32_t>(20413 - count / 10 + i / 10)}, next - count + i});
  return rows;
}

}  // namespace

std::vector<GoldenSnapshot> IndexedSnapshotsAtTheEdges() {
  constexpr uint32_t kMax = std::numeric_limits<uint32_t>::max();
  const auto rows = Tens(100, 100);
  return {
      Made("indexed_cuckoo_evicted.bin", "The oldest 40 of 100 are evicted, and their places not yet taken.",
           {20, 7, 60, 100, 60, rows}, 100),
      Made("indexed_cuckoo_all_evicted.bin", "capacity is 0: all are evicted.", {20, 7, 60, 100, 0, rows},
           100),
      Made("indexed_cuckoo_wrap.bin", "Numbers wrap modulo 2^n: they are 90 to 149, and n is 7.",
           {20, 7, 60, 150, 50, Tens(150, 60)}, 60),
      Made("indexed_cuckoo_wrap_32.bin",
           "Numbers wrap modulo 2^32: they are 2^32 - 60 to 2^32 - 1, then 0 to 39.",
           {20, 9, 60, 40, 80, Tens(40, 100)}, 100),
      Made("indexed_cuckoo_next_zero.bin", "next is 0: the newest number is 2^32 - 1.",
           {20, 5, 30, 0, 32, Tens(0, 30)}, 30),
      Made("indexed_cuckoo_full_capacity.bin", "capacity is 2^n: every number counts.",
           {20, 6, 60, 1000, 64, Tens(1000, 60)}, 60),
      Made("indexed_cuckoo_widest.bin", "f and n are 32.", {32, 32, 30, 5, kMax, Tens(5, 30)}, 30),
      Made("indexed_cuckoo_padding.bin", "Ones behind the last entry.", {17, 7, 31, 30, 30, Tens(30, 30)}, 30,
           Padding::kOnes),
      Made("indexed_cuckoo_one_bucket.bin", "Both buckets of an item are the same: each entry counts once.",
           {20, 4, 1, 4, 4, {{Day{20413}, 0}}}, 4),
      Made("indexed_cuckoo_without_days.bin", "days is 0: no entry has a day.", {20, 6, 30, 30, 30, {}}, 30),
      Made("indexed_cuckoo_before_rows.bin", "The oldest ten are older than every row: they have no day.",
           {20, 6, 30, 30, 30, {{Day{20412}, 10}, {Day{20413}, 20}}}, 30),
      Made("indexed_cuckoo_row_at_next.bin",
           "A row's first_number is next: by the rule, a day that began 2^32 numbers ago.",
           {20, 6, 30, 30, 30, {{Day{20410}, 0}, {Day{20412}, 30}, {Day{20413}, 20}}}, 30),
      Made("indexed_cuckoo_rows_before_1970.bin", "Days below zero, and two rows of one first_number.",
           {20, 6, 30, 30, 30, {{Day{-3}, 0}, {Day{-2}, 10}, {Day{-1}, 10}}}, 30),
  };
}

}  // namespace seen::golden
