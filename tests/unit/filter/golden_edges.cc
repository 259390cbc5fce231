// Golden snapshots that the daemon doesn't write and that a reader must still read: fields at the ends of
// their ranges, runs in another order, counters that have lost count, numbers of an indexed filter that lives
// on: entries are evicted, and numbers wrap.

#include <algorithm>
#include <limits>

#include "unit/filter/golden_bytes.h"
#include "unit/filter/golden_snapshots.h"

namespace seen::golden {
namespace {

using Ids = std::vector<std::string>;

GoldenSnapshot Made(std::string file, std::string note, const SnapshotMeta& meta, std::string_view payload,
                    Ids ids, const Ids& candidates = Numbered("item-", 5000, 100)) {
  GoldenSnapshot made;
  made.file = std::move(file);
  made.note = std::move(note);
  made.bytes = Enveloped(meta, payload);
  made.seen = std::move(ids);
  made.unseen = UnseenOf(made.bytes, candidates);
  return made;
}

GoldenSnapshot Made(std::string file, std::string note, SnapshotFormat format, std::string_view payload,
                    Ids ids) {
  const SnapshotMeta meta = UsualMeta(format, ids.size());
  return Made(std::move(file), std::move(note), meta, payload, std::move(ids));
}

std::string BloomOf(const Ids& ids) {
  std::string payload;
  BloomFilter::Render(PrintsOf(ids), 0.01, payload);
  return payload;
}

/// Each counter that an item sets is 8 to 15. As a signed number of four bits it is below zero.
GoldenSnapshot FullCounters() {
  const Ids ids = Numbered("item-", 0, 50);
  std::string payload;
  CountingBloomFilter::Render(PrintsOf(ids), 0.01, payload);
  uint32_t next = 0;
  for (size_t i = 1; i < payload.size(); ++i) {
    auto pair = static_cast<uint8_t>(payload[i]);
    if ((pair & 0x0f) != 0) pair = static_cast<uint8_t>((pair & 0xf0) | 8 | next++ % 8);
    if ((pair & 0xf0) != 0) pair = static_cast<uint8_t>((pair & 0x0f) | (8 | next++ % 8) << 4);
    payload[i] = static_cast<char>(pair);
  }
  return Made("counting_bloom_full_counters.bin", "Counters of 8 to 15.", SnapshotFormat::kCountingBloom,
              payload, ids);
}

/// Some items were removed. Their cells have a count of 0.
GoldenSnapshot Counts() {
  const Ids all = Numbered("item-", 0, 60);
  std::vector<CountedItem> items;
  Ids ids, removed;
  for (size_t i = 0; i < all.size(); ++i) {
    items.push_back({FingerprintOf(all[i]), static_cast<uint32_t>(i % 4)});
    (i % 4 == 0 ? removed : ids).push_back(all[i]);
  }
  const std::string payload = DLeftPayload({20, 6, 5}, items);
  GoldenSnapshot made = Made("d_left_counts.bin", "Counts of 1 to 3; of 0 where an item was removed.",
                             SnapshotFormat::kDLeft, payload, ids);
  made.unseen.insert(made.unseen.end(), removed.begin(), removed.end());
  return made;
}

std::vector<CountedItem> CountedOnce(const Ids& ids) {
  std::vector<CountedItem> items;
  for (const std::string& id : ids) items.push_back({FingerprintOf(id), 1});
  return items;
}

void AddWidest(std::vector<GoldenSnapshot>& snapshots) {
  const Ids ids = Numbered("item-", 0, 30);
  const std::vector<Fingerprint> prints = PrintsOf(ids);
  const auto add = [&](const char* file, const char* note, SnapshotFormat format, std::string_view payload) {
    snapshots.push_back(Made(file, note, format, payload, ids));
  };
  add("d_left_widest.bin", "r is 32, cells is 16.", SnapshotFormat::kDLeft,
      DLeftPayload({32, 16, 2}, CountedOnce(ids)));
  add("quotient_widest.bin", "r is 32.", SnapshotFormat::kQuotient,
      QuotientPayload(32, 41, prints, RunOrder::kAscending));
  add("cuckoo_widest.bin", "f is 32.", SnapshotFormat::kCuckoo, CuckooPayload(32, 30, prints));
  add("d_left_padding.bin", "Ones behind the last cell.", SnapshotFormat::kDLeft,
      DLeftPayload({17, 5, 7}, CountedOnce(ids), Padding::kOnes));
  add("quotient_padding.bin", "Ones behind the last remainder.", SnapshotFormat::kQuotient,
      QuotientPayload(13, 41, prints, RunOrder::kAscending, Padding::kOnes));
  add("cuckoo_padding.bin", "Ones behind the last entry.", SnapshotFormat::kCuckoo,
      CuckooPayload(17, 31, prints, Padding::kOnes));
}

void AddQuotients(std::vector<GoldenSnapshot>& snapshots) {
  const Ids few = Numbered("item-", 0, 60), many = Numbered("item-", 0, 700);
  snapshots.push_back(
      Made("quotient_descending.bin", "The remainders of a run descend: their order is no rule.",
           SnapshotFormat::kQuotient, QuotientPayload(12, 11, PrintsOf(few), RunOrder::kDescending), few));
  snapshots.push_back(Made("quotient_long_runs.bin", "Two runs of some 350 slots, over many blocks.",
                           SnapshotFormat::kQuotient,
                           QuotientPayload(24, 2, PrintsOf(many), RunOrder::kAscending), many));
  Ids twice = Numbered("item-", 0, 20);
  std::vector<Fingerprint> prints = PrintsOf(twice);
  prints.insert(prints.end(), prints.begin(), prints.begin() + 10);
  snapshots.push_back(Made("quotient_repeated.bin", "Remainders that come twice in their run.",
                           SnapshotFormat::kQuotient, QuotientPayload(15, 25, prints, RunOrder::kAscending),
                           twice));
  const Ids ghosts = Numbered("ghost-", 0, 40);
  GoldenSnapshot haunted = Made(
      "quotient_free_slots.bin", "Slots that no run takes hold anything.", SnapshotFormat::kQuotient,
      QuotientPayload(16, 120, PrintsOf(few), RunOrder::kAscending, Padding::kZeros, PrintsOf(ghosts)), few);
  haunted.unseen.insert(haunted.unseen.end(), ghosts.begin(), ghosts.end());
  snapshots.push_back(haunted);
}

void AddCuckoos(std::vector<GoldenSnapshot>& snapshots) {
  const Ids four = Numbered("item-", 0, 4), three = Numbered("item-", 0, 3);
  snapshots.push_back(Made("cuckoo_one_bucket.bin", "Both buckets of an item are the same.",
                           SnapshotFormat::kCuckoo, CuckooPayload(16, 1, PrintsOf(four)), four));
  snapshots.push_back(Made("cuckoo_narrowest.bin", "f is 2: entries are 1 to 3.", SnapshotFormat::kCuckoo,
                           CuckooPayload(2, 40, PrintsOf(three)), three));
}

/// Each day of `days` is one row.
GoldenSnapshot Chain(std::string file, std::string note, const std::vector<GoldenDay>& days,
                     uint32_t created_second, Day from_day) {
  std::vector<ChainRow> rows;
  Ids ids;
  for (const GoldenDay& day : days) {
    // One block, two, three, one...
    const auto blocks = static_cast<uint32_t>(1 + rows.size() % 3);
    rows.push_back({day.day, day.first_second, day.last_second, blocks, PrintsOf(day.seen)});
    ids.insert(ids.end(), day.seen.begin(), day.seen.end());
  }
  GoldenSnapshot made =
      Made(std::move(file), std::move(note), SnapshotFormat::kDayChain, ChainPayload(rows), ids);
  made.days = days;
  made.created_second = created_second;
  made.from_day = from_day;
  return made;
}

void AddChains(std::vector<GoldenSnapshot>& snapshots) {
  const auto day = [](int32_t number, uint32_t last_second, int first, int count) {
    return GoldenDay{Day{number}, last_second - 9, last_second, Numbered("item-", first, count)};
  };
  snapshots.push_back(
      Chain("day_chain_equal_days.bin",
            "Days that come more than once; their seconds differ. created_second is one "
            "after the last second of a day.",
            {day(20413, 1763763200, 0, 6), day(20413, 1763700000, 6, 6), day(20412, 1763676000, 12, 6),
             day(20412, 1763676800, 18, 6), day(20412, 1763600000, 24, 6), day(20404, 1762985603, 30, 6)},
            1763676001, Day{20412}));
  snapshots.push_back(Chain("day_chain_before_1970.bin",
                            "Days below zero descend as signed numbers; from_day is one after a day.",
                            {day(5, 518399, 0, 6), day(-1, 9, 6, 6), day(-4, 9, 12, 6)}, 10, Day{-3}));
  snapshots.push_back(
      Chain("day_chain_after_2038.bin",
            "Seconds of 2^31 and more are unsigned. Days from the window's own kinds lie "
            "ahead.",
            {day(49710, 0xffffffff, 0, 6), day(49709, 0x80000005, 6, 6), day(24855, 0x7fffffff, 12, 6)},
            0x80000006, Day{24856}));
}

void AddFingerprints(std::vector<GoldenSnapshot>& snapshots) {
  const auto add = [&](const char* file, const char* note, uint32_t k, std::vector<Fingerprint> values) {
    SnapshotMeta meta = UsualMeta(SnapshotFormat::kFingerprints, values.size());
    GoldenSnapshot made = Made(file, note, meta, FingerprintsPayload(k, values), {});
    for (const Fingerprint value : values) {
      for (const Fingerprint next : {Fingerprint{value.value - 1}, Fingerprint{value.value + 1}}) {
        if (!std::binary_search(values.begin(), values.end(), next)) made.unseen_fingerprints.push_back(next);
      }
    }
    made.seen_fingerprints = std::move(values);
    snapshots.push_back(std::move(made));
  };
  add("fingerprints_ends.bin", "k is 31; the least fingerprint and the greatest.", 31,
      {{0}, {1}, {0x7fffffff}, {0x80000000}, {0xfffffffe}, {0xffffffff}});
  std::vector<Fingerprint> dense;
  for (uint32_t value = 3; value < 600; value += 1 + value % 4) dense.push_back({value});
  add("fingerprints_dense.bin", "k is 0: zeros and ones alone.", 0, dense);
  add("fingerprints_long_zeros.bin", "More zeros than a word has bits.", 3, {{5000}, {5001}, {12345}});
  std::vector<Fingerprint> many;
  for (uint32_t i = 0; i < 10'000; ++i) many.push_back({3 * i + i % 3});
  GoldenSnapshot tail =
      Made("fingerprints_ten_thousand.bin", "Of the fingerprints every 97th is listed.",
           UsualMeta(SnapshotFormat::kFingerprints, many.size()), FingerprintsPayload(1, many), {});
  for (size_t i = 0; i < many.size(); i += 97) {
    tail.seen_fingerprints.push_back(many[i]);
    tail.unseen_fingerprints.push_back({many[i].value + (i % 3 == 2 ? 2 : 1)});
  }
  tail.counts = false;
  snapshots.push_back(std::move(tail));
}

void AddIds(std::vector<GoldenSnapshot>& snapshots) {
  const auto add = [&](const char* file, const char* note, const Ids& ids, const Ids& candidates) {
    std::vector<Fingerprint> prints = PrintsOf(ids);
    std::sort(prints.begin(), prints.end());
    const SnapshotMeta meta = UsualMeta(SnapshotFormat::kFingerprints, ids.size());
    snapshots.push_back(Made(file, note, meta, FingerprintsPayload(27, prints), ids, candidates));
  };
  Ids of_lengths;
  for (size_t length = 1; length <= 70; ++length) of_lengths.push_back(OfLength(length));
  of_lengths.push_back(OfLength(511));
  of_lengths.push_back(OfLength(512));
  add("ids_of_lengths.bin", "Ids of 1 to 70 bytes, 511 and 512.", of_lengths, Numbered("item-", 0, 10));
  add("ids_as_they_are.bin", "Ids aren't trimmed, nor cut, nor read as numbers.",
      {" n1", "n2 ", " ", "\t", "n3\n", "N4", "n5/", "0042", "-0", "1e3", "0x10", "007", "\xc2\xa0n6",
       "n7\r\n"},
      {"n1", "n2", "", "n3", "n4", "n5", "42", "0", "1000", "16", "7", "n6", "n7", "  "});
}

void AddEnvelopes(std::vector<GoldenSnapshot>& snapshots) {
  const Ids ids = Numbered("item-", 0, 10);
  const std::string bloom = BloomOf(ids);
  GoldenSnapshot longest =
      Made("header_longest.bin", "header_bytes is 4096.", SnapshotFormat::kBloom, bloom, ids);
  longest.bytes =
      Enveloped(UsualMeta(SnapshotFormat::kBloom, ids.size()), bloom, std::string(4096 - 56, '\xa5'));
  snapshots.push_back(longest);
  SnapshotMeta meta = {SnapshotFormat::kBloom,
                       0xffffffff,
                       {-1},
                       {std::numeric_limits<int32_t>::min()},
                       0,
                       std::numeric_limits<int64_t>::max(),
                       0.5};
  GoldenSnapshot odd = Made("odd_metadata.bin",
                            "Metadata at the ends of its range, which readers don't refuse; half of all ids "
                            "may be wrong.",
                            meta, bloom, ids);
  odd.counts = false;
  snapshots.push_back(odd);
  GoldenSnapshot reserved = Made(
      "similar_reserved.bin", "similar_count is 2^32 - 1, and the bytes that readers don't look at aren't 0.",
      SnapshotFormat::kBloom, bloom, ids);
  std::vector<Fingerprint> prints;
  reserved.similar.near = Numbered("near-", 0, 10);
  for (const std::string& id : reserved.similar.near) prints.push_back(NearFingerprintOf(FingerprintOf(id)));
  std::string second;
  BloomFilter::Render(prints, 0.01, second);
  reserved.bytes = Enveloped(UsualMeta(SnapshotFormat::kBloom, ids.size()), bloom,
                             SecondFilter{SnapshotFormat::kBloom, 0xffffffff, second}, 0xff);
  reserved.similar.not_near = reserved.similar.not_groups = Numbered("item-", 0, 10);
  reserved.counts = false;
  snapshots.push_back(reserved);
}

}  // namespace

std::vector<GoldenSnapshot> SnapshotsAtTheEdges() {
  std::vector<GoldenSnapshot> snapshots = {FullCounters(), Counts()};
  AddWidest(snapshots);
  AddQuotients(snapshots);
  AddCuckoos(snapshots);
  AddChains(snapshots);
  AddFingerprints(snapshots);
  AddIds(snapshots);
  AddEnvelopes(snapshots);
  return snapshots;
}

namespace {

/// `shape.next` - 1 is the number of the last of `count` items.
GoldenSnapshot Indexed(std::string file, std::string note, const IndexedShape& shape, uint32_t count,
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
      Indexed("indexed_cuckoo_evicted.bin",
              "The oldest 40 of 100 are evicted, and their places not yet taken.", {20, 7, 60, 100, 60, rows},
              100),
      Indexed("indexed_cuckoo_all_evicted.bin", "capacity is 0: all are evicted.", {20, 7, 60, 100, 0, rows},
              100),
      Indexed("indexed_cuckoo_wrap.bin", "Numbers wrap modulo 2^n: they are 90 to 149, and n is 7.",
              {20, 7, 60, 150, 50, Tens(150, 60)}, 60),
      Indexed("indexed_cuckoo_wrap_32.bin",
              "Numbers wrap modulo 2^32: they are 2^32 - 60 to 2^32 - 1, then 0 to 39.",
              {20, 9, 60, 40, 80, Tens(40, 100)}, 100),
      Indexed("indexed_cuckoo_next_zero.bin", "next is 0: the newest number is 2^32 - 1.",
              {20, 5, 30, 0, 32, Tens(0, 30)}, 30),
      Indexed("indexed_cuckoo_full_capacity.bin", "capacity is 2^n: every number counts.",
              {20, 6, 60, 1000, 64, Tens(1000, 60)}, 60),
      Indexed("indexed_cuckoo_widest.bin", "f and n are 32.", {32, 32, 30, 5, kMax, Tens(5, 30)}, 30),
      Indexed("indexed_cuckoo_padding.bin", "Ones behind the last entry.", {17, 7, 31, 30, 30, Tens(30, 30)},
              30, Padding::kOnes),
      Indexed("indexed_cuckoo_one_bucket.bin",
              "Both buckets of an item are the same: each entry counts once.",
              {20, 4, 1, 4, 4, {{Day{20413}, 0}}}, 4),
      Indexed("indexed_cuckoo_without_days.bin", "days is 0: no entry has a day.", {20, 6, 30, 30, 30, {}},
              30),
      Indexed("indexed_cuckoo_before_rows.bin", "The oldest ten are older than every row: they have no day.",
              {20, 6, 30, 30, 30, {{Day{20412}, 10}, {Day{20413}, 20}}}, 30),
      Indexed("indexed_cuckoo_row_at_next.bin",
              "A row's first_number is next: by the rule, a day that began 2^32 numbers ago.",
              {20, 6, 30, 30, 30, {{Day{20410}, 0}, {Day{20412}, 30}, {Day{20413}, 20}}}, 30),
      Indexed("indexed_cuckoo_rows_before_1970.bin", "Days below zero, and two rows of one first_number.",
              {20, 6, 30, 30, 30, {{Day{-3}, 0}, {Day{-2}, 10}, {Day{-1}, 10}}}, 30),
  };
}

}  // namespace seen::golden
