// What is refused, in the order of schemas/snapshot.md, and what is said.

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <string>

#include "encoders.h"
#include "seen/snapshot.h"

namespace seen::client {
namespace {

using test::Items;
using test::Numbered;

template <typename T>
std::string With(std::string bytes, std::size_t at, T value) {
  std::string put;
  test::Put(put, value);
  return bytes.replace(at, put.size(), put);
}

struct Case {
  const char* name;
  std::string bytes;
  ErrorCode code;
  const char* says;
};

void Expect(const Case& wrong) {
  SCOPED_TRACE(wrong.name);
  const auto snapshot = Snapshot::Parse(wrong.bytes);
  ASSERT_FALSE(snapshot);
  EXPECT_EQ(static_cast<int>(snapshot.error().code), static_cast<int>(wrong.code))
      << snapshot.error().message;
  EXPECT_NE(snapshot.error().message.find(wrong.says), std::string::npos) << snapshot.error().message;
}

std::uint64_t BitsOf(double value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

TEST(Refusals, NameWhatIsWrongWithTheEnvelope) {
  const std::string good = test::SnapshotOf(Format::kSplitBlockBloom, Numbered("n", 10));
  const auto with = [&](std::size_t at, auto value) { return test::Signed(With(good, at, value)); };
  const Case kCases[] = {
      {"no bytes", "", ErrorCode::kNotASnapshot, "a tombstone is a null value"},
      {"three bytes", "SEE", ErrorCode::kNotASnapshot, "not a snapshot"},
      {"magic", with(0, std::uint8_t{'s'}), ErrorCode::kNotASnapshot, "doesn't start with SEEN"},
      {"header cut", good.substr(0, 55), ErrorCode::kCutOff, "55 bytes"},
      {"version before all others", With(good, 4, std::uint32_t{0xffffff02}), ErrorCode::kUnknownVersion,
       "version is 2"},
      {"header_bytes 48", with(8, std::uint32_t{48}), ErrorCode::kBadHeader, "header_bytes is 48"},
      {"header_bytes 60", with(8, std::uint32_t{60}), ErrorCode::kBadHeader, "header_bytes is 60"},
      {"header_bytes 4104", with(8, std::uint32_t{4104}), ErrorCode::kBadHeader, "header_bytes is 4104"},
      {"payload_bytes", with(48, std::uint32_t{0xffffffff}), ErrorCode::kWrongLength, "4294967351"},
      {"a byte more", good + "x", ErrorCode::kWrongLength, "the length is 89"},
      {"a bit", With(good, 60, std::uint8_t{0xff}), ErrorCode::kWrongChecksum, "checksum"},
      {"the checksum before the format", With(good, 5, std::uint8_t{77}), ErrorCode::kWrongChecksum,
       "checksum"},
      {"format 0", with(5, std::uint8_t{0}), ErrorCode::kUnknownFormat, "format is 0"},
      {"format 12", with(5, std::uint8_t{12}), ErrorCode::kUnknownFormat, "update the reader"},
      {"hash", with(6, std::uint8_t{2}), ErrorCode::kUnknownHash, "hash is 2"},
      {"flags", with(7, std::uint8_t{128}), ErrorCode::kUnknownFlags, "flags is 128"},
      {"rate 0", with(40, BitsOf(0)), ErrorCode::kBadRate, "false_positive_rate is 0"},
      {"rate above a half", with(40, BitsOf(0.6)), ErrorCode::kBadRate, "must be in (0, 0.5]"},
      {"rate no number", with(40, BitsOf(std::numeric_limits<double>::quiet_NaN())), ErrorCode::kBadRate,
       "nan"},
  };
  for (const Case& wrong : kCases) Expect(wrong);
}

TEST(Refusals, NameWhatIsWrongWithWhatIsSimilar) {
  const std::string first = test::SnapshotOf(Format::kBloom, Numbered("n", 10));
  const std::string second = test::SplitBlockBloomPayload(Numbered("m", 10), 1);
  const std::string good = test::WithSimilar(first, Format::kSplitBlockBloom, second);
  ASSERT_TRUE(Snapshot::Parse(good));
  const auto payload = static_cast<std::uint32_t>(good.size() - 72);
  const auto with = [&](std::size_t at, auto value) { return test::Signed(With(good, at, value)); };
  std::string short_header = With(good, 8, std::uint32_t{64});
  short_header.erase(64, 8);
  const Case kCases[] = {
      {"flag without its fields", test::Signed(With(first, 7, std::uint8_t{1})), ErrorCode::kBadHeader,
       "header_bytes is 56"},
      {"flag of updates", with(7, std::uint8_t{3}), ErrorCode::kNeedsUpdates,
       "flags is 3: this filter publishes updates; read them too (FilterReader, schemas/update.md)"},
      {"another flag", with(7, std::uint8_t{7}), ErrorCode::kUnknownFlags, "flags is 7"},
      {"header_bytes 64", test::Signed(short_header), ErrorCode::kBadHeader, "must be 72 or more"},
      {"similar_bytes", with(56, payload + 1), ErrorCode::kBadHeader, "similar_bytes is"},
      {"similar_bytes huge", with(56, 0xffffffffU), ErrorCode::kBadHeader, "similar_bytes is 4294967295"},
      {"format 0", with(60, std::uint8_t{0}), ErrorCode::kUnknownFormat, "similar_format is 0"},
      {"format 7", with(60, std::uint8_t{7}), ErrorCode::kUnknownFormat, "similar_format is 7"},
      {"format 10", with(60, std::uint8_t{10}), ErrorCode::kUnknownFormat, "similar_format is 10"},
      {"format 12", with(60, std::uint8_t{12}), ErrorCode::kUnknownFormat, "similar_format is 12"},
      {"no first", with(56, payload), ErrorCode::kBadPayload, "bloom: payload_bytes is 0"},
      {"half a second", with(56, std::uint32_t{16}), ErrorCode::kBadPayload,
       "what is similar: split_block_bloom: payload_bytes is 16"},
  };
  for (const Case& wrong : kCases) Expect(wrong);
  EXPECT_TRUE(Snapshot::ParseCopy(with(61, std::uint8_t{0xff}))) << "readers don't look at it";
  EXPECT_TRUE(Snapshot::ParseCopy(with(68, std::uint32_t{0xffffffff}))) << "nor at that";
}

TEST(Refusals, WhatNeedsANewerReaderIsToldApart) {
  for (const ErrorCode code : {ErrorCode::kUnknownVersion, ErrorCode::kUnknownFormat, ErrorCode::kUnknownHash,
                               ErrorCode::kUnknownFlags, ErrorCode::kUnknownKind}) {
    EXPECT_TRUE(NeedsNewerReader(code));
  }
  for (const ErrorCode code : {ErrorCode::kNotASnapshot, ErrorCode::kCutOff, ErrorCode::kWrongChecksum,
                               ErrorCode::kBadPayload, ErrorCode::kNeedsUpdates}) {
    EXPECT_FALSE(NeedsNewerReader(code));
  }
}

/// A payload of `format` that is `good` but for `value` at `at`.
template <typename T>
std::string Spoilt(Format format, const std::string& good, std::size_t at, T value) {
  return test::Envelope(format, With(good, at, value));
}

TEST(Refusals, NameWhatIsWrongWithAPayload) {
  using U8 = std::uint8_t;
  using U32 = std::uint32_t;
  const Items items = Numbered("n", 100);
  const std::string bloom = test::BloomPayload(items, 7, 120), d_left = test::DLeftPayload(items, 11, 8),
                    cuckoo = test::CuckooPayload(items, 10), fuse = test::BinaryFusePayload(items, 1),
                    indexed = test::IndexedCuckooPayload({{20400, 0, 0, items}}, 10, 7, 0, 100),
                    days = test::DayChainPayload({{20401, 0, 9, items}, {20400, 0, 9, items}}, 2),
                    exact = test::FingerprintsPayload(items, 25);
  std::vector<Case> cases;
  const auto add = [&](const char* name, std::string bytes, const char* says) {
    cases.push_back({name, std::move(bytes), ErrorCode::kBadPayload, says});
  };
  add("no block", test::Envelope(Format::kSplitBlockBloom, ""), "payload_bytes is 0");
  add("half a block", test::Envelope(Format::kSplitBlockBloom, std::string(48, 'x')), "payload_bytes is 48");
  add("no bits", test::Envelope(Format::kBloom, "\7"), "bloom: payload_bytes is 1");
  add("no counters", test::Envelope(Format::kCountingBloom, ""), "counting_bloom: payload_bytes is 0");
  add("k 0", Spoilt(Format::kBloom, bloom, 0, U8{0}), "k is 0");
  add("k 33", Spoilt(Format::kCountingBloom, bloom, 0, U8{33}), "k is 33");
  add("d-left fields", test::Envelope(Format::kDLeft, "12345"), "at least 6");
  add("d-left r", Spoilt(Format::kDLeft, d_left, 0, U8{33}), "r is 33");
  add("d-left cells", Spoilt(Format::kDLeft, d_left, 1, U8{17}), "cells is 17");
  add("d-left buckets", Spoilt(Format::kDLeft, d_left, 2, U32{0}), "buckets is 0");
  add("d-left length", Spoilt(Format::kDLeft, d_left, 2, U32{0xffffffff}), "d_left: payload_bytes is");
  add("cuckoo fields", test::Envelope(Format::kCuckoo, "1234"), "at least 5");
  add("cuckoo f", Spoilt(Format::kCuckoo, cuckoo, 0, U8{1}), "f is 1");
  add("cuckoo buckets", Spoilt(Format::kCuckoo, cuckoo, 1, U32{0}), "buckets is 0");
  add("cuckoo length", test::Envelope(Format::kCuckoo, cuckoo + "x"), "cuckoo: payload_bytes is");
  add("indexed fields", test::Envelope(Format::kIndexedCuckoo, std::string(15, '\1')), "at least 16");
  add("indexed f", Spoilt(Format::kIndexedCuckoo, indexed, 0, U8{33}), "f is 33");
  add("indexed n", Spoilt(Format::kIndexedCuckoo, indexed, 1, U8{0}), "n is 0");
  add("indexed buckets", Spoilt(Format::kIndexedCuckoo, indexed, 2, U32{0}), "buckets is 0");
  add("indexed capacity", Spoilt(Format::kIndexedCuckoo, indexed, 10, U32{129}), "capacity is 129");
  add("indexed days", Spoilt(Format::kIndexedCuckoo, indexed, 14, U8{9}), "indexed_cuckoo: payload_bytes is");
  add("fuse fields", test::Envelope(Format::kBinaryFuse8, "12345"), "at least 6");
  add("fuse length_log2", Spoilt(Format::kBinaryFuse8, fuse, 0, U8{19}), "length_log2 is 19");
  add("fuse segments", Spoilt(Format::kBinaryFuse8, fuse, 2, U32{0x80000000}), "segments is 2147483648");
  add("fuse of bytes as of u16", test::Envelope(Format::kBinaryFuse16, fuse),
      "binary_fuse_16: payload_bytes is");
  add("days fields", test::Envelope(Format::kDayChain, "123"), "at least 4");
  add("days cut", Spoilt(Format::kDayChain, days, 0, U32{0xffffffff}), "day_chain: payload_bytes is");
  add("days blocks", Spoilt(Format::kDayChain, days, 20, U32{0}), "blocks is 0");
  add("days blocks huge", Spoilt(Format::kDayChain, days, 20, U32{0xffffffff}),
      "day_chain: payload_bytes is");
  add("days ascend", Spoilt(Format::kDayChain, days, 4, U32{20399}), "days must descend");
  add("exact fields", test::Envelope(Format::kFingerprints, "1234"), "at least 5");
  add("exact k", Spoilt(Format::kFingerprints, exact, 0, U8{32}), "k is 32");
  add("exact count", Spoilt(Format::kFingerprints, exact, 1, U32{0xffffffff}), "count is 4294967295");
  add("exact one more", Spoilt(Format::kFingerprints, exact, 1, U32{101}), "value 100 of 101");
  add("exact one less", Spoilt(Format::kFingerprints, exact, 1, U32{99}), "its 99 values take");
  add("exact beyond",
      test::Envelope(Format::kFingerprints, std::string("\0\2\0\0\0", 5) + std::string(8, '\0')),
      "value 0 of 2");
  const std::string last = test::FingerprintsPayload({Fingerprint{0xffffffff}}, 31);  // 0 1, then 31 ones
  std::string past = last + std::string(4, '\0');  // another code follows: 1, then 31 zeros
  past[last.size() - 1] = static_cast<char>(past[last.size() - 1] | 2);
  add("exact past the last", Spoilt(Format::kFingerprints, past, 1, U32{2}),
      "value 1 of 2 is beyond 32 bits");
  add("exact padding", Spoilt(Format::kFingerprints, last, last.size() - 1, U8{0xff}), "padding isn't zero");
  add("exact nothing and a byte", test::Envelope(Format::kFingerprints, std::string(6, '\0')),
      "1 bytes of code");
  for (const Case& wrong : cases) Expect(wrong);
}

TEST(Refusals, NameWhatIsWrongWithAQuotientFilter) {
  // 70 quotients, 70 slots: block 0 at 9, its offset at 9, occupied at 11, run ends at 19; block 1 at 9 + 18
  // + 8 * 7.
  constexpr std::size_t kSecond = 9 + 18 + 56;
  const std::string empty = test::QuotientPayload({}, 7, 70);
  const auto expect = [](const char* name, const std::string& payload, const char* says) {
    Expect({name, test::Envelope(Format::kQuotient, payload), ErrorCode::kBadPayload, says});
  };
  EXPECT_TRUE(Quotient::Parse(empty));
  expect("fields", empty.substr(0, 8), "at least 9");
  expect("r", With(empty, 0, std::uint8_t{33}), "r is 33");
  expect("quotients", With(empty, 1, std::uint32_t{0}), "quotients is 0");
  expect("slots below quotients", With(empty, 5, std::uint32_t{69}), "slots is 69");
  expect("slots too many", With(empty, 5, std::uint32_t{0xffffffff}), "slots is 4294967295");
  expect("length", With(empty, 5, std::uint32_t{80}), "quotient: payload_bytes is");
  expect("occupied beyond", With(empty, kSecond + 2, std::uint64_t{1} << 6),
         "occupied bit at or after quotients");
  expect("run end beyond", With(empty, kSecond + 10, std::uint64_t{1} << 6), "run end at or after slots");
  expect("no run end", With(empty, 11, std::uint64_t{1}), "more occupied quotients than run ends");
  expect("run end alone", With(empty, kSecond + 10, std::uint64_t{2}),
         "more run ends than occupied quotients");
  const std::string late = With(With(empty, 11, std::uint64_t{4}), 19, std::uint64_t{2});
  expect("run before its quotient", late, "a run ends before its quotient");
  const std::string across = With(With(empty, 11, std::uint64_t{1}), kSecond + 10, std::uint64_t{1});
  expect("offset", across, "offset is 0, by the bits it is 1");
  EXPECT_TRUE(Quotient::Parse(With(across, kSecond, std::uint16_t{1})));
}

}  // namespace
}  // namespace seen::client
