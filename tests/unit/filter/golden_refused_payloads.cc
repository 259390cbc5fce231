// Golden snapshots with a payload that breaks one rule under "Refuse" of its kind, in schemas/snapshot.md.
// All else is right, as far as it can be.

#include "unit/filter/golden_bytes.h"
#include "unit/filter/golden_snapshots.h"

namespace seen::golden {
namespace {

struct WrongPayload {
  SnapshotFormat format;
  std::string_view name;
  std::string why;
  std::string payload;
};
using Wrong = std::vector<WrongPayload>;

void AddBlooms(Wrong& wrong) {
  for (const SnapshotFormat format : {SnapshotFormat::kBloom, SnapshotFormat::kCountingBloom}) {
    const std::string ones(10, '\xff');
    wrong.push_back({format, "empty", "no bytes", ""});
    wrong.push_back({format, "short", "k alone: there must be a byte behind it", Fields().U8(7)});
    wrong.push_back({format, "k_low", "k is 0", Fields().U8(0).Add(ones)});
    wrong.push_back({format, "k_high", "k is 33", Fields().U8(33).Add(ones)});
  }
}

void AddDLeft(Wrong& wrong) {
  const auto add = [&](std::string_view name, std::string why, std::string payload) {
    wrong.push_back({SnapshotFormat::kDLeft, name, std::move(why), std::move(payload)});
  };
  const auto fields = [](int r, int cells, uint32_t buckets) {
    return Fields().U8(static_cast<uint64_t>(r)).U8(static_cast<uint64_t>(cells)).U32(buckets);
  };
  add("fields", "5 bytes", Fields().U8(6).U8(1).Zeros(3));
  add("r_low", "r is 0", fields(0, 1, 1).Zeros(1));
  add("r_high", "r is 33", fields(33, 1, 1).Zeros(18));
  add("cells_low", "cells is 0", fields(6, 0, 1));
  add("cells_high", "cells is 17", fields(6, 17, 1).Zeros(68));
  add("buckets", "buckets is 0", fields(6, 1, 0));
  add("short", "a byte is missing", fields(6, 1, 1).Zeros(3));
  add("long", "a byte too many", fields(6, 1, 1).Zeros(5));
  add("wraps", "the cells take 2^32 bits, which are 0 in 32 bits", fields(2, 1, 1U << 28));
}

void AddQuotient(Wrong& wrong) {
  const auto add = [&](std::string_view name, std::string why, std::string payload) {
    wrong.push_back({SnapshotFormat::kQuotient, name, std::move(why), std::move(payload)});
  };
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
  add("fields", "8 bytes", Fields().U8(8).U32(1).Zeros(3));
  add("r_low", "r is 0", fields(0, 64, 64).Zeros(18));
  add("r_high", "r is 33", fields(33, 64, 64).Zeros(18 + 8 * 33));
  add("quotients", "quotients is 0", one(0, 64, {}));
  add("slots_low", "slots is below quotients", one(65, 64, {}));
  add("slots_high", "slots is 2^32 - 63", fields(8, 64, 0xffffffc1).Zeros(18 + 64));
  add("short", "a byte is missing", good.substr(0, good.size() - 1));
  add("long", "a byte too many", good + '\0');
  add("occupied", "quotient 60 of 60 is occupied", one(60, 64, {0, kBit60, kBit60}));
  add("run_end", "slot 62 of 62 is a run end", one(60, 62, {0, kBit59, kBit62}));
  add("run_ends_few", "two quotients are occupied, one run ends", one(64, 64, {0, 3, 1 << 5}));
  add("run_ends_many", "one quotient is occupied, two runs end", one(64, 64, {0, 1, 3}));
  add("run_end_early", "the run of quotient 2 ends in slot 1", one(64, 64, {0, 4, 2}));
  add("run_end_early_second", "the second run end is before the second occupied quotient",
      one(64, 64, {0, 1 | 1 << 5, 1 | 1 << 4}));
  add("offset_first", "the first block's offset isn't 0", one(64, 64, {1, 1, 1}));
  add("offset_low", "an offset is 0 where a run of the block before takes a slot", two({0, 1, 0}, {0, 0, 1}));
  add("offset_high", "an offset is 2 where a run of the block before takes a slot",
      two({0, 1, 0}, {2, 0, 1}));
}

void AddCuckoo(Wrong& wrong) {
  const auto add = [&](std::string_view name, std::string why, std::string payload) {
    wrong.push_back({SnapshotFormat::kCuckoo, name, std::move(why), std::move(payload)});
  };
  add("fields", "4 bytes", Fields().U8(8).Zeros(3));
  add("f_low", "f is 1", Fields().U8(1).U32(1).Zeros(1));
  add("f_high", "f is 33", Fields().U8(33).U32(1).Zeros(17));
  add("buckets", "buckets is 0", Fields().U8(8).U32(0));
  add("short", "a byte is missing", Fields().U8(8).U32(1).Zeros(3));
  add("long", "a byte too many", Fields().U8(8).U32(1).Zeros(5));
  add("wraps", "the entries take 2^32 bits, which are 0 in 32 bits", Fields().U8(8).U32(1U << 27));
}

void AddIndexedCuckoo(Wrong& wrong) {
  const auto add = [&](std::string_view name, std::string why, std::string payload) {
    wrong.push_back({SnapshotFormat::kIndexedCuckoo, name, std::move(why), std::move(payload)});
  };
  const auto fields = [](uint64_t f, uint64_t n, uint64_t buckets, uint64_t capacity, uint64_t days) {
    return Fields().U8(f).U8(n).U32(buckets).U32(0).U32(capacity).U16(days);
  };
  add("fields", "15 bytes", Fields().U8(8).U8(8).U32(1).Zeros(9));
  add("f_low", "f is 1", fields(1, 8, 1, 0, 0).Zeros(5));
  add("f_high", "f is 33", fields(33, 8, 1, 0, 0).Zeros(21));
  add("n_low", "n is 0", fields(8, 0, 1, 0, 0).Zeros(4));
  add("n_high", "n is 33", fields(8, 33, 1, 0, 0).Zeros(21));
  add("buckets", "buckets is 0", fields(8, 8, 0, 0, 0));
  add("capacity", "capacity is 2^n + 1", fields(8, 8, 1, 257, 0).Zeros(8));
  add("rows", "a row of days is missing", fields(8, 8, 1, 0, 1).Zeros(8));
  add("short", "a byte is missing", fields(8, 8, 1, 0, 0).Zeros(7));
  add("long", "a byte too many", fields(8, 8, 1, 0, 0).Zeros(9));
  add("wraps", "the entries take 2^32 bits, which are 0 in 32 bits", fields(8, 8, 1U << 26, 0, 0));
}

void AddBinaryFuse(Wrong& wrong) {
  for (const SnapshotFormat format : {SnapshotFormat::kBinaryFuse8, SnapshotFormat::kBinaryFuse16}) {
    const auto add = [&](std::string_view name, std::string why, std::string payload) {
      wrong.push_back({format, name, std::move(why), std::move(payload)});
    };
    const size_t width = format == SnapshotFormat::kBinaryFuse8 ? 1 : 2;
    add("fields", "5 bytes", Fields().Zeros(5));
    add("length_log2", "length_log2 is 19", Fields().U8(19).U8(0).U32(0));
    add("rest", "a byte where nothing is in", Fields().U8(0).U8(0).U32(0).Zeros(1));
    add("short", "a byte is missing", Fields().U8(0).U8(0).U32(1).Zeros(3 * width - 1));
    add("long", "a byte too many", Fields().U8(0).U8(0).U32(1).Zeros(3 * width + 1));
    add("wraps", "segments * length is 2^32; the entries are 4 in 32 bits",
        Fields().U8(1).U8(0).U32(1U << 31).Zeros(4 * width));
  }
}

void AddDayChain(Wrong& wrong) {
  const auto add = [&](std::string_view name, std::string why, std::string payload) {
    wrong.push_back({SnapshotFormat::kDayChain, name, std::move(why), std::move(payload)});
  };
  const auto row = [](int32_t day, uint32_t blocks) -> std::string {
    return Fields().U32(static_cast<uint32_t>(day)).U32(0).U32(0).U32(9).U32(blocks);
  };
  add("fields", "3 bytes", Fields().Zeros(3));
  add("rows", "a row is cut off", Fields().U32(1).Add(row(5, 1).substr(0, 19)));
  add("rows_wrap", "4 + 20 * days is the length only in 32 bits", Fields().U32(214748365).Zeros(4));
  add("blocks", "a day has no blocks", Fields().U32(1).Add(row(5, 0)));
  add("ascends", "day 6 follows day 5", Fields().U32(2).Add(row(5, 1)).Add(row(6, 1)).Zeros(64));
  add("ascends_across_1970", "day 5 follows day -1",
      Fields().U32(2).Add(row(-1, 1)).Add(row(5, 1)).Zeros(64));
  add("short", "a byte is missing", Fields().U32(1).Add(row(5, 1)).Zeros(31));
  add("long", "a byte too many", Fields().U32(1).Add(row(5, 1)).Zeros(33));
  add("blocks_wrap", "the blocks take 32 bytes only in 32 bits",
      Fields().U32(1).Add(row(5, (1U << 27) + 1)).Zeros(32));
}

void AddFingerprints(Wrong& wrong) {
  const auto add = [&](std::string_view name, std::string why, std::string payload) {
    wrong.push_back({SnapshotFormat::kFingerprints, name, std::move(why), std::move(payload)});
  };
  add("fields", "4 bytes", Fields().Zeros(4));
  add("k", "k is 32", Fields().U8(32).U32(0));
  add("count", "2^32 - 1 values in 32 bytes", Fields().U8(0).U32(0xffffffff).Add(std::string(32, '\xff')));
  add("zeros", "the code ends within the zeros of value 8", Fields().U8(0).U32(8).U8(0x7f));
  add("low_bits", "the code ends within the low bits of value 3", Fields().U8(4).U32(3).U16(0x4021));
  add("first", "the first value is 2^32", Fields().U8(31).U32(1).U32(4).U8(0));
  add("second", "the second value is 2^32", Fields().U8(31).U32(2).U64(0x3fffffffe).U8(0));
  add("long", "a byte too many", Fields().U8(0).U32(8).U16(0xff));
  add("padding", "the padding isn't zero", Fields().U8(0).U32(7).U8(0xff));
  add("rest", "a byte where nothing is in", Fields().U8(0).U32(0).U8(0));
}

}  // namespace

std::vector<RefusedSnapshot> RefusedPayloads() {
  Wrong wrong;
  AddBlooms(wrong);
  AddDLeft(wrong);
  AddQuotient(wrong);
  AddCuckoo(wrong);
  AddIndexedCuckoo(wrong);
  AddBinaryFuse(wrong);
  AddDayChain(wrong);
  AddFingerprints(wrong);
  std::vector<RefusedSnapshot> refused;
  for (const WrongPayload& one : wrong) {
    const std::string kind(SnapshotFormatName(one.format));
    refused.push_back({"refused_" + kind + "_" + std::string(one.name) + ".bin", 9, one.why,
                       Enveloped(UsualMeta(one.format), one.payload)});
  }
  return refused;
}

}  // namespace seen::golden
