// Compares the bytes that schemas/store.md specifies with files. The files change only if the format changes.
// SEEN_WRITE_GOLDEN=1 writes the files.
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "model/journal_row.h"
#include "rows/keys.h"
#include "rows/position_codec.h"
#include "store/journal_families.h"
#include "store_fixture.h"

namespace seen::test {
namespace {

struct Golden {
  std::string name;
  std::string bytes;
};

std::string Hex(const std::string& bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    hex += {kDigits[byte >> 4], kDigits[byte & 15]};
  }
  return hex;
}

// One line for each golden: "name: hex".
std::string Text(const std::vector<Golden>& goldens) {
  std::string text;
  for (const Golden& golden : goldens) text += golden.name + ": " + Hex(golden.bytes) + "\n";
  return text;
}

void ExpectGolden(const std::string& file, const std::vector<Golden>& goldens) {
  const std::string path = std::string(SEEN_SOURCE_DIR) + "/tests/golden/store/" + file;
  if (std::getenv("SEEN_WRITE_GOLDEN") != nullptr) std::ofstream(path) << Text(goldens);
  std::ifstream stream(path);
  std::stringstream stored;
  stored << stream.rdbuf();
  EXPECT_EQ(stored.str(), Text(goldens)) << path;
}

TEST(Golden, Keys) {
  const UserRef user{0x0102, UserKeyOf("u1")};
  ExpectGolden("keys.txt",
               {{"position", std::string(PositionKey())},
                {"wholeness", std::string(WholenessKey())},
                {"offsets", std::string(OffsetsKey())},
                {"descriptor", std::string(DescriptorKey())},
                {"journal's start", std::string(JournalStartKey())},
                {"delta of user u1 in filter 258", std::string(View(KeyOf(Table::kDeltas, user)))},
                {"mark of user u1 in filter 258", std::string(View(KeyOf(Table::kMarks, user)))}});
}

TEST(Golden, Position) {
  Position position{
      1'000'000, {1'763'700'000'123}, {999'999, {1'763'700'000'100}, 0x0123456789abcdefu}, {}, {}};
  const std::string plain = EncodePosition(position);
  position.lost_ranges = {{10, 20, {1'763'600'000'000}}, {500, 777, {1'763'650'000'000}}};
  ExpectGolden("position.txt", {{"nothing read yet", EncodePosition({})},
                                {"no ranges lost", plain},
                                {"two ranges lost", EncodePosition(position)}});
  position.generation = 0x1122334455667788;
  const std::string with_generation = *EncodePositionRows(position)[2];
  position.read_to = 1'000'100;
  ExpectGolden("offsets.txt",
               {{"a generation", with_generation},
                {"a generation; rows hold more than the position", *EncodePositionRows(position)[2]}});
}

TEST(Golden, Wholeness) {
  ExpectGolden(
      "wholeness.txt",
      {{"filter 0, whole always", EncodeWholeness({{0, {0}, false, 30, LastPublished::kInState}})},
       {"filter 0, last published snapshots kept; filter 2, awaits a record; filter 3, not configured",
        EncodeWholeness({{0, {1'763'700'000'123}, false, 30, LastPublished::kKept},
                         {2, {1'763'600'000'000}, true, 7, LastPublished::kUnread},
                         {3, kNotRecorded, false, 90, LastPublished::kInState}})}});
}

TEST(Golden, Journal) {
  std::vector<Golden> goldens;
  const auto add = [&](const std::string& name, const JournalRow& row) {
    std::string bytes;
    EncodeJournalRow(row, bytes);
    goldens.push_back({name, bytes});
  };
  const JournalKey key = JournalKeyOf(UserKeyOf("u1"), {{1'763'700'000'123}, 1'000'000});
  goldens.push_back({"key of user u1, 2025-11-21T04:40:00.123Z, offset 1000000", {key.begin(), key.end()}});
  goldens.push_back({"whole from day 20000 on", EncodeJournalStart({20'000})});
  add("item a exposed, filter 0", {0, {0}, "", "", {{"a", {}}}});
  add("items a, b, c served on home at 0, 1 and 7, request r-1, filters 0 and 258",
      {1, {0, 258}, "home", "r-1", {{"a", 0}, {"b", 1}, {"c", 7}}});
  add("item a removed at -1, item b without position", {2, {3}, "", "", {{"a", -1}, {"b", {}}}});
  ExpectGolden("journal.txt", goldens);
}

TEST(Golden, Descriptor) {
  StoreDescriptor descriptor{{"exposures", 3, 8, "murmur2"}, {{"home", 30, {50'000}}, {"video", 7, {200}}}};
  const std::string plain = EncodeDescriptor(descriptor);
  std::string version_1 = plain.substr(0, plain.size() - 6);
  version_1[0] = 1;
  descriptor.kinds = {"clicked", "purchased"};
  const std::string with_kinds = EncodeDescriptor(descriptor);
  std::string version_2 = with_kinds.substr(0, with_kinds.size() - 4);
  version_2[0] = 2;
  descriptor.topics = {"seen-home", "seen-video"};
  const std::string with_topics = EncodeDescriptor(descriptor);
  std::string version_3 = with_topics.substr(0, with_topics.size() - 2);
  version_3[0] = 3;
  descriptor.filters[0].kinds = {{"purchased", 365}};
  ExpectGolden("descriptor.txt", {{"two filters, as version 1 had it", version_1},
                                  {"two filters", plain},
                                  {"two filters, two kinds, as version 2 had it", version_2},
                                  {"two filters, two kinds", with_kinds},
                                  {"two filters, two kinds, two topics, as version 3 had it", version_3},
                                  {"two filters, two kinds, two topics", with_topics},
                                  {"a filter that counted a kind", EncodeDescriptor(descriptor)}});
}

Delta Others(std::vector<OtherSegment> others) {
  Delta delta;
  delta.user_id = "u1";
  delta.others = std::move(others);
  return delta;
}

std::vector<std::pair<std::string, Delta>> Deltas() {
  std::vector<std::pair<std::string, Delta>> deltas;
  deltas.emplace_back("empty", Delta{});
  deltas.emplace_back("user u1, one item on day 20000", Exposures({20'000}, {0x12345678}, "u1"));
  deltas.emplace_back("smallest and largest fingerprint", Exposures({20'000}, {0, 0xffffffff}, "u1"));
  Delta three = Exposures({20'000}, {1, 2, 3, 1'000'000, 0x80000000}, "用户");
  three.segments.push_back({{20'001}, 0, 86'399, {{7}}});
  three.segments.push_back({{20'010}, 3'600, 3'600, {}});
  deltas.emplace_back("days 20000, 20001 and, emptied by removals, 20010", three);
  Delta erased;
  erased.user_id = "u1";
  erased.erased = Day{19'999};
  deltas.emplace_back("user u1 erased until day 19999", erased);
  Delta all = three;
  all.erased = Day{19'990};
  all.removals = {{{5}, {20'000}}, {{9}, {19'998}}, {{0x90000000}, {20'010}}};
  deltas.emplace_back("everything at once", all);
  Delta early = Exposures({-1}, {42}, "");
  deltas.emplace_back("no user id, the day before 1970", early);
  Delta hundred;
  hundred.user_id = "user-100";
  Segment segment{{20'005}, 28'800, 64'800, {}};
  for (uint32_t i = 0; i < 100; ++i) segment.fingerprints.push_back({i * 42'949'672u + i * i});
  hundred.segments.push_back(segment);
  deltas.emplace_back("a hundred items on one day", hundred);
  deltas.emplace_back("served in two stretches of 300 s, user u1",
                      Others({{{SegmentKind::kServed, 300, 5'760'000, 0, 299, 0}, {{1}, {0x80000000}}, {}},
                              {{SegmentKind::kServed, 300, 5'760'002, 7, 7, 0}, {{2}}, {}}}));
  deltas.emplace_back(
      "shown twice on day 20000, another item once",
      Others({{{SegmentKind::kRepeated, 86'400, 20'000, 10, 5'000, 0}, {{7}, {7}, {9}}, {10, 5'000, 60}}}));
  deltas.emplace_back(
      "items created on days 19990 and 20000, shown until day 20003",
      Others({{{SegmentKind::kByCreation, 86'400, 19'990, 0, 0, 20'003}, {{7}, {9}}, {19'990, 20'003}},
              {{SegmentKind::kByCreation, 86'400, 20'000, 0, 0, 20'001}, {{8}}, {20'001}}}));
  deltas.emplace_back("resolving: read 0 and 310 seconds into partition time",
                      Others({{{SegmentKind::kResolving, 300, 5'760'000, 3, 200, 0}, {{7}, {9}}, {0, 310}}}));
  deltas.emplace_back("like what was shown on day 20000",
                      Others({{{SegmentKind::kSimilar, 86'400, 20'000, 10, 5'000, 0}, {{7}, {9}}, {}}}));
  Delta mixed = three;
  mixed.others = {{{SegmentKind::kServed, 300, 5'760'000, 0, 0, 0}, {{1}}, {}},
                  {{static_cast<SegmentKind>(16), 86'400, 20'000, 60, 90, 0}, {{4}, {5}}, {}},
                  {{static_cast<SegmentKind>(17), 86'400, 20'000, 61, 61, 0}, {}, {}},
                  {{static_cast<SegmentKind>(17), 86'400, 20'002, 62, 62, 0}, {{6}}, {}}};
  deltas.emplace_back("exposed on three days, served, and of two declared kinds", mixed);
  return deltas;
}

TEST(Golden, Delta) {
  std::vector<Golden> goldens;
  for (const auto& [name, delta] : Deltas()) {
    goldens.push_back({name, Encoded(delta)});
    EXPECT_EQ(*DecodeDelta(goldens.back().bytes), delta) << name;
  }
  ExpectGolden("delta.txt", goldens);
}

TEST(Keys, OrderAsUsersDoAndDecodeToThem) {
  const std::vector<UserRef> users = {{0, {0, 0}},
                                      {0, {0, 1}},
                                      {0, {1, 0}},
                                      {0, {255, 7}},
                                      {0, {0x8000000000000000u, 0}},
                                      {1, {0, 0}},
                                      {256, {0, 0}},
                                      {65'535, {~0ull, ~0ull}}};
  ASSERT_TRUE(std::is_sorted(users.begin(), users.end()));
  std::string previous(DescriptorKey());
  EXPECT_LT(PositionKey(), DescriptorKey());
  for (const Table table : {Table::kDeltas, Table::kMarks}) {
    for (const UserRef& user : users) {
      const std::string key(View(KeyOf(table, user)));
      EXPECT_LT(previous, key);
      EXPECT_LT(key, EndOf(table));
      EXPECT_EQ(*UserOf(table, key), user);
      previous = key;
    }
    EXPECT_EQ(UserOf(table, "short").error().code, Code::kCorrupt);
  }
}

}  // namespace
}  // namespace seen::test
