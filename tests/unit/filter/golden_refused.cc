// Golden snapshots with an envelope that readers refuse. Most break one rule, some break several.

#include <bit>
#include <limits>

#include "unit/filter/golden_bytes.h"
#include "unit/filter/golden_payloads.h"
#include "unit/filter/golden_snapshots.h"

namespace seen::golden {
namespace {

using Limits = std::numeric_limits<double>;

uint64_t BitsOf(double value) { return std::bit_cast<uint64_t>(value); }

/// Bytes that fail the step and all later ones. The reader must name the first.
std::string WrongFrom(int step) {
  const std::string bloom = Fields().U8(7).U64(~uint64_t{0}), no_probes = Fields().U8(0).U64(~uint64_t{0});
  std::string bytes = Enveloped(UsualMeta(SnapshotFormat::kBloom, 1), no_probes,
                                SecondFilter{SnapshotFormat::kBloom, 1, bloom});
  if (step <= 8) bytes = Changed(bytes, 60, uint8_t{255});
  if (step <= 7) bytes = Changed(bytes, 40, BitsOf(Limits::quiet_NaN()));
  if (step <= 6) bytes = Changed(bytes, 5, uint8_t{255});
  bytes = Sealed(bytes);
  if (step <= 5) bytes = Changed(bytes, 52, ~GetInteger<uint32_t>(bytes, 52));
  if (step <= 4) bytes = Changed(bytes, 48, uint32_t{4});
  if (step <= 3) bytes = Changed(bytes, 8, uint32_t{57});
  if (step <= 2) bytes = Changed(bytes, 4, uint8_t{2});
  if (step <= 1) bytes = Changed(bytes, 0, 's');
  return bytes;
}

/// `good` with a header of that length. Nothing else is wrong.
std::string HeaderOf(uint32_t header_bytes, const std::string& good) {
  std::string longer = good;
  longer.insert(56, header_bytes - 56, '\0');
  return Patched(longer, 8, header_bytes);
}

}  // namespace

std::vector<RefusedSnapshot> RefusedEnvelopes() {
  const std::string good =
      RenderSnapshot(UsualMeta(SnapshotFormat::kSplitBlockBloom), PrintsOf(Numbered("n", 1, 40)));
  const std::string flipped = Changed(good, 70, static_cast<char>(good[70] ^ 4));
  const auto with_rate = [&](double rate) { return Patched(good, 40, BitsOf(rate)); };
  std::vector<RefusedSnapshot> refused = {
      {"refused_empty.bin", 1, "no bytes at all (a tombstone is a null value, not a snapshot)", ""},
      {"refused_magic.bin", 1, "the first four bytes are not SEEN", Patched(good, 0, 'X')},
      {"refused_version.bin", 2, "version 2", Patched(good, 4, uint8_t{2})},
      {"refused_format.bin", 6, "an unknown format", Patched(good, 5, uint8_t{255})},
      {"refused_hash.bin", 6, "an unknown hash", Patched(good, 6, uint8_t{2})},
      {"refused_flags.bin", 8, "bit 0 of flags without the fields it announces",
       Patched(good, 7, uint8_t{1})},
      {"refused_header_bytes.bin", 3, "header_bytes below 56", Patched(good, 8, uint32_t{48})},
      {"refused_header_bytes_huge.bin", 3, "header_bytes beyond the end",
       Patched(good, 8, uint32_t{0xfffffff8})},
      {"refused_payload_bytes.bin", 4, "payload_bytes is not the rest", Patched(good, 48, uint32_t{32})},
      {"refused_half_block.bin", 9, "payload_bytes is no multiple of 32",
       Patched(good.substr(0, 56 + 40), 48, uint32_t{40})},
      {"refused_no_block.bin", 9, "no block", Patched(good.substr(0, 56), 48, uint32_t{0})},
      {"refused_rate.bin", 7, "a false_positive_rate that is not a number", with_rate(Limits::quiet_NaN())},
      {"refused_checksum.bin", 5, "one bit of the payload is flipped", flipped},
      {"refused_cut.bin", 4, "the last byte is missing", good.substr(0, good.size() - 1)},
      {"refused_cut_header.bin", 1, "only 40 bytes", good.substr(0, 40)},
      {"refused_longer.bin", 4, "a byte too many", good + '\0'},
      {"refused_flags_others.bin", 6, "a flag beside bit 0", Patched(good, 7, uint8_t{2})},
      {"refused_cut_magic.bin", 1, "only 3 bytes", good.substr(0, 3)},
      {"refused_cut_by_one.bin", 1, "only 55 bytes", good.substr(0, 55)},
      {"refused_header_bytes_odd.bin", 3, "header_bytes is 60, no multiple of 8", HeaderOf(60, good)},
      {"refused_header_bytes_long.bin", 3, "header_bytes is 4104, above 4096", HeaderOf(4104, good)},
      {"refused_length_wraps.bin", 4, "header_bytes and payload_bytes add up to the length only in 32 bits",
       Patched(Changed(good, 8, uint32_t{4096}), 48, static_cast<uint32_t>(good.size() - 4096))},
      {"refused_version_zero.bin", 2, "version 0", Patched(good, 4, uint8_t{0})},
      {"refused_format_zero.bin", 6, "format 0", Patched(good, 5, uint8_t{0})},
      {"refused_format_twelve.bin", 6, "format 12", Patched(good, 5, uint8_t{12})},
      {"refused_hash_zero.bin", 6, "hash 0", Patched(good, 6, uint8_t{0})},
      {"refused_flags_highest.bin", 6, "bit 7 of flags", Patched(good, 7, uint8_t{128})},
      {"refused_rate_zero.bin", 7, "a false_positive_rate of 0", with_rate(0)},
      {"refused_rate_negative.bin", 7, "a false_positive_rate below 0", with_rate(-0.01)},
      {"refused_rate_above_half.bin", 7, "a false_positive_rate of 0.6", with_rate(0.6)},
      {"refused_rate_infinite.bin", 7, "an infinite false_positive_rate", with_rate(Limits::infinity())},
  };
  for (int step = 1; step <= 8; ++step) {
    const std::string number = std::to_string(step);
    refused.push_back({"refused_order_" + number + ".bin", step,
                       "fails step " + number + " and all that come after it", WrongFrom(step)});
  }
  return refused;
}

}  // namespace seen::golden
