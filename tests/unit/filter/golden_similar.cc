// Golden snapshots that say what is similar.

#include "filter/snapshot.h"
#include "unit/filter/golden_bytes.h"
#include "unit/filter/golden_payloads.h"
#include "unit/filter/golden_snapshots.h"

namespace seen::golden {
namespace {

SnapshotMeta MetaOf(SnapshotFormat format, double rate = 0.01) {
  return {format, 0, {1763700000123}, {20383}, 3, 123456789, rate};
}

GoldenSnapshot Made(std::string file, std::string note, const SnapshotMeta& meta,
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

GoldenSnapshot LongerHeader() {
  GoldenSnapshot snapshot = Made("similar_longer_header.bin",
                                 "As a later minor addition may write it: header_bytes is 80, and the eight "
                                 "bytes after the known fields are to be skipped.",
                                 MetaOf(SnapshotFormat::kBloom), Numbered("item-", 0, 10), Some(10, 5));
  snapshot.bytes.insert(72, "\1\2\3\4\5\6\7\x08");
  snapshot.bytes = Patched(snapshot.bytes, 8, uint32_t{80});
  return snapshot;
}

}  // namespace

std::vector<GoldenSnapshot> SnapshotsWithSimilar() {
  std::vector<GoldenSnapshot> snapshots;
  for (size_t number = 1; number < kSnapshotFormatCount; ++number) {
    const auto format = static_cast<SnapshotFormat>(number);
    snapshots.push_back(Made("similar_" + std::string(SnapshotFormatName(format)) + ".bin",
                             NeedsDays(format) ? "The second filter knows no days: it is a split_block_bloom."
                                               : "Both filters are of one kind.",
                             MetaOf(format), Numbered("item-", 0, 100), Some(60, 40)));
  }
  snapshots.push_back(Made("similar_auto.bin", "The filters differ in kind, each being the smallest.",
                           MetaOf(SnapshotFormat::kAuto, 0.001), Numbered("item-", 0, 5), Some(1500, 500)));
  snapshots.push_back(Made("similar_empty.bin", "What is similar is known, and nothing is.",
                           MetaOf(SnapshotFormat::kSplitBlockBloom), Numbered("item-", 0, 10), {}));
  snapshots.push_back(Made("similar_ids.bin",
                           "Ids are hashed as their UTF-8 bytes, integers as decimal strings.",
                           MetaOf(SnapshotFormat::kFingerprints), {}, {UnicodeIds(), {}, IntegerIds(), {}}));
  snapshots.push_back(LongerHeader());
  return snapshots;
}

std::vector<RefusedSnapshot> RefusedWithSimilar() {
  // 72 bytes of header, one block, two blocks.
  const std::string good = Made("", "", MetaOf(SnapshotFormat::kSplitBlockBloom), {"n1"}, Some(30, 0)).bytes;
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

}  // namespace seen::golden
