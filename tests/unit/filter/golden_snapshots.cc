#include "unit/filter/golden_snapshots.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <set>

#include "filter/snapshot.h"
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

template <typename T>
std::string Patched(std::string bytes, size_t at, T value) {
  static_assert(std::endian::native == std::endian::little || sizeof(T) == 1);
  std::memcpy(bytes.data() + at, &value, sizeof(value));
  const uint32_t checksum = reference::Checksum(bytes);
  std::memcpy(bytes.data() + 52, &checksum, sizeof(checksum));
  return bytes;
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
  return snapshots;
}

std::vector<RefusedSnapshot> Refused() {
  const std::string good = Made("", "", Numbered("n", 1, 40), {}, Meta()).bytes;
  std::string flipped = good;
  flipped[70] = static_cast<char>(flipped[70] ^ 4);
  std::vector<RefusedSnapshot> refused = {
      {"refused_empty.bin", "no bytes at all (a tombstone is a null value, not a snapshot)", ""},
      {"refused_magic.bin", "the first four bytes are not SEEN", Patched(good, 0, 'X')},
      {"refused_version.bin", "version 2", Patched(good, 4, uint8_t{2})},
      {"refused_format.bin", "an unknown format", Patched(good, 5, uint8_t{255})},
      {"refused_hash.bin", "an unknown hash", Patched(good, 6, uint8_t{2})},
      {"refused_flags.bin", "bit 0 of flags without the fields it announces", Patched(good, 7, uint8_t{1})},
      {"refused_header_bytes.bin", "header_bytes below 56", Patched(good, 8, uint32_t{48})},
      {"refused_header_bytes_huge.bin", "header_bytes beyond the end",
       Patched(good, 8, uint32_t{0xfffffff8})},
      {"refused_payload_bytes.bin", "payload_bytes is not the rest", Patched(good, 48, uint32_t{32})},
      {"refused_half_block.bin", "payload_bytes is no multiple of 32",
       Patched(good.substr(0, 56 + 40), 48, uint32_t{40})},
      {"refused_no_block.bin", "no block", Patched(good.substr(0, 56), 48, uint32_t{0})},
      {"refused_rate.bin", "a false_positive_rate that is not a number",
       Patched(good, 40, std::numeric_limits<double>::quiet_NaN())},
      {"refused_checksum.bin", "one bit of the payload is flipped", flipped},
      {"refused_cut.bin", "the last byte is missing", good.substr(0, good.size() - 1)},
      {"refused_cut_header.bin", "only 40 bytes", good.substr(0, 40)},
      {"refused_longer.bin", "a byte too many", good + '\0'},
      {"refused_flags_others.bin", "a flag beside bit 0", Patched(good, 7, uint8_t{2})},
  };
  for (RefusedSnapshot& snapshot : RefusedWithSimilar()) refused.push_back(std::move(snapshot));
  return refused;
}

}  // namespace seen::golden
