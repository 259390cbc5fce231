#include "unit/filter/golden_snapshots.h"

#include <algorithm>

#include "filter/snapshot.h"
#include "unit/filter/golden_bytes.h"

namespace seen::golden {
std::vector<GoldenDay> Spread(const std::vector<std::string>& ids) {
  std::vector<GoldenDay> days;
  size_t from = 0;
  for (int32_t back = 0; from < ids.size(); ++back) {
    const size_t to = std::min(ids.size(), from + std::max<size_t>(1, (ids.size() - from) / 3));
    const Day day{20413 - back * back};
    const auto start = static_cast<uint32_t>(day.since_epoch * kSecondsPerDay);
    days.push_back({day, start + 60, start + 80'000 + static_cast<uint32_t>(back), {}});
    days.back().seen.assign(ids.begin() + static_cast<std::ptrdiff_t>(from),
                            ids.begin() + static_cast<std::ptrdiff_t>(to));
    from = to;
  }
  return days;
}

std::string Rendered(const SnapshotMeta& meta, const std::vector<std::string>& ids,
                     const std::vector<GoldenDay>& days,
                     std::optional<std::span<const Fingerprint>> similar) {
  std::vector<Fingerprint> all;
  for (const std::string& id : ids) all.push_back(FingerprintOf(id));
  std::vector<std::vector<Fingerprint>> by_day;
  std::vector<DayOfItems> day_items;
  by_day.reserve(days.size());
  for (const GoldenDay& day : days) {
    std::vector<Fingerprint>& items = by_day.emplace_back();
    for (const std::string& id : day.seen) items.push_back(FingerprintOf(id));
    std::sort(items.begin(), items.end());
    day_items.push_back({day.day, day.first_second, day.last_second, items});
  }
  std::string bytes;
  RenderSnapshot({meta.format, meta.false_positive_rate, false}, meta, {all, day_items}, similar, bytes);
  return bytes;
}

std::vector<std::string> UnseenOf(const std::string& bytes, const std::vector<std::string>& candidates) {
  std::vector<std::string> unseen;
  const auto view = SnapshotView::Parse(bytes);
  for (const std::string& id : candidates) {
    if (view && !view->MightContain(id)) unseen.push_back(id);
  }
  return unseen;
}

namespace {

using namespace std::string_literals;

/// A snapshot as the daemon writes it: with days, where its kind knows days. `candidates`: ids that aren't
/// in.
GoldenSnapshot Made(std::string file, std::string note, std::vector<std::string> ids,
                    const std::vector<std::string>& candidates, const SnapshotMeta& meta) {
  GoldenSnapshot made;
  made.file = std::move(file);
  made.note = std::move(note);
  if (NeedsDays(meta.format)) made.days = Spread(ids);
  made.bytes = Rendered(meta, ids, made.days);
  made.unseen = UnseenOf(made.bytes, candidates);
  made.seen = std::move(ids);
  return made;
}

SnapshotMeta Meta(double rate = 0.01) { return UsualMeta(SnapshotFormat::kSplitBlockBloom, 0, rate); }

GoldenSnapshot WithLongerHeader() {
  GoldenSnapshot snapshot =
      Made("longer_header.bin",
           "As a later minor addition may write it: header_bytes is 64, and the eight bytes "
           "after the known fields are to be skipped.",
           Numbered("n", 1, 10), Numbered("n", 11, 90), Meta());
  snapshot.bytes.insert(56, "\1\2\3\4\5\6\7\x08"s);
  snapshot.bytes = Patched(snapshot.bytes, 8, uint32_t{64});
  return snapshot;
}

}  // namespace

std::vector<std::string> IntegerIds() {
  return {"0",
          "1",
          "-1",
          "42",
          "-7",
          "2147483648",
          "4294967296",
          "9007199254740993",
          "9223372036854775807",
          "-9223372036854775808",
          "18446744073709551615"};
}

std::vector<std::string> UnicodeIds() {
  return {"曝光",   "用户-1", "café", "cafe\u0301", "ß",     "SS",   "🎬",     "👩‍👩‍👧",
          "\u200b", "привет", "שלום", "n 1",        "\"\\/", "a\tb", "a\0b"s, "\u007f"};
}

std::string OfLength(size_t bytes) {
  std::string id;
  for (size_t i = 0; i < bytes; ++i) id += static_cast<char>('a' + (i + bytes) % 26);
  return id;
}

std::vector<std::string> Numbered(std::string_view prefix, int first, int count) {
  std::vector<std::string> ids;
  for (int i = first; i < first + count; ++i) ids.push_back(std::string(prefix) + std::to_string(i));
  return ids;
}

std::vector<GoldenSnapshot> SplitBlockBloomSnapshots() {
  const auto integers = IntegerIds();
  const auto unicode = UnicodeIds();
  std::vector<std::string> not_unicode = Numbered("曝光-", 1, 100);
  for (const char* id : {"ss", "Café", "a", "b", "用户-2", "曝"}) not_unicode.emplace_back(id);
  std::vector<std::string> not_integers = Numbered("", 1000, 100);
  for (const char* id : {"00", "042", "+42", "42.0", "7", "9007199254740992"}) not_integers.emplace_back(id);
  return {
      Made("empty.bin", "Nothing seen: one block of zeros.", {}, Numbered("n", 1, 20), Meta()),
      Made("one.bin", "The worked example of schemas/snapshot.md.", {"n1"}, Numbered("n", 2, 99), Meta()),
      Made("ten.bin", "One block still holds 1%.", Numbered("n", 1, 10), Numbered("n", 11, 90), Meta()),
      Made("hundred.bin", "Several blocks.", Numbered("item-", 0, 100), Numbered("item-", 100, 200), Meta()),
      Made("hundred_at_a_thousandth.bin", "The same items at 0.1%.", Numbered("item-", 0, 100),
           Numbered("item-", 100, 200), Meta(0.001)),
      Made("three_thousand.bin", "A busy user.", Numbered("item-", 0, 3000), Numbered("item-", 3000, 500),
           Meta()),
      Made("unicode.bin", "Ids are hashed as their UTF-8 bytes, neither normalised nor folded.", unicode,
           not_unicode, Meta()),
      Made("integers.bin", "Integer ids are their decimal strings; 9007199254740993 is no double.", integers,
           not_integers, Meta()),
      Made(
          "far_metadata.bin", "Metadata beyond 32 bits and below zero.", {"n1"}, Numbered("n", 2, 9),
          {SnapshotFormat::kSplitBlockBloom, 0, {4294967295999}, {-1}, 2147483647, 1'099'511'627'776, 0.001}),
      WithLongerHeader(),
  };
}

std::vector<GoldenSnapshot> SnapshotsOfOtherKinds() {
  std::vector<GoldenSnapshot> snapshots;
  for (size_t number = static_cast<size_t>(SnapshotFormat::kBloom); number < kSnapshotFormatCount; ++number) {
    const auto format = static_cast<SnapshotFormat>(number);
    const auto add = [&](std::string_view name, std::string note, std::vector<std::string> ids,
                         const std::vector<std::string>& candidates, double rate = 0.01) {
      snapshots.push_back(Made(std::string(SnapshotFormatName(format)) + "_" + std::string(name) + ".bin",
                               std::move(note), std::move(ids), candidates, UsualMeta(format, 0, rate)));
    };
    const auto hundred = Numbered("item-", 0, 100), others = Numbered("item-", 100, 200);
    add("empty", "Nothing seen.", {}, Numbered("n", 1, 20));
    add("one", "One item.", {"n1"}, Numbered("n", 2, 40));
    add("ten", "A light user.", Numbered("n", 1, 10), Numbered("n", 11, 90));
    add("hundred", "A hundred items.", hundred, others);
    if (0.001 >= LeastRate(format))
      add("hundred_at_a_thousandth", "The same items at 0.1%.", hundred, others, 0.001);
    add("thousand", "A busy user.", Numbered("item-", 0, 1000), Numbered("item-", 1000, 100));
    add("unicode", "Ids are hashed as their UTF-8 bytes, neither normalised nor folded.", UnicodeIds(),
        Numbered("曝光-", 1, 40));
    add("integers", "Integer ids are their decimal strings.", IntegerIds(), Numbered("", 1000, 40));
  }
  return snapshots;
}

namespace {

GoldenSnapshot WithSimilar(std::string file, std::string note, const SnapshotMeta& meta,
                           std::vector<std::string> ids, GoldenSimilar similar) {
  std::vector<Fingerprint> fingerprints;
  for (const std::string& id : similar.near) fingerprints.push_back(NearFingerprintOf(FingerprintOf(id)));
  for (const std::string& id : similar.groups) fingerprints.push_back(GroupFingerprintOf(FingerprintOf(id)));
  GoldenSnapshot made;
  made.file = std::move(file);
  made.note = std::move(note);
  if (NeedsDays(meta.format)) made.days = Spread(ids);
  made.bytes = Rendered(meta, ids, made.days, fingerprints);
  // Whether near, seen and a group are told apart shows in the others' ids.
  std::vector<std::string> others = ids;
  for (const std::string& id : Numbered("item-", 5000, 100)) others.push_back(id);
  const auto view = SnapshotView::Parse(made.bytes);
  if (!view) return made;
  std::vector<std::string> strangers = others;
  strangers.insert(strangers.begin(), similar.groups.begin(), similar.groups.end());
  for (const std::string& id : strangers) {
    if (!view->MightBeNear(id)) similar.not_near.push_back(id);
  }
  strangers = others;
  strangers.insert(strangers.begin(), similar.near.begin(), similar.near.end());
  for (const std::string& id : strangers) {
    if (!view->MightHoldGroup(id)) similar.not_groups.push_back(id);
  }
  std::vector<std::string> candidates = Numbered("item-", 5000, 100);
  candidates.insert(candidates.begin(), similar.near.begin(), similar.near.end());
  made.unseen = UnseenOf(made.bytes, candidates);
  made.seen = std::move(ids);
  made.similar = std::move(similar);
  return made;
}

GoldenSimilar Some(int near, int groups) {
  return {Numbered("near-", 0, near), {}, Numbered("group-", 0, groups), {}};
}

GoldenSnapshot SimilarWithLongerHeader() {
  GoldenSnapshot snapshot =
      WithSimilar("similar_longer_header.bin",
                  "As a later minor addition may write it: header_bytes is 80, and the eight "
                  "bytes after the known fields are to be skipped.",
                  UsualMeta(SnapshotFormat::kBloom), Numbered("item-", 0, 10), Some(10, 5));
  snapshot.bytes.insert(72, "\1\2\3\4\5\6\7\x08");
  snapshot.bytes = Patched(snapshot.bytes, 8, uint32_t{80});
  return snapshot;
}

}  // namespace

std::vector<GoldenSnapshot> SnapshotsWithSimilar() {
  std::vector<GoldenSnapshot> snapshots;
  for (size_t number = 1; number < kSnapshotFormatCount; ++number) {
    const auto format = static_cast<SnapshotFormat>(number);
    snapshots.push_back(WithSimilar("similar_" + std::string(SnapshotFormatName(format)) + ".bin",
                                    NeedsDays(format)
                                        ? "The second filter knows no days: it is a split_block_bloom."
                                        : "Both filters are of one kind.",
                                    UsualMeta(format), Numbered("item-", 0, 100), Some(60, 40)));
  }
  snapshots.push_back(WithSimilar("similar_auto.bin", "The filters differ in kind, each being the smallest.",
                                  UsualMeta(SnapshotFormat::kAuto, 0, 0.001), Numbered("item-", 0, 5),
                                  Some(1500, 500)));
  snapshots.push_back(WithSimilar("similar_empty.bin", "What is similar is known, and nothing is.",
                                  UsualMeta(SnapshotFormat::kSplitBlockBloom), Numbered("item-", 0, 10), {}));
  snapshots.push_back(
      WithSimilar("similar_ids.bin", "Ids are hashed as their UTF-8 bytes, integers as decimal strings.",
                  UsualMeta(SnapshotFormat::kFingerprints), {}, {UnicodeIds(), {}, IntegerIds(), {}}));
  snapshots.push_back(SimilarWithLongerHeader());
  return snapshots;
}

std::vector<RefusedSnapshot> RefusedWithSimilar() {
  // 72 bytes of header, one block, two blocks.
  const std::string good =
      WithSimilar("", "", UsualMeta(SnapshotFormat::kSplitBlockBloom), {"n1"}, Some(30, 0)).bytes;
  std::string short_header = good;
  short_header.erase(64, 8);
  const SnapshotMeta meta = UsualMeta(SnapshotFormat::kBloom, 1);
  const std::string bloom = Fields().U8(7).U64(~uint64_t{0}), no_probes = Fields().U8(0).U64(~uint64_t{0});
  const std::vector<Fingerprint> one = {FingerprintOf("n1")};
  const std::vector<ChainRow> row = {{Day{20413}, 0, 9, 1, one}};
  const std::string chain = ChainPayload(row);
  const std::string indexed = IndexedPayload({8, 8, 1, 1, 1, {}}, one);
  const auto second = [&](SnapshotFormat format, const std::string& payload) {
    return Enveloped(meta, bloom, SecondFilter{format, 1, payload});
  };
  return {
      {"refused_similar_header_bytes.bin", 8, "header_bytes is 64: too short for what flags announce",
       Patched(short_header, 8, uint32_t{64})},
      {"refused_similar_bytes.bin", 8, "similar_bytes above payload_bytes", Patched(good, 56, uint32_t{97})},
      {"refused_similar_bytes_huge.bin", 8, "similar_bytes of 2^32 - 1", Patched(good, 56, 0xffffffffU)},
      {"refused_similar_format.bin", 8, "an unknown similar_format", Patched(good, 60, uint8_t{255})},
      {"refused_similar_format_indexed.bin", 8, "similar_format 7, which knows days",
       Patched(good, 60, uint8_t{7})},
      {"refused_similar_format_days.bin", 8, "similar_format 10, which knows days",
       Patched(good, 60, uint8_t{10})},
      {"refused_similar_payload.bin", 9, "the second payload is no cuckoo filter, as similar_format says",
       Patched(good, 60, uint8_t{6})},
      {"refused_similar_none.bin", 9, "similar_bytes is 0: no block", Patched(good, 56, uint32_t{0})},
      {"refused_similar_all.bin", 9, "similar_bytes is all of the payload: none is left for the first filter",
       Patched(good, 56, uint32_t{96})},
      {"refused_similar_format_indexed_valid.bin", 8,
       "similar_format 7, which knows days; the second payload is valid for it",
       second(SnapshotFormat::kIndexedCuckoo, indexed)},
      {"refused_similar_format_days_valid.bin", 8,
       "similar_format 10, which knows days; the second payload is valid for it",
       second(SnapshotFormat::kDayChain, chain)},
      {"refused_similar_format_zero.bin", 8, "similar_format 0", Patched(good, 60, uint8_t{0})},
      {"refused_similar_format_twelve.bin", 8, "similar_format 12", Patched(good, 60, uint8_t{12})},
      {"refused_similar_first.bin", 9, "the first payload's k is 0",
       Enveloped(meta, no_probes, SecondFilter{SnapshotFormat::kBloom, 1, bloom})},
      {"refused_similar_second.bin", 9, "the second payload's k is 0",
       second(SnapshotFormat::kBloom, no_probes)},
  };
}

std::vector<GoldenSnapshot> Snapshots() {
  std::vector<GoldenSnapshot> snapshots = SplitBlockBloomSnapshots();
  for (GoldenSnapshot& snapshot : SnapshotsOfOtherKinds()) snapshots.push_back(std::move(snapshot));
  for (GoldenSnapshot& snapshot : SnapshotsWithSimilar()) snapshots.push_back(std::move(snapshot));
  for (GoldenSnapshot& snapshot : SnapshotsAtTheEdges()) snapshots.push_back(std::move(snapshot));
  for (GoldenSnapshot& snapshot : IndexedSnapshotsAtTheEdges()) snapshots.push_back(std::move(snapshot));
  return snapshots;
}

std::vector<RefusedSnapshot> Refused() {
  std::vector<RefusedSnapshot> refused = RefusedEnvelopes();
  for (RefusedSnapshot& snapshot : RefusedWithSimilar()) refused.push_back(std::move(snapshot));
  for (RefusedSnapshot& snapshot : RefusedPayloads()) refused.push_back(std::move(snapshot));
  return refused;
}

}  // namespace seen::golden
