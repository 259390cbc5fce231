// The parts of an event format: pointers, times, names, kinds, conditions, coverage.
#include <gtest/gtest.h>

#include "decode/coverage.h"
#include "decode/event_kinds.h"
#include "decode/field_rule.h"
#include "decode/name_table.h"
#include "unit/decode/format_of.h"

namespace seen {
namespace {

using Strings = std::vector<std::string>;

TEST(JsonPointer, IsStepsWithoutTheirEscapes) {
  const std::pair<std::string, Strings> cases[] = {
      {"/a", {"a"}},
      {"/", {""}},
      {"/a/", {"a", ""}},
      {"/data/list/0", {"data", "list", "0"}},
      {"/a~1b/~0", {"a/b", "~"}},
      {"/~01", {"~1"}},
      {"/曝光/*", {"曝光", "*"}},
      {"/ a\"b", {" a\"b"}},
  };
  for (const auto& [text, steps] : cases) {
    const auto pointer = ParseJsonPointer(text);
    ASSERT_TRUE(pointer) << text;
    EXPECT_EQ(pointer->steps, steps) << text;
    EXPECT_EQ(pointer->text, text);
  }
  std::string deep;
  for (size_t i = 0; i < JsonPointer::kStepsMax; ++i) deep += "/a";
  EXPECT_TRUE(ParseJsonPointer(deep));
  EXPECT_TRUE(ParseJsonPointer("/" + std::string(255, 'x')));
  const std::pair<std::string, const char*> wrong[] = {
      {"", R"(must begin with "/", such as "/data/uid")"},
      {"data", R"(must begin with "/", such as "/data/uid")"},
      {"#/data", R"(must begin with "/", such as "/data/uid")"},
      {"/a~", R"(has a "~" that is neither "~0" (a tilde) nor "~1" (a slash))"},
      {"/~2/a", R"(has a "~" that is neither "~0" (a tilde) nor "~1" (a slash))"},
      {deep + "/a", "must have at most 16 steps"},
      {"/" + std::string(256, 'x'), "must have at most 256 bytes"},
  };
  for (const auto& [text, error] : wrong) EXPECT_EQ(ParseJsonPointer(text).error(), error) << text;
}

TEST(JsonPointer, KnowsAnIndex) {
  EXPECT_EQ(ArrayIndexOf("0"), 0u);
  EXPECT_EQ(ArrayIndexOf("17"), 17u);
  EXPECT_EQ(ArrayIndexOf("999999999"), 999'999'999u);
  for (const char* const none : {"", "-", "-1", "007", "00", "1a", "+1", "9999999999"})
    EXPECT_EQ(ArrayIndexOf(none), SIZE_MAX) << none;
}

TEST(EventTime, ReadsRfc3339) {
  const std::pair<const char*, int64_t> cases[] = {
      {"1970-01-01T00:00:00Z", 0},
      {"1970-01-01T08:00:00+08:00", 0},
      {"1969-12-31T23:00:00-01:00", 0},
      {"2106-02-07T06:28:15.999Z", 4'294'967'295'999},
      {"2024-02-29T23:59:59.9999Z", 1'709'251'199'999},
      {"2016-12-31T23:59:60Z", 1'483'228'800'000},  // a leap second is the next day's first second
      {"2025-11-21t04:40:00.1z", 1'763'700'000'100},
      {"2025-11-21 04:40:00.123456789123456789Z", 1'763'700'000'123},
      {"2025-11-21T04:40:00-00:00", 1'763'700'000'000},
      // Postgres, BigQuery, Ruby, log4j and Java.
      {"2025-11-21 04:40:00.123456+00", 1'763'700'000'123},
      {"2025-11-21 10:10:00+0530", 1'763'700'000'000},
      {"2025-11-20 23:40-0500", 1'763'700'000'000},
      {"2025-11-21 04:40:00.123456 UTC", 1'763'700'000'123},
      {"2025-11-21 04:40:00 GMT", 1'763'700'000'000},
      {"2025-11-21 12:40:00 +0800", 1'763'700'000'000},
      {"2025-11-21T04:40:00,123Z", 1'763'700'000'123},
      {"2025-11-21T04:40Z", 1'763'700'000'000},
      {"2025-11-21T12:40+08:00[Asia/Shanghai]", 1'763'700'000'000},
      {"2025-11-21T04:40:00Z[UTC]", 1'763'700'000'000},
  };
  for (const auto& [text, ms] : cases) EXPECT_EQ(ParseTimestamp(text).value_or(TimeMs{-1}).value, ms) << text;
  for (const char* const wrong : {"",
                                  "2025-11-21",
                                  "2025-11-21T04:40:00",
                                  "2025-11-21 04:40",
                                  "2025-11-21T04:40.5Z",
                                  "2025-11-21T04:40:00+",
                                  "2025-11-21T04:40:00+8",
                                  "2025-11-21T04:40:00+080",
                                  "2025-11-21T04:40:00+08:",
                                  "2025-11-21T04:40:00 utc",
                                  "2025-11-21T04:40:00  UTC",
                                  "2025-11-21T04:40:00 CET",
                                  "2025-11-21T04:40:00Z[",
                                  "2025-11-21T04:40:00Z[]",
                                  "2025-11-21T04:40:00[UTC]",
                                  "2025-11-21T04:40:00+24:00",
                                  "2025-11-21T04:40:00+08:60",
                                  "2025-11-21T24:00:00Z",
                                  "2025-11-21T04:60:00Z",
                                  "2025-11-21T04:40:61Z",
                                  "2025-13-01T00:00:00Z",
                                  "2025-00-01T00:00:00Z",
                                  "2025-11-31T00:00:00Z",
                                  "2025-02-29T00:00:00Z",
                                  "25-11-21T04:40:00Z",
                                  "2025-11-21T04:40:00.Z",
                                  "2025-11-21T04:40:00ZZ",
                                  "2025-11-21T04:40:00 Z",
                                  "1969-12-31T23:59:59Z",
                                  "2106-02-07T06:28:16Z",
                                  "2025/11/21T04:40:00Z",
                                  "+2025-11-21T04:40:00Z",
                                  "2025-11-2１T04:40:00Z"}) {
    EXPECT_FALSE(ParseTimestamp(wrong)) << wrong;
  }
}

TEST(EventTime, CountsInItsUnit) {
  using enum TimeUnit;
  EXPECT_EQ(TimeOf(4'294'967'295'999, kMilliseconds)->value, 4'294'967'295'999);
  EXPECT_FALSE(TimeOf(4'294'967'296'000, kMilliseconds));
  EXPECT_EQ(TimeOf(4'294'967'295, kSeconds)->value, 4'294'967'295'000);
  EXPECT_FALSE(TimeOf(4'294'967'296, kSeconds));
  EXPECT_FALSE(TimeOf(INT64_MAX, kSeconds));
  EXPECT_EQ(TimeOf(1999, kMicroseconds)->value, 1);
  EXPECT_FALSE(TimeOf(-1, kMicroseconds));
  EXPECT_FALSE(TimeOf(INT64_MIN, kSeconds));
  EXPECT_FALSE(TimeOf(1, kRfc3339));
  EXPECT_EQ(TimeOfFraction(1763700000.123, kSeconds)->value, 1'763'700'000'123);
  EXPECT_EQ(TimeOfFraction(1763700000123.9, kMilliseconds)->value, 1'763'700'000'123);
  EXPECT_EQ(TimeOfFraction(1763700000123999.5, kMicroseconds)->value, 1'763'700'000'123);
  EXPECT_FALSE(TimeOfFraction(1.5, kRfc3339));
  for (const TimeUnit unit : {kSeconds, kMilliseconds, kMicroseconds}) {
    EXPECT_FALSE(TimeOfFraction(-0.1, unit));
    EXPECT_FALSE(TimeOfFraction(1e300, unit));
  }
  EXPECT_EQ(ParseFraction("1763700000.5"), 1763700000.5);
  EXPECT_EQ(ParseFraction("1.5e3"), 1500);
  for (const char* const wrong : {"", "12", "inf", "nan", ".5", "-", "1.5x", " 1.5", "1e999", "0x1p3"})
    EXPECT_FALSE(ParseFraction(wrong)) << wrong;
  for (const char* const name : {"ms", "s", "us", "rfc3339"})
    EXPECT_EQ(TimeUnitName(*ParseTimeUnit(name)), name);
  EXPECT_FALSE(ParseTimeUnit("seconds"));
  EXPECT_EQ(ParseInteger("-12"), -12);
  for (const char* const wrong : {"", "1 ", " 1", "1.0", "9223372036854775808", "x", "+1"})
    EXPECT_FALSE(ParseInteger(wrong)) << wrong;
}

TEST(NameTable, TellsNamesApartByEveryByte) {
  NameTable table;
  EXPECT_EQ(table.Find(""), NameTable::kNone);
  Strings names = {""};
  // Names of every length. Names of one length differ in one byte: the first, the middle or the last.
  for (size_t length = 1; length < 40; ++length) {
    for (const size_t at : {size_t{0}, length / 2, length - 1}) {
      std::string name(length, 'x');
      name[at] = 'y';
      if (name != names.back()) names.push_back(name);
    }
  }
  for (size_t i = 0; i < names.size(); ++i) EXPECT_EQ(table.Add(names[i], static_cast<uint8_t>(i)), i);
  for (size_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(table.Find(names[i]), i) << names[i];
    EXPECT_EQ(table.Add(names[i], 200), i);
    EXPECT_EQ(table.Find(names[i] + "z"), NameTable::kNone);
    EXPECT_EQ(table.Find(std::string(names[i].size(), 'z') + "z"), NameTable::kNone);
  }
}

TEST(KindTable, KnowsBuiltInDeclaredAndMappedKinds) {
  const DeclaredKind declared[] = {{"clicked", EventKind{16}}, {"purchased", EventKind{40}}};
  const KindTable known(declared);
  EXPECT_EQ(known.Find("erased").kind, EventKind::kErased);
  EXPECT_EQ(known.Find("purchased").kind, EventKind{40});
  EXPECT_FALSE(known.Find("Purchased").known);
  EXPECT_FALSE(KindTable().IsKnown("clicked"));
  EXPECT_EQ(known.Names(), "exposed, served, removed, erased, clicked, purchased");

  const KindMapping mappings[] = {
      {"show", "exposed"}, {"order", "purchased"}, {"ping", std::nullopt}, {"x", "nothing"}};
  const KindTable mapped(known, mappings);
  EXPECT_EQ(mapped.Find("order").kind, EventKind{40});
  EXPECT_TRUE(mapped.Find("ping").known);
  EXPECT_TRUE(mapped.Find("ping").skipped);
  EXPECT_FALSE(mapped.IsKnown("ping"));
  EXPECT_FALSE(mapped.Find("exposed").known);
  EXPECT_FALSE(mapped.Find("x").known);
}

TEST(Condition, HoldsForAValueOfItsTypeAndText) {
  const Scalar five = {ScalarKind::kInteger, "5"};
  const Scalar text_five = {ScalarKind::kString, "5"};
  const Scalar truth = {ScalarKind::kBoolean, "true"};
  Condition condition{Pointer("/a"), Condition::Test::kIn, {{ScalarKind::kInteger, "5"}}};
  EXPECT_TRUE(Holds(condition, five));
  EXPECT_FALSE(Holds(condition, text_five));
  condition.values.push_back({ScalarKind::kBoolean, "true"});
  EXPECT_TRUE(Holds(condition, truth));
  EXPECT_TRUE(Holds(condition, five));
  EXPECT_FALSE(Holds(condition, {ScalarKind::kBoolean, "false"}));
  for (const ScalarKind none : {ScalarKind::kNull, ScalarKind::kOther}) {
    EXPECT_FALSE(Holds(AnyOf("/a", {""}), {none, ""}));
    EXPECT_FALSE(Holds(BeginsWith("/a", ""), {none, ""}));
  }
  EXPECT_TRUE(Holds(BeginsWith("/a", "5"), text_five));
  EXPECT_FALSE(Holds(BeginsWith("/a", "5"), five));
  EXPECT_FALSE(Holds(BeginsWith("/a", "55"), text_five));
  EXPECT_TRUE(Holds(AnyOf("/a", {"x", "5"}), text_five));
}

TEST(Condition, KnowsNotAndExistsAndComparesTextWhereTold) {
  const Scalar five = {ScalarKind::kInteger, "5"}, text_five = {ScalarKind::kString, "5"};
  const Scalar null = {ScalarKind::kNull, {}}, other = {ScalarKind::kOther, {}};
  const Condition exists{Pointer("/a"), Condition::Test::kExists, {}};
  for (const Scalar& value : {five, text_five, other, Scalar{ScalarKind::kBoolean, "false"}})
    EXPECT_TRUE(Holds(exists, value));
  EXPECT_FALSE(Holds(exists, null));
  Condition is_not = AnyOf("/a", {"5"});
  is_not.negated = true;
  EXPECT_FALSE(Holds(is_not, text_five));
  for (const Scalar& value : {five, null, other}) EXPECT_TRUE(Holds(is_not, value));
  Condition as_text = AnyOf("/a", {"5"});
  as_text.as_text = true;
  EXPECT_TRUE(Holds(as_text, five));
  EXPECT_TRUE(Holds(as_text, text_five));
  as_text.values = {{ScalarKind::kInteger, "5"}, {ScalarKind::kBoolean, "true"}};
  EXPECT_TRUE(Holds(as_text, text_five));
  EXPECT_FALSE(Holds(as_text, {ScalarKind::kString, "true"}));
  EXPECT_FALSE(Holds(as_text, other));
  Condition prefix = BeginsWith("/a", "5");
  prefix.as_text = true;
  EXPECT_TRUE(Holds(prefix, {ScalarKind::kInteger, "51"}));
  // A value that is missing is null.
  EXPECT_TRUE(AllHold(std::vector<NumberedCondition>{{is_not, 3}}, {nullptr, 0}));
  EXPECT_FALSE(AllHold(std::vector<NumberedCondition>{{exists, 3}}, {nullptr, 0}));
}

TEST(Coverage, IsOfScenesByNameOrBeginning) {
  struct SceneCase {
    Strings scenes;
    const char* scene;
    bool covers;
  };
  for (const SceneCase& c : std::initializer_list<SceneCase>{{{}, "", true},
                                                             {{}, "home", true},
                                                             {{"home"}, "home", true},
                                                             {{"home"}, "home_feed", false},
                                                             {{"home"}, "Home", false},
                                                             {{"home"}, "", false},
                                                             {{"home*"}, "home", true},
                                                             {{"home*"}, "home_feed", true},
                                                             {{"home*"}, "hom", false},
                                                             {{"*"}, "", true},
                                                             {{"*"}, "x", true},
                                                             {{"a", "b*"}, "bc", true},
                                                             {{"曝*"}, "曝光", true}}) {
    EXPECT_EQ(CoversScene(c.scenes, c.scene), c.covers) << c.scene;
  }
}

TEST(Coverage, IsABitAFilterAndNeedsScenesAndConditionsAlike) {
  CoverageTable table;
  EXPECT_TRUE(table.covers_all());
  table.Add({}, {});
  EXPECT_TRUE(table.covers_all());
  table.Add({"home"}, {});
  table.Add({}, {{AnyOf("/os", {"ios"}), 3}});
  table.Add({"home"}, {{AnyOf("/os", {"ios"}), 3}, {AnyOf("/app", {"x"}), 5}});
  EXPECT_FALSE(table.covers_all());
  EXPECT_TRUE(table.needs_scene());
  std::array<Scalar, 8> values;
  values[3] = {ScalarKind::kString, "ios"};
  values[5] = {ScalarKind::kString, "x"};
  EXPECT_EQ(~table.Of("home", {values.data(), 0b101000}), 0u);
  EXPECT_EQ(~table.Of("home", {values.data(), 0b001000}), 0b1000u);
  EXPECT_EQ(~table.Of("home", {values.data(), 0}), 0b1100u) << "what was not met has an old value";
  EXPECT_EQ(~table.Of("video", {values.data(), 0b101000}), 0b1010u);
  CoverageTable full;
  for (int i = 0; i < 64; ++i) full.Add({"x"}, {});
  EXPECT_EQ(full.Of("", {}), 0u);
}

}  // namespace
}  // namespace seen
