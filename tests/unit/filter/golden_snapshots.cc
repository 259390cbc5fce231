#include "unit/filter/golden_snapshots.h"

#include <set>

#include "filter/snapshot.h"
#include "unit/filter/golden_bytes.h"
#include "unit/filter/reference_bloom.h"

namespace seen::golden {
namespace {

using namespace std::string_literals;

GoldenSnapshot Made(std::string file, std::string note, std::vector<std::string> ids,
                    const std::vector<std::string>& candidates, SnapshotMeta meta) {
  std::set<Fingerprint> sorted;
  for (const std::string& id : ids) sorted.insert(FingerprintOf(id));
  const std::vector<Fingerprint> fingerprints(sorted.begin(), sorted.end());
  std::string bytes = RenderSnapshot(meta, fingerprints);
  std::vector<std::string> unseen;
  for (const std::string& id : candidates) {
    if (!reference::MightContain(std::string_view(bytes).substr(56), FingerprintOf(id))) unseen.push_back(id);
  }
  return {std::move(file), std::move(note), std::move(bytes), std::move(ids), std::move(unseen), {}, {}};
}

SnapshotMeta Meta(double rate = 0.01) {
  return {SnapshotFormat::kSplitBlockBloom, 0, {1763700000123}, {20383}, 3, 123456789, rate};
}

GoldenSnapshot LongerHeader() {
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
      LongerHeader(),
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
