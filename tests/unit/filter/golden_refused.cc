// Golden snapshots that readers refuse: for their envelope (most break one rule, some several), or for a
// payload that breaks one rule under "Refuse" of its kind, in schemas/snapshot.md.

#include <bit>
#include <limits>

#include "unit/filter/golden_bytes.h"
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
      {"refused_flags_others.bin", 6, "a flag beside bits 0 and 1", Patched(good, 7, uint8_t{4})},
      {"refused_updates.bin", 6, "bit 1 of flags: the filter publishes updates, so its snapshots may be late",
       Patched(Changed(HeaderOf(64, good), 56, uint64_t{7}), 7, uint8_t{2}), true},
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

namespace {

struct WrongPayload {
  std::string_view name;
  std::string why;
  std::string payload;
};
using Wrong = std::vector<WrongPayload>;

Wrong BloomPayloads() {
  const std::string ones(10, '\xff');
  return {
      {"empty", "no bytes", ""},
      {"short", "k alone: there must be a byte behind it", Fields().U8(7)},
      {"k_low", "k is 0", Fields().U8(0).Add(ones)},
      {"k_high", "k is 33", Fields().U8(33).Add(ones)},
  };
}

Wrong DLeftPayloads() {
  const auto fields = [](int r, int cells, uint32_t buckets) {
    return Fields().U8(static_cast<uint64_t>(r)).U8(static_cast<uint64_t>(cells)).U32(buckets);
  };
  return {
      {"fields", "5 bytes", Fields().U8(6).U8(1).Zeros(3)},
      {"r_low", "r is 0", fields(0, 1, 1).Zeros(1)},
      {"r_high", "r is 33", fields(33, 1, 1).Zeros(18)},
      {"cells_low", "cells is 0", fields(6, 0, 1)},
      {"cells_high", "cells is 17", fields(6, 17, 1).Zeros(68)},
      {"buckets", "buckets is 0", fields(6, 1, 0)},
      {"short", "a byte is missing", fields(6, 1, 1).Zeros(3)},
      {"long", "a byte too many", fields(6, 1, 1).Zeros(5)},
      {"wraps", "the cells take 2^32 bits, which are 0 in 32 bits", fields(2, 1, 1U << 28)},
  };
}

Wrong QuotientPayloads() {
  const auto fields = [](uint64_t r, uint64_t quotients, uint64_t slots) {
    return Fields().U8(r).U32(quotients).U32(slots);
  };
  struct Block {
    uint64_t offset, occupied, run_ends;
  };
  // r is 8.
  const auto one = [&](uint64_t quotients, uint64_t slots, Block block) {
    return fields(8, quotients, slots).U16(block.offset).U64(block.occupied).U64(block.run_ends).Zeros(slots);
  };
  const auto two = [&](Block first, Block second) {
    Fields payload = fields(8, 128, 128);
    for (const Block& block : {first, second})
      payload.U16(block.offset).U64(block.occupied).U64(block.run_ends).Zeros(64);
    return payload;
  };
  const std::string good = one(64, 64, {});
  constexpr uint64_t kBit59 = uint64_t{1} << 59, kBit60 = uint64_t{1} << 60, kBit62 = uint64_t{1} << 62;
  return {
      {"fields", "8 bytes", Fields().U8(8).U32(1).Zeros(3)},
      {"r_low", "r is 0", fields(0, 64, 64).Zeros(18)},
      {"r_high", "r is 33", fields(33, 64, 64).Zeros(18 + 8 * 33)},
      {"quotients", "quotients is 0", one(0, 64, {})},
      {"slots_low", "slots is below quotients", one(65, 64, {})},
      {"slots_high", "slots is 2^32 - 63", fields(8, 64, 0xffffffc1).Zeros(18 + 64)},
      {"short", "a byte is missing", good.substr(0, good.size() - 1)},
      {"long", "a byte too many", good + '\0'},
      {"occupied", "quotient 60 of 60 is occupied", one(60, 64, {0, kBit60, kBit60})},
      {"run_end", "slot 62 of 62 is a run end", one(60, 62, {0, kBit59, kBit62})},
      {"run_ends_few", "two quotients are occupied, one run ends", one(64, 64, {0, 3, 1 << 5})},
      {"run_ends_many", "one quotient is occupied, two runs end", one(64, 64, {0, 1, 3})},
      {"run_end_early", "the run of quotient 2 ends in slot 1", one(64, 64, {0, 4, 2})},
      {"run_end_early_second", "the second run end is before the second occupied quotient",
       one(64, 64, {0, 1 | 1 << 5, 1 | 1 << 4})},
      {"offset_first", "the first block's offset isn't 0", one(64, 64, {1, 1, 1})},
      {"offset_low", "an offset is 0 where a run of the block before takes a slot",
       two({0, 1, 0}, {0, 0, 1})},
      {"offset_high", "an offset is 2 where a run of the block before takes a slot",
       two({0, 1, 0}, {2, 0, 1})},
  };
}

Wrong CuckooPayloads() {
  return {
      {"fields", "4 bytes", Fields().U8(8).Zeros(3)},
      {"f_low", "f is 1", Fields().U8(1).U32(1).Zeros(1)},
      {"f_high", "f is 33", Fields().U8(33).U32(1).Zeros(17)},
      {"buckets", "buckets is 0", Fields().U8(8).U32(0)},
      {"short", "a byte is missing", Fields().U8(8).U32(1).Zeros(3)},
      {"long", "a byte too many", Fields().U8(8).U32(1).Zeros(5)},
      {"wraps", "the entries take 2^32 bits, which are 0 in 32 bits", Fields().U8(8).U32(1U << 27)},
  };
}

Wrong IndexedCuckooPayloads() {
  const auto fields = [](uint64_t f, uint64_t n, uint64_t buckets, uint64_t capacity, uint64_t days) {
    return Fields().U8(f).U8(n).U32(buckets).U32(0).U32(capacity).U16(days);
  };
  return {
      {"fields", "15 bytes", Fields().U8(8).U8(8).U32(1).Zeros(9)},
      {"f_low", "f is 1", fields(1, 8, 1, 0, 0).Zeros(5)},
      {"f_high", "f is 33", fields(33, 8, 1, 0, 0).Zeros(21)},
      {"n_low", "n is 0", fields(8, 0, 1, 0, 0).Zeros(4)},
      {"n_high", "n is 33", fields(8, 33, 1, 0, 0).Zeros(21)},
      {"buckets", "buckets is 0", fields(8, 8, 0, 0, 0)},
      {"capacity", "capacity is 2^n + 1", fields(8, 8, 1, 257, 0).Zeros(8)},
      {"rows", "a row of days is missing", fields(8, 8, 1, 0, 1).Zeros(8)},
      {"short", "a byte is missing", fields(8, 8, 1, 0, 0).Zeros(7)},
      {"long", "a byte too many", fields(8, 8, 1, 0, 0).Zeros(9)},
      {"wraps", "the entries take 2^32 bits, which are 0 in 32 bits", fields(8, 8, 1U << 26, 0, 0)},
  };
}

/// `width`: bytes of an entry.
Wrong BinaryFusePayloads(size_t width) {
  return {
      {"fields", "5 bytes", Fields().Zeros(5)},
      {"length_log2", "length_log2 is 19", Fields().U8(19).U8(0).U32(0)},
      {"rest", "a byte where nothing is in", Fields().U8(0).U8(0).U32(0).Zeros(1)},
      {"short", "a byte is missing", Fields().U8(0).U8(0).U32(1).Zeros(3 * width - 1)},
      {"long", "a byte too many", Fields().U8(0).U8(0).U32(1).Zeros(3 * width + 1)},
      {"wraps", "segments * length is 2^32; the entries are 4 in 32 bits",
       Fields().U8(1).U8(0).U32(1U << 31).Zeros(4 * width)},
  };
}

Wrong DayChainPayloads() {
  const auto row = [](int32_t day, uint32_t blocks) -> std::string {
    return Fields().U32(static_cast<uint32_t>(day)).U32(0).U32(0).U32(9).U32(blocks);
  };
  return {
      {"fields", "3 bytes", Fields().Zeros(3)},
      {"rows", "a row is cut off", Fields().U32(1).Add(row(5, 1).substr(0, 19))},
      {"rows_wrap", "4 + 20 * days is the length only in 32 bits", Fields().U32(214748365).Zeros(4)},
      {"blocks", "a day has no blocks", Fields().U32(1).Add(row(5, 0))},
      {"ascends", "day 6 follows day 5", Fields().U32(2).Add(row(5, 1)).Add(row(6, 1)).Zeros(64)},
      {"ascends_across_1970", "day 5 follows day -1",
       Fields().U32(2).Add(row(-1, 1)).Add(row(5, 1)).Zeros(64)},
      {"short", "a byte is missing", Fields().U32(1).Add(row(5, 1)).Zeros(31)},
      {"long", "a byte too many", Fields().U32(1).Add(row(5, 1)).Zeros(33)},
      {"blocks_wrap", "the blocks take 32 bytes only in 32 bits",
       Fields().U32(1).Add(row(5, (1U << 27) + 1)).Zeros(32)},
  };
}

Wrong FingerprintsPayloads() {
  return {
      {"fields", "4 bytes", Fields().Zeros(4)},
      {"k", "k is 32", Fields().U8(32).U32(0)},
      {"count", "2^32 - 1 values in 32 bytes", Fields().U8(0).U32(0xffffffff).Add(std::string(32, '\xff'))},
      {"zeros", "the code ends within the zeros of value 8", Fields().U8(0).U32(8).U8(0x7f)},
      {"low_bits", "the code ends within the low bits of value 3", Fields().U8(4).U32(3).U16(0x4021)},
      {"first", "the first value is 2^32", Fields().U8(31).U32(1).U32(4).U8(0)},
      {"second", "the second value is 2^32", Fields().U8(31).U32(2).U64(0x3fffffffe).U8(0)},
      {"long", "a byte too many", Fields().U8(0).U32(8).U16(0xff)},
      {"padding", "the padding isn't zero", Fields().U8(0).U32(7).U8(0xff)},
      {"rest", "a byte where nothing is in", Fields().U8(0).U32(0).U8(0)},
  };
}

}  // namespace

std::vector<RefusedSnapshot> RefusedPayloads() {
  using enum SnapshotFormat;
  const std::pair<SnapshotFormat, Wrong> of_kinds[] = {
      {kBloom, BloomPayloads()},
      {kCountingBloom, BloomPayloads()},
      {kDLeft, DLeftPayloads()},
      {kQuotient, QuotientPayloads()},
      {kCuckoo, CuckooPayloads()},
      {kIndexedCuckoo, IndexedCuckooPayloads()},
      {kBinaryFuse8, BinaryFusePayloads(1)},
      {kBinaryFuse16, BinaryFusePayloads(2)},
      {kDayChain, DayChainPayloads()},
      {kFingerprints, FingerprintsPayloads()},
  };
  std::vector<RefusedSnapshot> refused;
  for (const auto& [format, payloads] : of_kinds) {
    for (const WrongPayload& one : payloads) {
      refused.push_back(
          {"refused_" + std::string(SnapshotFormatName(format)) + "_" + std::string(one.name) + ".bin", 9,
           one.why, Enveloped(UsualMeta(format), one.payload)});
    }
  }
  return refused;
}

}  // namespace seen::golden
