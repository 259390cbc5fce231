#include "unit/filter/golden_updates.h"

#include <algorithm>
#include <limits>

#include "unit/filter/golden_bytes.h"
#include "unit/filter/golden_snapshots.h"
#include "unit/filter/reference_bloom.h"

namespace seen::golden {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr TimeMs kAsOf{1763700000123};

size_t BytesOfNames(const std::vector<std::string>& filters) {
  size_t bytes = 49;
  for (const std::string& filter : filters) bytes += 1 + filter.size();
  return bytes;
}

/// From the next byte behind the header on.
size_t HeaderOf(std::string_view bytes) {
  return static_cast<uint8_t>(bytes[6]) | static_cast<size_t>(static_cast<uint8_t>(bytes[7])) << 8;
}

std::vector<std::string> SixteenNames() {
  std::vector<std::string> names = {"default", "b", "\u00fcber", "\u65e5\u672c\u8a9e", "with space", "q\"\\"};
  while (names.size() < 16) names.push_back(OfLength(255 - names.size()));
  return names;
}

}  // namespace

UpdateEntry EntryOf(std::string_view user, const std::vector<std::string>& items) {
  return {UpdateUserOf(user), PrintsOf(items)};
}

std::string Base64(std::string_view bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (size_t at = 0; at < bytes.size(); at += 3) {
    const size_t here = std::min<size_t>(3, bytes.size() - at);
    uint32_t bits = 0;
    for (size_t i = 0; i < 3; ++i) bits = bits << 8 | (i < here ? static_cast<uint8_t>(bytes[at + i]) : 0U);
    for (size_t i = 0; i < 4; ++i) text += i <= here ? kDigits[bits >> (18 - 6 * i) & 63] : '=';
  }
  return text;
}

std::string SealedUpdate(std::string bytes) {
  const uint64_t hash = reference::Xxh64(bytes.substr(0, 8) + bytes.substr(12));
  return Changed(std::move(bytes), 8, static_cast<uint32_t>(hash));
}

std::string Encoded(const GoldenUpdate& update) {
  Fields names;
  for (const std::string& filter : update.filters) names.U8(filter.size()).Add(filter);
  names.Add(update.more_header);
  const size_t header_bytes = std::max<size_t>(56, 49 + std::string(names).size());
  names.Zeros(header_bytes - 49 - std::string(names).size());
  Fields bytes;
  bytes.Add("SEEU")
      .U8(1)
      .U8(update.header.part)
      .U16(header_bytes)
      .U32(0)
      .U32(static_cast<uint32_t>(update.header.partition))
      .U64(static_cast<uint64_t>(update.header.generation))
      .U64(static_cast<uint64_t>(update.header.from))
      .U64(static_cast<uint64_t>(update.header.to))
      .U64(static_cast<uint64_t>(update.header.as_of.value))
      .U8(update.filters.size())
      .Add(std::string(names));
  for (const GoldenSection& section : update.sections) {
    size_t items = 0;
    for (const UpdateEntry& entry : section.entries) items += entry.fingerprints.size();
    bytes.U16(section.mask)
        .U8(static_cast<uint8_t>(section.kind))
        .U8(update.reserved)
        .U32(section.until_s)
        .U32(section.entries.size())
        .U32(items);
    for (const UpdateEntry& entry : section.entries) bytes.U64(entry.user);
    for (const UpdateEntry& entry : section.entries) bytes.U16(entry.fingerprints.size());
    for (const UpdateEntry& entry : section.entries) {
      for (const Fingerprint fingerprint : entry.fingerprints) bytes.U32(fingerprint.value);
    }
  }
  return SealedUpdate(bytes);
}

std::string WrittenByDaemon(const GoldenUpdate& update) {
  UpdateRows rows;
  for (const GoldenSection& section : update.sections) {
    for (const UpdateEntry& entry : section.entries)
      rows.Add(section.mask, section.kind, section.until_s, entry.user, entry.fingerprints);
  }
  std::string bytes;
  EncodeUpdate(update.header, update.filters, rows, bytes);
  return bytes;
}

std::vector<GoldenUpdate> Updates() {
  constexpr auto kSimilar = AdditionKind::kSimilar;
  const std::vector<std::string> three = {"default", "clicks", "all"};
  std::vector<Fingerprint> many;
  for (uint32_t i = 0; i < 40'000; ++i) many.push_back({i % 10});
  const std::vector<Fingerprint> similar = {NearFingerprintOf(FingerprintOf("n1")),
                                            GroupFingerprintOf(FingerprintOf("g1"))};
  const std::vector<Fingerprint> ends = {{0}, {1}, {0x7fffffff}, {0x80000000}, {0xffffffff}};
  const GoldenSection one = {.entries = {EntryOf("u1", {"n1"})}};
  return {
      {"empty", {0, 1, 0, 0, {-1}}},
      {"empty_later", {3, 7, 500, 500, kAsOf}},
      {"one", {3, 7, 500, 501, kAsOf}, {"default"}, {one}},
      {"page", {3, 7, 500, 501, kAsOf}, {"default"}, {{.entries = {EntryOf("u1", Numbered("n", 1, 10))}}}},
      {"users",
       {3, 7, 500, 540, kAsOf},
       {"default"},
       {{.entries = {EntryOf("u1", {"n1", "n2"}), EntryOf("42", {"n3"}), EntryOf("u1", {"n1"}),
                     EntryOf("\u00fc", {"n4", "n5", "n4"})}}}},
      {"first_part", {3, 7, 500, 500, kAsOf}, {"default"}, {one}},
      {"second_part", {3, 7, 500, 500, kAsOf, 1}, {"default"}, {one}},
      {"last_part", {3, 7, 500, 540, kAsOf, 2}, {"default"}, {one}},
      {"filters",
       {3, 7, 500, 540, kAsOf},
       three,
       {{.mask = 1, .entries = {EntryOf("u1", {"n1"})}},
        {.mask = 2, .entries = {EntryOf("u1", {"n2"})}},
        {.mask = 4, .entries = {EntryOf("u2", {"n3", "n4"})}},
        {.mask = 7, .entries = {EntryOf("u3", {"n5"})}}}},
      {"kinds_and_ends",
       {3, 7, 500, 540, kAsOf},
       {"default"},
       {{.entries = {EntryOf("u1", {"n1"})}},
        {.kind = kSimilar, .entries = {{UpdateUserOf("u1"), similar}}},
        {.until_s = 1763700100, .entries = {EntryOf("u1", {"n2"})}},
        {.kind = kSimilar, .until_s = 0xffffffff, .entries = {{UpdateUserOf("u2"), similar}}}}},
      {"greatest_numbers",
       {0x7fffffff, kMost, kMost - 1, kMost, {kMost}, 255},
       {"default"},
       {{.until_s = 0x80000000,
         .entries = {{0xffffffffffffffff, ends}, {0, {{7}}}, {0x8000000000000000, {{8}}}}}}},
      {"sixteen_filters",
       {3, 7, 500, 540, kAsOf},
       SixteenNames(),
       {{.mask = 0x8000, .entries = {EntryOf("u1", {"n1"})}},
        {.mask = 0xffff, .entries = {EntryOf("u1", {"n2"})}}}},
      {"name_fills_the_header", {3, 7, 500, 501, kAsOf}, {"clicks"}, {one}},
      {"name_of_one_byte", {3, 7, 500, 501, kAsOf}, {"c"}, {one}},
      {"many_of_one_user", {3, 7, 500, 501, kAsOf}, {"default"}, {{.entries = {{UpdateUserOf("u1"), many}}}}},
      {"longer_header", {3, 7, 500, 501, kAsOf}, {"default"}, {one}, false, std::string(11, '\xff')},
      {"longest_header",
       {3, 7, 500, 501, kAsOf},
       {"default"},
       {one},
       false,
       std::string(8192 - BytesOfNames({"default"}), '\1')},
      {"reserved_byte", {3, 7, 500, 501, kAsOf}, {"default"}, {one}, false, "", 0xff},
      {"equal_sections", {3, 7, 500, 501, kAsOf}, {"default"}, {one, one}, false},
  };
}

namespace {

/// Fails `step` of "What to refuse", and all later ones.
std::string WrongUpdateFrom(int step) {
  GoldenUpdate update = {"", {3, 7, 500, 501, kAsOf}, {"default"}, {{.entries = {EntryOf("u1", {"n1"})}}}};
  std::string bytes = Encoded(update);
  bytes = Changed(bytes, HeaderOf(bytes) + 2, uint8_t{2});
  if (step <= 6) bytes = Changed(bytes, 49, uint8_t{0});
  if (step <= 5) bytes = Changed(bytes, 12, uint32_t{0xffffffff});
  if (step >= 5) return SealedUpdate(bytes);
  bytes = Changed(SealedUpdate(bytes), 8, uint32_t{0x12345678});
  if (step <= 3) bytes = Changed(bytes, 6, uint16_t{55});
  if (step <= 2) bytes = Changed(bytes, 4, uint8_t{2});
  if (step <= 1) bytes = Changed(bytes, 0, uint8_t{'s'});
  return bytes;
}

std::vector<RefusedUpdate> RefusedHeaders(const std::string& good) {
  const auto with = [&](size_t at, auto value) { return SealedUpdate(Changed(good, at, value)); };
  const auto header = [](UpdateHeader its, const std::vector<std::string>& filters = {"default"}) {
    return Encoded({"", its, filters, {{.entries = {EntryOf("u1", {"n1"})}}}});
  };
  const std::string empty = Encoded({"", {3, 7, 500, 501, kAsOf}, {"clicks"}});  // 56 bytes
  std::string flipped = good;
  flipped.back() = static_cast<char>(flipped.back() ^ 1);
  std::vector<std::string> seventeen = SixteenNames();
  seventeen.push_back("one more");
  return {
      {"no_bytes", 1, "no bytes", ""},
      {"three_bytes", 1, "only 3 bytes", good.substr(0, 3)},
      {"magic", 1, "another magic", with(0, uint8_t{'s'})},
      {"snapshot", 1, "a snapshot", Changed(good, 3, uint8_t{'N'})},
      {"magic_alone", 1, "only 4 bytes", good.substr(0, 4)},
      {"cut_by_one", 1, "only 55 bytes", empty.substr(0, 55)},
      {"version", 2, "version 2", with(4, uint8_t{2})},
      {"version_zero", 2, "version 0", with(4, uint8_t{0})},
      {"header_bytes", 3, "header_bytes is 55", with(6, uint16_t{55})},
      {"header_bytes_zero", 3, "header_bytes is 0", with(6, uint16_t{0})},
      {"header_bytes_long", 3, "header_bytes is 8193, above 8192",
       Encoded({"", {3, 7, 500, 501, kAsOf}, {"clicks"}, {}, false, std::string(8193 - 56, '\0')})},
      {"header_bytes_beyond", 3, "the record is a byte shorter than header_bytes",
       SealedUpdate(Changed(empty, 6, uint16_t{57}))},
      {"checksum", 4, "the last bit is flipped", flipped},
      {"checksum_itself", 4, "a bit of the checksum is flipped",
       Changed(good, 8, static_cast<uint8_t>(good[8] ^ 1))},
      {"checksum_part", 4, "part was changed after the checksum", Changed(good, 5, uint8_t{1})},
      {"checksum_partition", 4, "partition was changed after the checksum", Changed(good, 12, uint8_t{4})},
      {"cut", 4, "the last byte is missing", good.substr(0, good.size() - 1)},
      {"longer", 4, "a byte too many", good + '\0'},
      {"partition", 5, "partition is -1", header({-1, 7, 500, 501, kAsOf})},
      {"partition_least", 5, "partition is -2^31", with(12, uint32_t{0x80000000})},
      {"generation", 5, "generation is 0", header({3, 0, 500, 501, kAsOf})},
      {"generation_negative", 5, "generation is -1", header({3, -1, 500, 501, kAsOf})},
      {"from", 5, "from is -1", header({3, 7, -1, 501, kAsOf})},
      {"to", 5, "to is below from", header({3, 7, 500, 499, kAsOf})},
      {"to_negative", 5, "to is -2^63", header({3, 7, 500, std::numeric_limits<int64_t>::min(), kAsOf})},
      {"as_of_ms", 5, "as_of_ms is -2", header({3, 7, 500, 501, {-2}})},
      {"no_filter", 5, "filter_count is 0", with(48, uint8_t{0})},
      {"seventeen_filters", 5, "filter_count is 17", header({3, 7, 500, 501, kAsOf}, seventeen)},
      {"filter_count_255", 5, "filter_count is 255", with(48, uint8_t{255})},
      {"name_beyond", 6, "a name ends a byte behind header_bytes",
       SealedUpdate(Changed(empty, 49, uint8_t{7}))},
      {"name_beyond_in_sections", 6, "a name ends behind header_bytes, within the record",
       with(49, uint8_t{9})},
      {"name_missing", 6, "filter_count is 2, and the first name fills the header",
       SealedUpdate(Changed(empty, 48, uint8_t{2}))},
      {"name_empty", 6, "a name of no bytes", header({3, 7, 500, 501, kAsOf}, {"default", "", "all"})},
      {"name_twice", 6, "a name comes twice", header({3, 7, 500, 501, kAsOf}, {"default", "all", "default"})},
  };
}

std::vector<RefusedUpdate> RefusedSections(const std::string& good) {
  const size_t at = HeaderOf(good);  // of the section
  const std::string head = good.substr(0, at);
  const auto with = [&](size_t offset, auto value) {
    return SealedUpdate(Changed(good, at + offset, value));
  };
  const auto section = [&](const std::string& bytes) { return SealedUpdate(head + bytes); };
  // mask, kind and byte 3, until_s, users, items
  const auto fields = [](uint64_t users, uint64_t items) {
    return Fields().U16(1).U16(0).U32(0).U32(users).U32(items);
  };
  const std::string second = good.substr(at);
  return {
      {"mask", 7, "mask is 0", with(0, uint16_t{0})},
      {"mask_beyond", 7, "mask has a bit beyond the names", with(0, uint16_t{2})},
      {"mask_beyond_too", 7, "mask has a bit of the names and one beyond", with(0, uint16_t{0x8001})},
      {"kind", 7, "kind is 2", with(2, uint8_t{2})},
      {"kind_highest", 7, "kind is 255", with(2, uint8_t{255})},
      {"no_users", 7, "users is 0, items is 0", section(fields(0, 0))},
      {"no_users_but_items", 7, "users is 0", section(fields(0, 1).U32(7))},
      {"no_items", 7, "items is 0", section(fields(1, 0).U64(7).U16(0))},
      {"no_fingerprints", 7, "the second of two users has no fingerprints",
       section(fields(2, 1).U64(7).U64(8).U16(1).U16(0).U32(9))},
      {"sum_low", 7, "the counts make 1, items is 2", section(fields(1, 2).U64(7).U16(1).U32(8).U32(9))},
      {"sum_high", 7, "the counts make 2, items is 1", section(fields(1, 1).U64(7).U16(2).U32(8))},
      {"sum_wraps", 7, "the counts make 65,537, items is 1",
       section(fields(3, 1).U64(7).U64(8).U64(9).U16(0xffff).U16(1).U16(1).U32(8))},
      {"section_cut", 7, "the last byte of the section is missing",
       SealedUpdate(good.substr(0, good.size() - 1))},
      {"section_head_cut", 7, "only 15 bytes are left for a section", SealedUpdate(good.substr(0, at + 15))},
      {"rest", 7, "a byte behind the last section", SealedUpdate(good + '\0')},
      {"rest_of_zeros", 7, "16 zeros behind the last section", SealedUpdate(good + std::string(16, '\0'))},
      {"users_wrap", 7, "10 * users is 2^32 + 4, which is 4 in 32 bits",
       section(fields(429'496'730, 1).Zeros(8))},
      {"items_wrap", 7, "4 * items is 2^32 + 4, which is 4 in 32 bits",
       section(fields(1, 1'073'741'825).U64(7).U16(1).U32(8))},
      {"users_huge", 7, "users is 2^32 - 1", section(fields(0xffffffff, 1).U64(7).U16(1).U32(8))},
      {"second_section", 7, "the second section has a kind of 2",
       SealedUpdate(good + Changed(second, 2, uint8_t{2}))},
  };
}

std::string JsonOf(const GoldenSection& section) {
  const auto entry = [](const UpdateEntry& its) {
    return "{\"user\": \"" + std::to_string(its.user) + "\", \"fingerprints\": [" +
           Joined(its.fingerprints, ",", [](Fingerprint f) { return std::to_string(f.value); }) + "]}";
  };
  return "{\"mask\": " + std::to_string(section.mask) +
         ", \"kind\": " + std::to_string(static_cast<int>(section.kind)) +
         ", \"until_s\": " + std::to_string(section.until_s) + ",\n        \"entries\": [" +
         Joined(section.entries, ",\n          ", entry) + "]}";
}

}  // namespace

std::vector<RefusedUpdate> RefusedUpdates() {
  const std::string good =
      Encoded({"", {3, 7, 500, 501, kAsOf}, {"default"}, {{.entries = {EntryOf("u1", {"n1", "n2"})}}}});
  std::vector<RefusedUpdate> refused = RefusedHeaders(good);
  for (RefusedUpdate& one : RefusedSections(good)) refused.push_back(std::move(one));
  for (int step = 1; step <= 7; ++step) {
    refused.push_back({"order_" + std::to_string(step), step,
                       "fails step " + std::to_string(step) + " and all that come after it",
                       WrongUpdateFrom(step)});
  }
  return refused;
}

std::string UpdatesIndex() {
  const auto record = [](const GoldenUpdate& update) {
    const UpdateHeader& header = update.header;
    return "    {\"name\": " + Quoted(update.name) + ",\n     \"part\": " + std::to_string(header.part) +
           ", \"partition\": " + std::to_string(header.partition) +
           ", \"generation\": " + std::to_string(header.generation) +
           ", \"from\": " + std::to_string(header.from) + ", \"to\": " + std::to_string(header.to) +
           ", \"as_of_ms\": " + std::to_string(header.as_of.value) +
           ",\n     \"filters\": " + List(update.filters) + ",\n     \"sections\": [" +
           Joined(update.sections, ",\n       ", JsonOf) +
           "],\n     \"bytes\": " + Quoted(Base64(Encoded(update))) + "}";
  };
  const auto refused = [](const RefusedUpdate& update) {
    return "    {\"name\": " + Quoted(update.name) + ", \"step\": " + std::to_string(update.step) +
           ", \"why\": " + Quoted(update.why) + ",\n     \"bytes\": " + Quoted(Base64(update.bytes)) + "}";
  };
  return "{\n  \"records\": [\n" + Joined(Updates(), ",\n", record) + "\n  ],\n  \"refused\": [\n" +
         Joined(RefusedUpdates(), ",\n", refused) + "\n  ]\n}\n";
}

}  // namespace seen::golden
