#include "binary/protobuf_reader.h"

#include <google/protobuf/unknown_field_set.h>

#include "unit/binary/protobuf_reader_of.h"
#include "unit/decode/counting_new.h"

namespace seen {
namespace {

EventFormat AllWanted() {
  EventFormat format;
  format.wanted = {true, true, true, true, true};
  return format;
}

// A condition on a field makes both ways read it.
EventFormat LookingFor(std::string_view pointer, std::vector<ConditionValue> values) {
  EventFormat format;
  format.filters = {{{}, {Condition{Pointer(pointer), Condition::Test::kIn, std::move(values)}}}};
  return format;
}
EventFormat LookingFor(std::string_view pointer) {
  EventFormat format;
  format.filters = {{{}, {Condition{Pointer(pointer), Condition::Test::kExists, {}}}}};
  return format;
}

std::string EventWith(bool covered) {
  return "skip 0 user u at 9 kind 0 filters " + std::to_string(covered ? kAllFilters : kAllFilters - 1) +
         " scene  request  item i";
}
constexpr std::string_view kBasicsShown = R"("user_id":"u","item_id":"i","exposed_at":9)";

constexpr std::string_view kTypes = R"(
  enum Page { UNKNOWN = 0; HOME = 1; }
  enum Alias { option allow_alias = true; NONE = 0; ONE = 1; EINS = 1; BELOW = -1; }
  message Part { int32 a = 1; optional string b = 2; Part part = 3; }
)";

TEST(ProtobufReader, ReadsEveryTypeBothWays) {
  using enum ScalarKind;
  struct Case {
    std::string field;
    std::string text;
    std::string shown;  // empty: left out
    std::optional<ConditionValue> value = std::nullopt;
    bool is_short = true;
  };
  const Case cases[] = {
      {"int32 x = 1;", "x: -2147483648", "-2147483648", ConditionValue{kInteger, "-2147483648"}},
      {"int64 x = 1;", "x: -9223372036854775808", "-9223372036854775808",
       ConditionValue{kInteger, "-9223372036854775808"}},
      {"uint32 x = 1;", "x: 4294967295", "4294967295", ConditionValue{kInteger, "4294967295"}},
      {"uint64 x = 1;", "x: 18446744073709551615", "18446744073709551615",
       ConditionValue{kInteger, "18446744073709551615"}},
      {"sint32 x = 1;", "x: -2147483648", "-2147483648", ConditionValue{kInteger, "-2147483648"}},
      {"sint64 x = 1;", "x: -9223372036854775808", "-9223372036854775808",
       ConditionValue{kInteger, "-9223372036854775808"}},
      {"fixed32 x = 1;", "x: 4294967295", "4294967295", ConditionValue{kInteger, "4294967295"}},
      {"fixed64 x = 1;", "x: 18446744073709551615", "18446744073709551615",
       ConditionValue{kInteger, "18446744073709551615"}},
      {"sfixed32 x = 1;", "x: -7", "-7", ConditionValue{kInteger, "-7"}},
      {"sfixed64 x = 1;", "x: -7", "-7", ConditionValue{kInteger, "-7"}},
      {"bool x = 1;", "x: true", "true", ConditionValue{kBoolean, "true"}},
      {"float x = 1;", "x: 0.1", "0.1"},
      {"float x = 1;", "x: 3", "3.0"},
      {"double x = 1;", "x: 0.1", "0.1"},
      {"double x = 1;", "x: 1e300", "1e+300"},
      {"double x = 1;", "x: nan", "", std::nullopt, false},
      {"float x = 1;", "x: -inf", "", std::nullopt, false},
      {"repeated double x = 1;", "x: [1.5, nan, 2]", "[1.5,null,2.0]", std::nullopt, false},
      {"string x = 1;", R"(x: "a\"\n曝")", R"("a\"\u000a曝")", ConditionValue{kString, "a\"\n曝"}},
      {"bytes x = 1;", R"(x: "曝")", R"("曝")", ConditionValue{kString, "曝"}},
      {"bytes x = 1;", R"(x: "\xff\x01")", R"("ff01")", ConditionValue{kString, "ff01"}, false},
      {"Page x = 1;", "x: HOME", R"("HOME")", ConditionValue{kString, "HOME"}},
      {"Page x = 1;", "x: 9", "9", ConditionValue{kInteger, "9"}, false},
      {"Alias x = 1;", "x: EINS", R"("ONE")", ConditionValue{kString, "ONE"}},
      {"Alias x = 1;", "x: BELOW", R"("BELOW")", ConditionValue{kString, "BELOW"}},
      {"google.protobuf.Timestamp x = 1;", "x { seconds: 1763700000 nanos: 123999999 }", "1763700000123",
       ConditionValue{kInteger, "1763700000123"}},
      {"google.protobuf.Timestamp x = 1;", "x { seconds: -1 nanos: 999999999 }", "-1",
       ConditionValue{kInteger, "-1"}},
      {"google.protobuf.Timestamp x = 1;", "x { seconds: 9223372036854775807 nanos: 2147483647 }",
       "9223372036854774147", std::nullopt},
      {"google.protobuf.Timestamp x = 1;", "x {}", "0", ConditionValue{kInteger, "0"}},
      {"google.protobuf.Duration x = 1;", "x { seconds: 1 nanos: 5 }", R"({"seconds":1,"nanos":5})"},
      {"google.protobuf.StringValue x = 1;", R"(x { value: "a" })", R"("a")", ConditionValue{kString, "a"}},
      {"google.protobuf.StringValue x = 1;", "x {}", R"("")", ConditionValue{kString, ""}},
      {"google.protobuf.BoolValue x = 1;", "x {}", "false", ConditionValue{kBoolean, "false"}},
      {"google.protobuf.BytesValue x = 1;", R"(x { value: "a" })", R"("a")", ConditionValue{kString, "a"}},
      {"google.protobuf.Int32Value x = 1;", "x { value: -1 }", "-1", ConditionValue{kInteger, "-1"}},
      {"google.protobuf.Int64Value x = 1;", "x { value: -1 }", "-1", ConditionValue{kInteger, "-1"}},
      {"google.protobuf.UInt32Value x = 1;", "x {}", "0", ConditionValue{kInteger, "0"}},
      {"google.protobuf.UInt64Value x = 1;", "x { value: 18446744073709551615 }", "18446744073709551615",
       ConditionValue{kInteger, "18446744073709551615"}},
      {"google.protobuf.FloatValue x = 1;", "x { value: 0.1 }", "0.1"},
      {"google.protobuf.DoubleValue x = 1;", "x { value: nan }", "", std::nullopt, false},
      {"repeated google.protobuf.DoubleValue x = 1;", "x { value: nan } x {}", "[null,0.0]", std::nullopt,
       false},
      {"Part x = 1;", R"(x { a: 0 b: "" part {} })", R"({"b":"","part":{}})"},
      {"repeated Part x = 1;", "x { a: 1 } x {}", R"([{"a":1},{}])", std::nullopt, false},
      {"repeated int32 x = 1;", "x: [1, 0]", "[1,0]", std::nullopt, false},
      {"repeated int32 x = 1 [packed = false];", "x: [1, 0]", "[1,0]", std::nullopt, false},
      {"repeated int32 x = 1;", "", ""},
      {"repeated Page x = 1;", "x: [HOME, 7]", R"(["HOME",7])", std::nullopt, false},
      {"map<string, int32> x = 1;", R"(x { key: "a\"" value: 1 } x { value: 2 })", R"({"a\"":1,"":2})",
       std::nullopt, false},
      {"map<int64, Part> x = 1;", "x { key: -5 value { a: 1 } }", R"({"-5":{"a":1}})", std::nullopt, false},
      {"map<bool, Page> x = 1;", "x { key: true value: HOME } x {}", R"({"true":"HOME","false":"UNKNOWN"})",
       std::nullopt, false},
      {"map<fixed64, double> x = 1;", "x { key: 18446744073709551615 value: nan } x { key: 1 value: 1 }",
       R"({"18446744073709551615":null,"1":1.0})", std::nullopt, false},
      {"map<string, google.protobuf.Timestamp> x = 1;", R"(x { key: "a" value { seconds: 1 } })",
       R"({"a":1000})", std::nullopt, false},
      {"oneof of { int32 x = 1; string y = 2; }", "x: 0", "0", ConditionValue{kInteger, "0"}},
      {"oneof of { int32 x = 1; string y = 2; }", "", ""},
      {"optional int32 x = 1;", "x: 0", "0", ConditionValue{kInteger, "0"}},
      {"optional int32 x = 1;", "", ""},
      {"optional string x = 1;", R"(x: "")", R"("")", ConditionValue{kString, ""}},
      // Without presence.
      {"int32 x = 1;", "", "0", ConditionValue{kInteger, "0"}},
      {"bool x = 1;", "", "false", ConditionValue{kBoolean, "false"}},
      {"double x = 1;", "", "0.0"},
      {"Page x = 1;", "", R"("UNKNOWN")", ConditionValue{kString, "UNKNOWN"}},
      {"string x = 1;", "", "", ConditionValue{kNull, ""}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.field + " " + c.text);
    const auto schema = ProtobufOf(Proto3(c.field, std::string(kTypes)));
    const bool matches = c.value && c.value->kind != kNull;
    ProtobufWays ways(schema, LookingFor("/x", {matches ? *c.value : ConditionValue{kString, "none"}}));
    ASSERT_TRUE(ways.reader) << ways.error;
    const std::string payload = Serialized(*schema, kProtobufBasics + c.text);
    EXPECT_EQ(ways.Json(payload),
              "{" + std::string(kBasicsShown) + (c.shown.empty() ? "" : ",\"x\":" + c.shown) + "}");
    EXPECT_EQ(ways.Long(payload), EventWith(matches));
    EXPECT_EQ(ways.Short(payload), c.is_short ? EventWith(matches) : "long way");
    ProtobufWays exists(schema, LookingFor("/x"));
    EXPECT_EQ(exists.Long(payload), EventWith(!c.shown.empty()));
    EXPECT_EQ(exists.Short(payload), c.is_short ? EventWith(!c.shown.empty()) : "long way");
  }
}

TEST(ProtobufReader, TakesAnEmptyIdAndATimeOfZeroForAbsent) {
  const auto schema = ProtobufOf(Proto3("int64 uid = 1; optional int64 oid = 2;"));
  EventFormat format = AllWanted();
  format.fields[static_cast<size_t>(Field::kUserId)] =
      FieldRule{Pointer("/uid"), {}, {Pointer("/user_id"), Pointer("/oid")}};
  ProtobufWays ways(schema, format);
  ASSERT_TRUE(ways.reader) << ways.error;
  const auto user = [&](const std::string& text) {
    const std::string payload = Serialized(*schema, "item_id: \"i\" exposed_at: 9 " + text);
    EXPECT_EQ(ways.Short(payload), ways.Long(payload).starts_with("skip") ? ways.Long(payload) : "long way");
    return ways.Long(payload).substr(0, 13);
  };
  EXPECT_EQ(user("uid: 5 oid: 6"), "skip 0 user 5");
  EXPECT_EQ(user("uid: 0 oid: 6"), "skip 0 user 6");
  EXPECT_EQ(user("uid: 0 oid: 0"), "skip 0 user 0");
  EXPECT_EQ(user("user_id: \"u\" oid: 6"), "skip 0 user u");
  EXPECT_EQ(ways.Long(Serialized(*schema, "uid: 5 exposed_at: 9")), "item_id: missing");
  EXPECT_EQ(ways.Long(Serialized(*schema, "uid: 5 item_id: \"i\"")), "exposed_at: missing");
  // On the wire, behind another value.
  const std::string zero =
      Serialized(*schema, "uid: 7 item_id: \"i\" exposed_at: 9 oid: 6") + FromHex("0800");
  EXPECT_EQ(ways.Short(zero), "long way");
  EXPECT_TRUE(ways.Long(zero).starts_with("skip 0 user 6")) << ways.Long(zero);
}

TEST(ProtobufReader, ReadsItemsOfEveryForm) {
  struct Case {
    std::string field;
    std::string text;
    std::string items;
    bool is_short = true;
  };
  const std::string item =
      "message Item { string item_id = 1; int32 position = 2; google.protobuf.Timestamp item_created_at = 3;"
      " repeated int32 more = 4; }";
  const Case cases[] = {
      {"repeated string items = 1;", "items: ['a', '{\"b\"', 'c']", "item a item {\"b\" item c"},
      {"repeated string items = 1;", "items: ['a', '曝']", "item a item 曝"},
      {"repeated bytes items = 1;", "items: ['a', '\\377']", "item a item ff", false},
      {"repeated int32 items = 1;", "items: [1, -1, 0]", "item 1 item -1 item 0"},
      {"repeated sint64 items = 1 [packed = false];", "items: [1, -1]", "item 1 item -1"},
      {"repeated fixed64 items = 1;", "items: [1, 18446744073709551615]", "item 1 item 18446744073709551615"},
      {"repeated sfixed32 items = 1;", "items: [1, -1]", "item 1 item -1"},
      {"repeated google.protobuf.Int64Value items = 1;", "items {} items { value: 5 }", "item 0 item 5"},
      {"repeated google.protobuf.Timestamp items = 1;", "items { seconds: 1 }", "item 1000", false},
      {"repeated Page items = 1;", "items: [HOME, UNKNOWN]", "item HOME item UNKNOWN"},
      {"repeated Item items = 1;",
       "items { item_id: 'a' more: [1, 2] } items { item_id: 'b' position: 4 item_created_at { seconds: 1 } "
       "}",
       "item a item b position 0 created none position 4 created 1000"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.field + c.text);
    const auto schema = ProtobufOf(Proto3(c.field, std::string(kTypes) + item));
    ProtobufWays ways(schema, AllWanted());
    ASSERT_TRUE(ways.reader) << ways.error;
    const std::string payload = Serialized(*schema, "user_id: 'u' exposed_at: 9 " + c.text);
    const std::string read = ways.Long(payload);
    EXPECT_NE(read.find(c.items), std::string::npos) << read;
    EXPECT_EQ(ways.Short(payload), c.is_short ? read : "long way");
  }
  // Packed and not, whatever the schema says, and in several parts; an empty part.
  for (const std::string option : {"", "[packed = false]"}) {
    const auto schema = ProtobufOf(Proto3("repeated int32 items = 1" + option + ";"));
    ProtobufWays ways(schema, AllWanted());
    const std::string payload = Serialized(*schema, "user_id: 'u' exposed_at: 9 ") + FromHex("0a020102") +
                                FromHex("0803") + FromHex("0a00") + FromHex("0a0104");
    EXPECT_NE(ways.Short(payload).find("item 1 item 2 item 3 item 4"), std::string::npos)
        << ways.Short(payload);
    EXPECT_EQ(ways.Short(payload), ways.Long(payload));
  }
}

TEST(ProtobufReader, FollowsPointersThroughMessagesListsAndMaps) {
  const auto schema = ProtobufOf(Proto3(
      "message Data { int64 uid = 1; Data data = 2; repeated Data list = 3; map<string, Data> map = 4; int32 "
      "pos = 5;"
      " map<int32, string> by = 6; string json = 7; } Data data = 1; google.protobuf.Timestamp ts = 300;"));
  const auto ways_for = [&](std::string_view user, std::string_view condition) {
    EventFormat format = LookingFor(condition, {{ScalarKind::kInteger, "0"}, {ScalarKind::kString, "z"}});
    SetField(format, Field::kUserId, user);
    SetField(format, Field::kExposedAt, "/ts");
    return ProtobufWays(schema, format);
  };
  const std::string payload = Serialized(
      *schema,
      "item_id: 'i' ts { seconds: 5 } data { uid: 3 data { uid: 4 } list { pos: 2 } list { uid: 5 }"
      " map { key: 'k' value { uid: 6 } } by { key: 1 value: 'z' } json: '{\"a\":[\"z\"]}' }");
  struct Case {
    std::string user, condition, read;
    bool is_short = true;
  };
  const Case cases[] = {
      {"/data/uid", "/data/pos", "user 3 covered"},
      {"/data/data/uid", "/data/data/pos", "user 4 covered"},
      {"/data/list/1/uid", "/data/list/1/pos", "user 5 covered", false},
      {"/data/list/1/uid", "/data/list/0/pos", "user 5 not covered", false},
      {"/data/map/k/uid", "/data/map/k/pos", "user 6 covered", false},
      {"/data/uid", "/data/by/1", "user 3 covered", false},
      {"/data/uid", "/data/json/a/0", "user 3 covered", false},
      {"/data/uid", "/data/data", "user 3 not covered"},
      {"/data/uid", "/data/uid/more", "user 3 not covered", false},
      {"/data/uid", "/nothing/at/all", "user 3 not covered"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.user + " " + c.condition);
    ProtobufWays ways = ways_for(c.user, c.condition);
    ASSERT_TRUE(ways.reader) << ways.error;
    const std::string read = ways.Long(payload);
    const bool covered = !c.read.ends_with("not covered");
    EXPECT_EQ(read, "skip 0 " + c.read.substr(0, 6) + " at 5000 kind 0 filters " +
                        std::to_string(covered ? kAllFilters : kAllFilters - 1) + " scene  request  item i");
    EXPECT_EQ(ways.Short(payload), c.is_short ? read : "long way");
  }
}

TEST(ProtobufReader, MergesPartsAndTakesTheLastValue) {
  const auto schema =
      ProtobufOf(Proto3("message Data { string a = 1; int32 b = 2; } Data data = 1; oneof of { string c = 2; "
                        "Data d = 3; int32 e = 4; }"));
  EventFormat format = LookingFor("/data/a", {{ScalarKind::kString, "x"}});
  format.filters.push_back({{}, {Condition{Pointer("/c"), Condition::Test::kExists, {}}}});
  ProtobufWays ways(schema, format);
  ASSERT_TRUE(ways.reader) << ways.error;
  const std::string basics = Serialized(*schema, kProtobufBasics);
  const auto shown = [&](const std::string& payload) {
    return ways.Json(basics + payload).substr(kBasicsShown.size() + 1);
  };
  const auto is_short = [&](const std::string& payload) {
    const std::string read = ways.Short(basics + payload);
    if (read != "long way") {
      EXPECT_EQ(read, ways.Long(basics + payload));
    }
    return read != "long way";
  };
  const auto part = [&](const std::string& text) { return Serialized(*schema, text); };
  EXPECT_EQ(shown(part("data { a: 'x' }") + part("data { b: 2 }")), R"(,"data":{"a":"x","b":2}})");
  EXPECT_FALSE(is_short(part("data { a: 'x' }") + part("data { b: 2 }")));
  EXPECT_EQ(shown(part("c: 'x'") + part("e: 5")), R"(,"e":5})");
  EXPECT_FALSE(is_short(part("c: 'x'") + part("e: 5")));
  EXPECT_FALSE(is_short(part("e: 5") + part("c: 'x'")));
  EXPECT_TRUE(is_short(part("c: 'x'")));
  EXPECT_TRUE(is_short(part("e: 5")));
  EXPECT_EQ(ways.Short(basics + part("exposed_at: 10")), ways.Long(basics + part("exposed_at: 10")));
  EXPECT_TRUE(ways.Short(basics + part("exposed_at: 10")).starts_with("skip 0 user u at 10"));
}

TEST(ProtobufReader, SkipsWhatTheSchemaLacks) {
  const auto schema = ProtobufOf(Proto3(""));
  ProtobufWays ways(schema, {});
  const std::string basics = Serialized(*schema, kProtobufBasics);
  google::protobuf::UnknownFieldSet unknown;
  unknown.AddVarint(1, ~uint64_t{0});
  unknown.AddFixed32(2, 1);
  unknown.AddFixed64(3, 1);
  unknown.AddLengthDelimited(536'870'911, "\xff\xff");
  unknown.AddLengthDelimited(64, "");
  std::string bytes;
  unknown.SerializeToString(&bytes);
  EXPECT_EQ(ways.Short(bytes + basics + bytes), ways.Long(basics));
  EXPECT_EQ(ways.Long(bytes + basics + bytes), ways.Long(basics));
  unknown.AddGroup(5)->AddGroup(6)->AddVarint(7, 1);
  unknown.SerializeToString(&bytes);
  EXPECT_EQ(ways.Short(bytes + basics), "long way");
  EXPECT_EQ(ways.Long(bytes + basics), ways.Long(basics));
  // Of another wire type than the schema's: protobuf takes them for unknown.
  const std::string other = FromHex("a80600") + FromHex("b1060000000000000000") + FromHex("bd0600000000");
  EXPECT_EQ(ways.Long(basics + other), ways.Long(basics));
}

TEST(ProtobufReader, ReadsProto2) {
  const auto schema = ProtobufOf(R"(syntax = "proto2"; message Exposure {
      required string user_id = 1; required int64 item_id = 2; optional int64 exposed_at = 3 [default = 7];
      optional Page scene = 4 [default = HOME]; optional group Old = 5 { optional int32 a = 1; } optional string text = 6;
      extensions 100 to 200; enum Page { HOME = 3; FEED = 4; } required int32 never = 7; })");
  EventFormat format = AllWanted();
  format.filters = {{{}, {AnyOf("/text", {"x"})}}};
  ProtobufWays ways(schema, format);
  ASSERT_TRUE(ways.reader) << ways.error;
  const std::string payload = Serialized(*schema, "user_id: 'u' item_id: 0 exposed_at: 9 scene: FEED");
  EXPECT_TRUE(ways.Short(payload).starts_with("skip 0 user u at 9 kind 0")) << ways.Short(payload);
  EXPECT_NE(ways.Short(payload).find("scene FEED request  item 0"), std::string::npos) << ways.Short(payload);
  EXPECT_EQ(ways.Short(payload), ways.Long(payload));
  EXPECT_EQ(ways.Json(Serialized(*schema, "Old { a: 1 }")), R"({"old":{"a":1}})");
  // An unknown number of a closed enum is an unknown field: the value before it stays.
  EXPECT_EQ(ways.Json(Serialized(*schema, "scene: FEED") + FromHex("2009")), R"({"scene":"FEED"})");
  EXPECT_EQ(ways.Short(payload + FromHex("2009")), "long way");
  // Texts of proto2 may be any bytes.
  EXPECT_EQ(ways.Short(payload + FromHex("3201ff")), "long way");
  EXPECT_EQ(ways.Long(payload + FromHex("3201ff")).substr(0, 4), "not ")
      << ways.Long(payload + FromHex("3201ff"));
}

TEST(ProtobufReader, RejectsBrokenPayloads) {
  const auto schema = ProtobufOf(Proto3("Exposure within = 1; repeated int32 list = 2; string text = 3;"));
  ProtobufWays ways(schema, LookingFor("/within/within/within/user_id"));
  ASSERT_TRUE(ways.reader) << ways.error;
  const std::string basics = Serialized(*schema, kProtobufBasics);
  std::string deep;
  for (int i = 0; i < 120; ++i) {
    const std::string size(1, static_cast<char>(deep.size() & 0x7f));
    deep = "\x0a" +
           (deep.size() < 128 ? size
                              : std::string(1, static_cast<char>(deep.size() | 0x80)) +
                                    static_cast<char>(deep.size() >> 7)) +
           deep;
  }
  const std::string broken[] = {
      std::string(1, '\0'),                 // number 0
      FromHex("07"),                        // wire type 7
      FromHex("0a"),                        // no length
      FromHex("0a05"),                      // shorter than its length
      FromHex("0affffffff0f"),              // 2^32 - 1 bytes
      FromHex("0affffffffffffffffff01"),    // -1 bytes
      FromHex("12ffffffff07"),              // 2^31 - 1 bytes
      FromHex("08ffffffffffffffffffff01"),  // a varint of 11 bytes
      FromHex("1a01ff"),                    // no UTF-8
      FromHex("0b"),                        // a group without an end
      FromHex("0c"),                        // an end without a group
      FromHex("8a80808080"),                // a tag that is cut off
      deep,
  };
  for (const std::string& bytes : broken) {
    const std::string payload = basics + bytes;
    EXPECT_EQ(ways.Json(payload),
              "not_decodable not an event of schema message shop.Exposure: its " +
                  std::to_string(payload.size()) +
                  " bytes are cut off, of another message, nested too deeply, or a string in "
                  "them isn't UTF-8");
  }
  EXPECT_EQ(ways.Short(basics + FromHex("0a05")), "long way");
  EXPECT_EQ(ways.Short(basics + FromHex("12ffffffff07")), "long way");
}

TEST(ProtobufReader, LimitsTheJsonOfAPayload) {
  std::string name(500, 'N');
  const auto schema = ProtobufOf(Proto3("repeated E e = 1;", "enum E { " + name + " = 0; }"));
  ProtobufWays ways(schema, {});
  const std::string payload = FromHex("0a") + FromHex("a01f") + std::string(4000, '\0');
  EXPECT_EQ(ways.Json(payload),
            "not_decodable not an event of schema message shop.Exposure: too many values for 4003 bytes");
}

TEST(ProtobufReader, MakesNoReaderForFieldsThatNoEventCanHave) {
  struct Case {
    std::string fields;
    std::string error;
    EventFormat format = {};
  };
  EventFormat seconds, by_uid, batch, text_time, by_kind;
  SetField(seconds, Field::kExposedAt, "/ts", TimeUnit::kSeconds);
  SetField(by_uid, Field::kUserId, "/uid");
  SetField(batch, Field::kItems, "/items");
  SetField(by_kind, Field::kKind, "/acton");
  by_kind.wanted.kind = true;
  SetField(text_time, Field::kExposedAt, "/a/0/json/ts", TimeUnit::kRfc3339);
  const std::string has = " leads nowhere in message Exposure, which has the fields ";
  const std::string user = "string user_id = 1;", item = "int64 item_id = 2;", time = "int64 exposed_at = 3;";
  const std::string not_a_time = "; point at a time, such as a google.protobuf.Timestamp or an int64";
  const Case cases[] = {
      {user + item + time, ""},
      {user + item + time,
       "input.fields.user_id: user_id (/uid)" + has + "user_id, item_id, exposed_at; map it to one of these",
       by_uid},
      {user + item + time,
       "input.fields.kind: kind (/acton)" + has + "user_id, item_id, exposed_at; map it to one of these",
       by_kind},
      {user + item, "input.fields.exposed_at: exposed_at" + has + "user_id, item_id; map it to one of these"},
      {user + time, "input.fields.item_id: item_id" + has + "user_id, exposed_at; map it to one of these"},
      {user + time,
       "input.fields.items: items (/items)" + has + "user_id, exposed_at; map it to one of these", batch},
      {user + time + "I item_id = 2; message I {}",
       "input.fields.item_id: \"/item_id\" leads to message Exposure.I; point at a string or an integer"},
      {user + time + "map<string, string> item_id = 2;",
       "input.fields.item_id: \"/item_id\" leads to a map; point at a string or an integer"},
      {user + time + "repeated string item_id = 2;",
       "input.fields.item_id: \"/item_id\" leads to repeated string; point at a string or an integer"},
      {user + time + "bool item_id = 2;",
       "input.fields.item_id: \"/item_id\" leads to bool; point at a string or an integer"},
      {user + item + "bool exposed_at = 3;",
       "input.fields.exposed_at: \"/exposed_at\" leads to bool" + not_a_time},
      {user + item + "string exposed_at = 3;",
       "input.fields.exposed_at: \"/exposed_at\" leads to string" + not_a_time},
      {user + item + "google.protobuf.Timestamp exposed_at = 3;", ""},
      {user + item + "google.protobuf.Int64Value exposed_at = 3;", ""},
      {user + item + "google.protobuf.Duration exposed_at = 3;",
       "input.fields.exposed_at: \"/exposed_at\" leads to message google.protobuf.Duration" + not_a_time},
      {user + time + "string items = 2;",
       "input.fields.items: \"/items\" leads to string; point at a repeated field"},
      {user + time + "string items = 2;", "", batch},
      {user + time + "repeated bool items = 2;",
       "input.fields.items: its elements are bool; point at a repeated field of ids, or of messages with an "
       "id"},
      {user + time + "repeated I items = 2; message I {}",
       "input.fields.item_id: item_id leads nowhere in the elements of items, which are message Exposure.I; "
       "map "
       "it to the field with the item's id"},
      {user + time + "repeated I items = 2; message I { double item_id = 1; }",
       "input.fields.item_id: \"/item_id\" leads to double in an element of items; point at a string or an "
       "integer"},
      {user + item + "google.protobuf.Timestamp ts = 3;",
       "input.fields.exposed_at: unit \"s\", but \"/ts\" leads to a google.protobuf.Timestamp, which is read "
       "in "
       "ms; leave unit out",
       seconds},
      {user + item + "repeated A a = 3; message A { string json = 1; }", "", text_time},
      {user + item + "repeated A a = 3; message A { int32 json = 1; }",
       "input.fields.exposed_at: exposed_at (/a/0/json/ts)" + has +
           "user_id, item_id, a; map it to one of these",
       text_time},
      {user + item + time + "double position = 4;",
       "input.fields.position: \"/position\" leads to double; point at an integer"},
      {user + item + time + "int32 scene = 4;",
       "input.fields.scene: \"/scene\" leads to int32; point at a string or an enum"},
  };
  for (const Case& c : cases) {
    EventFormat format = c.format;
    format.wanted = AllWanted().wanted;
    const auto schema = ProtobufOf(
        "syntax = \"proto3\"; import \"google/protobuf/timestamp.proto\"; import "
        "\"google/protobuf/duration.proto\"; import \"google/protobuf/wrappers.proto\";"
        "message Exposure {" +
        c.fields + "}");
    EXPECT_EQ(ProtobufWays(schema, format).error, c.error) << c.fields;
  }
}

TEST(ProtobufReader, AllocatesNothingOnceWarm) {
  const auto schema = ProtobufOf(Proto3(
      "repeated Item items = 1; message Item { fixed64 item_id = 1; int32 position = 2; } map<string, "
      "string> map = 2;"
      " Deep deep = 3; message Deep { Deep deep = 1; string a = 2; google.protobuf.StringValue w = 3; }"));
  EventFormat format = AllWanted();
  format.filters = {{{}, {AnyOf("/deep/deep/a", {"x"}), AnyOf("/deep/w", {"y"})}}};
  ProtobufWays ways(schema, format);
  ASSERT_TRUE(ways.reader) << ways.error;
  std::string text =
      "user_id: 'u' exposed_at: 9 map { key: 'a' value: 'b' } deep { deep { a: 'x' } w { value: 'y' } }";
  for (int i = 0; i < 300; ++i)
    text += " items { item_id: " + std::to_string(i) + "00 position: " + std::to_string(i) + " }";
  // The id 0 has no presence: it counts as absent.
  EXPECT_EQ(ways.Short(Serialized(*schema, text)), "long way");
  const std::string payload = Serialized(*schema, text.replace(text.find("item_id: 000"), 12, "item_id: 5"));
  EXPECT_EQ(ways.Short(payload), ways.Long(payload));
  Event event;
  const uint64_t before = AllocationCount();
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(ways.reader->Read(payload, ways.buffers, event));
  EXPECT_EQ(AllocationCount() - before, 0u);
  EXPECT_EQ(event.items.size(), 300u);
}

}  // namespace
}  // namespace seen
