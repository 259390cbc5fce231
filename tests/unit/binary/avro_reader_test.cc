#include "binary/avro_reader.h"

#include <gtest/gtest.h>

#include <cmath>

#include "unit/binary/avro_reader_of.h"
#include "unit/decode/counting_new.h"

namespace seen {
namespace {

using nlohmann::json;

json Bytes(const std::string& bytes) { return json::binary({bytes.begin(), bytes.end()}); }

// A condition on the field x makes both ways read it.
EventFormat LookingAt(std::string_view pointer, std::vector<ConditionValue> values) {
  EventFormat format;
  format.filters = {{{}, {Condition{Pointer(pointer), Condition::Test::kIn, std::move(values)}}}};
  return format;
}

TEST(AvroReader, ReadsEveryKindOfValueBothWays) {
  using enum ScalarKind;
  struct Case {
    std::string type;
    json datum;
    std::string shown;  // empty: left out
    std::optional<ConditionValue> value = std::nullopt;
    bool is_short = true;
  };
  const Case cases[] = {
      {R"("null")", nullptr, ""},
      {R"("boolean")", true, "true", ConditionValue{kBoolean, "true"}},
      {R"("boolean")", false, "false", ConditionValue{kBoolean, "false"}},
      {R"("int")", -2147483648, "-2147483648", ConditionValue{kInteger, "-2147483648"}},
      {R"("long")", INT64_MAX, "9223372036854775807", ConditionValue{kInteger, "9223372036854775807"}},
      {R"("long")", INT64_MIN, "-9223372036854775808", ConditionValue{kInteger, "-9223372036854775808"}},
      {R"("float")", 0.1f, "0.1"},
      {R"("float")", 3.0f, "3.0"},
      {R"("double")", 0.1, "0.1"},
      {R"("double")", 5.0, "5.0"},
      {R"("double")", 1e300, "1e+300"},
      {R"("double")", NAN, ""},
      {R"("float")", -INFINITY, ""},
      {R"("string")", "a\"\n曝", R"("a\"\u000a曝")", ConditionValue{kString, "a\"\n曝"}},
      {R"("bytes")", Bytes("曝"), R"("曝")", ConditionValue{kString, "曝"}},
      {R"("bytes")", Bytes("\xff\x01"), R"("ff01")", ConditionValue{kString, "ff01"}, false},
      {R"({"type":"fixed","name":"F","size":2})", Bytes("ab"), R"("ab")", ConditionValue{kString, "ab"}},
      {R"({"type":"fixed","name":"F","size":2})", Bytes("a\x80"), R"("6180")",
       ConditionValue{kString, "6180"}, false},
      {R"({"type":"enum","name":"E","symbols":["A","B"]})", "B", R"("B")", ConditionValue{kString, "B"}},
      {R"({"type":"array","items":["null","int"]})", {{1, 5}, {0, nullptr}}, "[5,null]"},
      {R"({"type":"map","values":["null","int"]})", {{"a", {1, 5}}, {"b", {0, nullptr}}}, R"({"a":5})"},
      {R"({"type":"record","name":"R","fields":[{"name":"y","type":"int"}]})", {{"y", 1}}, R"({"y":1})"},
      {R"(["null","string"])", {0, nullptr}, ""},
      {R"(["null","string"])", {1, "a"}, R"("a")", ConditionValue{kString, "a"}},
      {R"({"type":"int","logicalType":"date"})", -1, "-86400000", ConditionValue{kInteger, "-86400000"}},
      {R"({"type":"int","logicalType":"time-millis"})", 7, "7", ConditionValue{kInteger, "7"}},
      {R"({"type":"long","logicalType":"time-micros"})", 7, "7", ConditionValue{kInteger, "7"}},
      {R"({"type":"long","logicalType":"timestamp-millis"})", 7, "7", ConditionValue{kInteger, "7"}},
      {R"({"type":"long","logicalType":"timestamp-micros"})", -1, "-1", ConditionValue{kInteger, "-1"}},
      {R"({"type":"long","logicalType":"timestamp-micros"})", 1999, "1", ConditionValue{kInteger, "1"}},
      {R"({"type":"long","logicalType":"timestamp-nanos"})", 3999999, "3", ConditionValue{kInteger, "3"}},
      {R"({"type":"long","logicalType":"local-timestamp-micros"})", 1999, "1", ConditionValue{kInteger, "1"}},
      {R"({"type":"bytes","logicalType":"decimal","precision":9,"scale":2})", Bytes("\xff\x85"), "-1.23",
       std::nullopt, false},
      {R"({"type":"bytes","logicalType":"decimal","precision":9,"scale":3})", Bytes(FromHex("05")), "0.005",
       std::nullopt, false},
      {R"({"type":"bytes","logicalType":"decimal","precision":9})", Bytes(""), "0",
       ConditionValue{kInteger, "0"}, false},
      {R"({"type":"bytes","logicalType":"decimal","precision":40})", Bytes(FromHex("0100000000000000000000")),
       "1208925819614629174706176", std::nullopt, false},
      {R"({"type":"fixed","name":"D","size":2,"logicalType":"decimal","precision":4})",
       Bytes(FromHex("8000")), "-32768", ConditionValue{kInteger, "-32768"}, false},
      {R"({"type":"string","logicalType":"uuid"})", "u", R"("u")", ConditionValue{kString, "u"}},
      {R"({"type":"fixed","name":"U","size":16,"logicalType":"uuid"})",
       Bytes(FromHex("000102030405060708090a0b0c0d0eff")), R"("00010203-0405-0607-0809-0a0b0c0d0eff")",
       ConditionValue{kString, "00010203-0405-0607-0809-0a0b0c0d0eff"}},
      {R"({"type":"fixed","name":"D","size":12,"logicalType":"duration"})", Bytes("abcdefghijkl"), ""},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.type + " " + c.shown);
    const auto schema = SchemaOf(RecordWith(R"({"name":"x","type":)" + c.type + "}," + std::string(kBasics)));
    const EventFormat format = LookingAt("/x", {c.value.value_or(ConditionValue{kString, "none"})});
    BothWays ways(schema, format);
    ASSERT_TRUE(ways.reader) << ways.error;
    const std::string payload =
        AvroEncoder(*schema).Encode({{"x", c.datum}, {"user_id", "u"}, {"item_id", "i"}, {"exposed_at", 9}});
    EXPECT_EQ(ways.Json(payload), "{" + (c.shown.empty() ? "" : "\"x\":" + c.shown + ",") +
                                      R"("user_id":"u","item_id":"i","exposed_at":9})");
    const std::string filters = c.value ? std::to_string(kAllFilters) : std::to_string(kAllFilters - 1);
    const std::string event = "skip 0 user u at 9 kind 0 filters " + filters + " scene  request  item i";
    EXPECT_EQ(ways.Long(payload), event);
    EXPECT_EQ(ways.Short(payload), c.is_short ? event : "long way");
  }
}

TEST(AvroReader, ReadsItemsOfEveryFormTheShortWay) {
  const auto schema = SchemaOf(RecordWith(
      R"({"name":"data","type":["null",{"type":"record","name":"Data","fields":[{"name":"uid","type":["long","string"]},
         {"name":"list","type":{"type":"array","items":["string","int",{"type":"record","name":"Item","fields":[
           {"name":"skipped","type":{"type":"array","items":"double"}},{"name":"id","type":"string"},
           {"name":"pos","type":["null","int"]},{"name":"born","type":{"type":"long","logicalType":"timestamp-micros"}}]}]}}]}]},
         {"name":"more","type":{"type":"map","values":"shop.Item"}},
         {"name":"ts","type":{"type":"long","logicalType":"timestamp-nanos"}},
         {"name":"page","type":{"type":"enum","name":"Page","symbols":["home","video"]}})"));
  EventFormat format = EverythingWanted();
  SetField(format, Field::kUserId, "/data/uid");
  SetField(format, Field::kItems, "/data/list");
  SetField(format, Field::kItemId, "/id");
  SetField(format, Field::kPosition, "/pos");
  SetField(format, Field::kItemCreatedAt, "/born");
  SetField(format, Field::kExposedAt, "/ts");
  SetField(format, Field::kScene, "/page");
  format.filters = {{{"video"}, {}}, {{"home"}, {}}};
  BothWays ways(schema, format);
  ASSERT_TRUE(ways.reader) << ways.error;
  const json item = {{"skipped", {1.5, 2.5}}, {"id", "n1"}, {"pos", {1, 4}}, {"born", 5999}};
  const json plain = {{"skipped", json::array()}, {"id", "n2"}, {"pos", {0, nullptr}}, {"born", 0}};
  const json list = {{2, item}, {0, "曝光"}, {1, -7}, {2, plain}};
  const json datum = {{"data", {1, {{"uid", {0, 12}}, {"list", list}}}},
                      {"more", {{"a", item}, {"b", plain}}},
                      {"ts", 1'763'700'000'123'999'999},
                      {"page", "video"}};
  Random random(1);
  for (int i = 0; i < 20; ++i) {
    const std::string payload = AvroEncoder(*schema, i == 0 ? nullptr : &random).Encode(datum);
    EXPECT_EQ(ways.Short(payload), ways.Long(payload));
    EXPECT_EQ(
        ways.Short(payload),
        "skip 0 user 12 at 1763700000123 kind 0 filters " + std::to_string(kAllFilters - 2) +
            " scene video request  item n1 item 曝光 item -7 item n2 position 4 created 5 position none "
            "created none position none created none position none created 0");
  }
}

TEST(AvroReader, LeavesToTheLongWayWhatTheShortWayCannotRead) {
  const auto in = [](std::string type) { return R"({"name":"x","type":)" + type + "},"; };
  const auto read = [&](const std::string& type, const json& datum, std::string_view user) {
    const auto schema = SchemaOf(RecordWith(in(type) + std::string(kBasics)));
    EventFormat format;
    SetField(format, Field::kUserId, user);
    BothWays ways(schema, format);
    if (!ways.reader) return ways.error;
    const auto payload =
        AvroEncoder(*schema).Encode({{"x", datum}, {"user_id", "u"}, {"item_id", "i"}, {"exposed_at", 9}});
    EXPECT_EQ(ways.Short(payload), "long way");
    const std::string text = ways.Long(payload);
    return text.substr(0, text.find(" at"));
  };
  EXPECT_EQ(read(R"({"type":"map","values":"string"})", {{"id", "a"}}, "/x/id"), "skip 0 user a");
  EXPECT_EQ(read(R"({"type":"array","items":"string"})", {"a", "b"}, "/x/1"), "skip 0 user b");
  EXPECT_EQ(read(R"("string")", R"({"id":5})", "/x/id"), "skip 0 user 5");
  EXPECT_EQ(read(R"("bytes")", Bytes(R"({"id":5})"), "/x/id"), "skip 0 user 5");
  EXPECT_EQ(read(R"({"type":"int","logicalType":"date"})", 1, "/x"), "skip 0 user 86400000");
  EXPECT_EQ(read(R"("string")", "a\xff", "/x"), "not UTF-8");
  EXPECT_EQ(read(R"("string")", "", "/x"), "user_id (/x): empty");
}

TEST(AvroReader, TakesTextThatHoldsAnItemForThatItem) {
  const auto schema = SchemaOf(RecordWith(
      R"({"name":"user_id","type":"int"},{"name":"exposed_at","type":"long"},{"name":"l","type":{"type":"array","items":"string"}})"));
  EventFormat format;
  SetField(format, Field::kItems, "/l");
  BothWays ways(schema, format);
  const auto payload = AvroEncoder(*schema).Encode(
      {{"user_id", 1}, {"exposed_at", 1}, {"l", {"a", R"({"item_id":5})", "{}"}}});
  EXPECT_EQ(ways.Short(payload), "long way");
  EXPECT_TRUE(ways.Long(payload).ends_with("item a item 5 item {}")) << ways.Long(payload);
}

TEST(AvroReader, FollowsRecordsThatHoldThemselvesToADepth) {
  const auto schema =
      SchemaOf(RecordWith(std::string(kBasics) + R"(,{"name":"next","type":["null","Exposure"]})"));
  BothWays ways(schema, {});
  const auto nested = [&](size_t depth) {
    json datum = {{"user_id", "u"}, {"item_id", "i"}, {"exposed_at", 9}, {"next", {0, nullptr}}};
    for (; depth > 1; --depth)
      datum = {{"user_id", "u"}, {"item_id", "i"}, {"exposed_at", 9}, {"next", {1, datum}}};
    return AvroEncoder(*schema).Encode(datum);
  };
  EXPECT_EQ(ways.Short(nested(63)), ways.Long(nested(63)));
  EXPECT_TRUE(ways.Long(nested(63)).starts_with("skip 0 user u"));
  EXPECT_EQ(ways.Short(nested(200)), "long way");
  EXPECT_TRUE(ways.Long(nested(100)).ends_with("nested too deeply; at most 64 levels"))
      << ways.Long(nested(100));
}

TEST(AvroReader, RejectsWhatIsNotAnEventOfTheSchema) {
  const auto schema = SchemaOf(R"(["null",)" + RecordWith(std::string(kBasics) + R"(,
      {"name":"e","type":{"type":"enum","name":"E","symbols":["A"]}},{"name":"u","type":["null","int"]},
      {"name":"b","type":"boolean"},{"name":"list","type":{"type":"array","items":{"type":"record","name":"I","fields":[
        {"name":"id","type":"string"}]}}})") +
                               "]");
  BothWays ways(schema, {});
  const std::string start = FromHex("02027502690e");  // the branch, user u, item i, time 7
  const std::string cases[][2] = {
      {"", "cut off after 0 bytes"},
      {FromHex("00"), "null"},
      {FromHex("04"), "branch 2 of a union of 2"},
      {FromHex("0201"), "field user_id: a length of -1"},
      {FromHex("020275ff"), "field item_id: cut off after 4 bytes"},
      {start, "field e: cut off after 6 bytes"},
      {start + FromHex("02"), "field e: symbol 1 of an enum of 1"},
      {start + FromHex("0003"), "field u: branch -2 of a union of 2"},
      {start + FromHex("0002ffffffff7f"), "field u: an int of more than 32 bits"},
      {start + FromHex("000002"), "field b: a boolean that is neither 0 nor 1"},
      {start + FromHex("00000004026106"), "field list[1].id: cut off after 13 bytes"},
      {start + FromHex("0000000106026100"), "field list: a block says that it has 3 bytes, and has 2"},
      {start + FromHex("0000000000"), "1 bytes behind its end"},
  };
  for (const auto& [payload, problem] : cases) {
    EXPECT_EQ(ways.Json(payload), "not_decodable not an event of schema record shop.Exposure: " + problem);
    EXPECT_EQ(ways.Short(payload), "long way") << problem;
  }
  EXPECT_EQ(ways.Short(start + FromHex("0000000104026100")), ways.Long(start + FromHex("0000000104026100")));
}

TEST(AvroReader, NoCountOfElementsTakesMuchTimeOrMemory) {
  const std::string types[] = {R"("null")",
                               R"({"type":"record","name":"N","fields":[]})",
                               R"({"type":"fixed","name":"F","size":0})",
                               R"("double")",
                               R"("string")",
                               R"({"type":"array","items":"null"})"};
  for (const std::string& type : types) {
    for (const std::string of : {R"({"type":"array","items":)", R"({"type":"map","values":)"}) {
      const auto schema =
          SchemaOf(RecordWith(R"({"name":"x","type":)" + of + type + "}}," + std::string(kBasics)));
      BothWays ways(schema, {});
      for (const std::string count :
           {"feffffffffffffffff01", "ffffffffffffffffff0100", "ffffffffffffffffff0102",
            "80808080808080808001", "fdffffffffffffffff0100", "80f8acd117", "0301"}) {
        const std::string payload = FromHex(count) + std::string(40, '\0');
        EXPECT_TRUE(ways.Json(payload).starts_with("not_decodable")) << type << count;
        (void)ways.Short(payload);
      }
    }
  }
  const auto schema =
      SchemaOf(RecordWith(R"({"name":"x","type":{"type":"array","items":"null"}},)" + std::string(kBasics)));
  BothWays ways(schema, {});
  EXPECT_EQ(ways.Json(FromHex("feffffffffffffffff01")),
            "not_decodable not an event of schema record shop.Exposure: field x[13235]: too many values for "
            "10 bytes");
}

TEST(AvroReader, MakesNoReaderForFieldsThatNoEventCanHave) {
  struct Case {
    std::string fields;
    std::string error;
    EventFormat format = {};
  };
  EventFormat seconds, by_uid, batch, by_kind;
  SetField(seconds, Field::kExposedAt, "/ts", TimeUnit::kSeconds);
  SetField(by_uid, Field::kUserId, "/uid");
  SetField(batch, Field::kItems, "/items");
  SetField(by_kind, Field::kKind, "/acton");
  by_kind.wanted.kind = true;
  const std::string has = " leads nowhere in schema record shop.Exposure, which has the fields ";
  const std::string user = R"({"name":"user_id","type":"string"},)";
  const std::string item = R"({"name":"item_id","type":"string"},)";
  const std::string time = R"(,{"name":"exposed_at","type":"long"})";
  const Case cases[] = {
      {std::string(kBasics),
       "input.fields.user_id: user_id (/uid)" + has + "user_id, item_id, exposed_at; map it to one of these",
       by_uid},
      {user + R"({"name":"item_id","type":"string"})",
       "input.fields.exposed_at: exposed_at" + has + "user_id, item_id; map it to one of these"},
      {user + time.substr(1),
       "input.fields.item_id: item_id" + has + "user_id, exposed_at; map it to one of these"},
      {user + R"({"name":"item_id","type":{"type":"record","name":"I","fields":[]}})" + time,
       "input.fields.item_id: \"/item_id\" leads to a record shop.I; point at a string, an int or a long"},
      {user + R"({"name":"item_id","type":["null",{"type":"map","values":"int"}]})" + time,
       "input.fields.item_id: \"/item_id\" leads to a map; point at a string, an int or a long"},
      {user + item + R"({"name":"exposed_at","type":"boolean"})",
       "input.fields.exposed_at: \"/exposed_at\" leads to a boolean; point at a time, such as a "
       "timestamp-millis or a long"},
      {user + R"({"name":"items","type":"string"})" + time,
       "input.fields.items: \"/items\" leads to a string; point at an array"},
      {user + R"({"name":"items","type":{"type":"array","items":"boolean"}})" + time,
       "input.fields.items: its elements are each a boolean; point at an array of ids, or of records with an "
       "id"},
      {user + R"({"name":"items","type":{"type":"array","items":{"type":"record","name":"I","fields":[]}}})" +
           time,
       "input.fields.item_id: item_id leads nowhere in the elements of items, which are each a record "
       "shop.I; map "
       "it to the "
       "field with the item's id"},
      {user + item + R"({"name":"ts","type":{"type":"long","logicalType":"timestamp-micros"}})",
       "input.fields.exposed_at: unit \"s\", but field ts of the schema is a timestamp-micros, which is read "
       "in ms; "
       "leave unit out",
       seconds},
      {std::string(kBasics),
       "input.fields.kind: kind (/acton)" + has + "user_id, item_id, exposed_at; map it to one of these",
       by_kind},
      {std::string(kBasics) + R"(,{"name":"position","type":"string"})",
       "input.fields.position: \"/position\" leads to a string; point at an int or a long"},
      {user + R"({"name":"items","type":"string"})" + time, "", batch},
      {R"({"name":"user_id","type":[{"type":"map","values":"int"},"string"]},{"name":"item_id","type":"int"})" +
           time,
       ""},
  };
  for (const Case& c : cases)
    EXPECT_EQ(BothWays(SchemaOf(RecordWith(c.fields)), c.format).error, c.error) << c.fields;
}

TEST(AvroReader, ReadsNamesDefaultsAndPromotionsOfTheReadersSchema) {
  const auto writer = SchemaOf(RecordWith(
      R"({"name":"uid","type":"int"},{"name":"gone","type":{"type":"array","items":"string"}},{"name":"item","type":"bytes"},
         {"name":"ts","type":{"type":"long","logicalType":"timestamp-micros"}},{"name":"amount","type":"int"},
         {"name":"os","type":{"type":"enum","name":"Os","symbols":["ios","tv"]}},{"name":"or","type":["int","string"]})",
      "old.Exposure"));
  const auto reader = SchemaOf(RecordWith(
      R"({"name":"scene","type":["null","string"],"default":"feed"},{"name":"user_id","type":"long","aliases":["id","uid"]},
         {"name":"item_id","type":["null","string"],"aliases":["item"]},
         {"name":"exposed_at","type":{"type":"long","logicalType":"timestamp-millis"},"aliases":["ts"]},
         {"name":"amount","type":"double"},
         {"name":"os","type":{"type":"enum","name":"Os","symbols":["ios","other"],"default":"other"}},
         {"name":"or","type":["null","string"]},
         {"name":"deep","type":{"type":"record","name":"D","fields":[{"name":"b","type":"bytes","default":"\u00ff"},
           {"name":"c","type":{"type":"map","values":"float"}}]},"default":{"c":{"x":1}}})"));
  EventFormat format = EverythingWanted();
  format.filters = {{{"feed"}, {AnyOf("/os", {"other"})}}, {{}, {AnyOf("/deep/b", {"ff"})}}};
  BothWays ways(writer, format, reader);
  ASSERT_TRUE(ways.reader) << ways.error;
  const json datum = {{"uid", 5},    {"gone", {"a", "b"}}, {"item", Bytes("i")}, {"ts", 7999},
                      {"amount", 3}, {"os", "tv"},         {"or", {1, "t"}}};
  const auto payload = AvroEncoder(*writer).Encode(datum);
  EXPECT_EQ(ways.Json(payload),
            R"({"user_id":5,"item_id":"i","exposed_at":7,"amount":3.0,"os":"other","or":"t","scene":"feed",)"
            R"("deep":{"b":"ff","c":{"x":1.0}}})");
  EXPECT_TRUE(ways.Long(payload).starts_with("skip 0 user 5 at 7 kind 0 filters " +
                                             std::to_string(kAllFilters) + " scene feed"))
      << ways.Long(payload);
  EXPECT_EQ(ways.Short(payload), "long way");  // the bytes ff, which a condition looks at
  format.filters.pop_back();
  BothWays without(writer, format, reader);
  EXPECT_EQ(without.Short(payload), without.Long(payload));
  json with_int = datum;
  with_int["or"] = {0, 1};
  EXPECT_EQ(ways.Json(AvroEncoder(*writer).Encode(with_int)),
            "not_decodable not an event of schema record old.Exposure: field or: the writer's int isn't the "
            "reader's union; give the reader's schema a type that holds it");
}

TEST(AvroReader, RefusesSchemasThatDoNotFitOneAnother) {
  const auto error = [](const std::string& written, const std::string& read) {
    return BothWays(SchemaOf(RecordWith(written + std::string(kBasics))), {},
                    SchemaOf(RecordWith(read + std::string(kBasics))))
        .error;
  };
  const auto x = [](const std::string& type) { return R"({"name":"x","type":)" + type + "},"; };
  EXPECT_EQ(error(x(R"("long")"), x(R"("int")")),
            "reader_schema: record shop.Exposure, field x: the writer's long isn't the reader's int; give "
            "the reader's schema a type that holds it");
  EXPECT_EQ(error(x(R"({"type":"fixed","name":"A","size":2})"), x(R"({"type":"fixed","name":"B","size":2})")),
            "reader_schema: record shop.Exposure, field x: the writer's fixed shop.A isn't the "
            "reader's fixed shop.B; give the reader's type the alias shop.A");
  EXPECT_EQ(BothWays(SchemaOf(RecordWith(kBasics, "old.Shown")), {}, SchemaOf(RecordWith(kBasics))).error,
            "reader_schema: the writer's record old.Shown isn't the reader's record "
            "shop.Exposure; give the reader's type the alias old.Shown");
  EXPECT_EQ(
      error("", R"({"name":"x","type":"int","default":"a"},)"),
      "reader_schema: record shop.Exposure, field x: its default is no value of its type; correct it in the "
      "reader's schema");
  EXPECT_EQ(
      error("", x(R"("int")")),
      "reader_schema: record shop.Exposure, field x: the writer's schema lacks it; give it a default in "
      "the reader's schema");
  const std::string within = R"({"type":"array","items":{"type":"record","name":"R","fields":[)";
  EXPECT_EQ(
      error(x(within + R"({"name":"y","type":"long"}]}})"), x(within + R"({"name":"y","type":"int"}]}})")),
      "reader_schema: record shop.R, field y: the writer's long isn't the reader's int; give the "
      "reader's schema a type that holds it");
  EXPECT_EQ(error(x(R"("int")"), ""), "");
  // A long default within each of many records takes little time.
  std::string records = "{}";
  for (int i = 0; i < 5000; ++i) records += ",{}";
  const std::string junk = R"({"y":1,"junk":")" + std::string(50'000, 'j') + "\"}";
  EXPECT_EQ(
      error("", R"({"name":"x","default":[)" + records +
                    R"(],"type":{"type":"array","items":{"type":"record","name":"R","fields":[
                {"name":"s","default":)" +
                    junk +
                    R"(,"type":{"type":"record","name":"S","fields":[{"name":"y","type":"int"}]}}]}}},)"),
      "reader_schema: record shop.Exposure, field x: its default is no value of its type; correct it in the "
      "reader's schema");
}

TEST(AvroReader, TakesTheNearestOfSeveralFieldsAndBranches) {
  const auto x = [](const std::string& more) {
    return R"({"name":"x","type":{"type":"record","name":"b.Item","fields":[{"name":"p","type":"int"}]}},)" +
           more;
  };
  const auto writer = SchemaOf(
      RecordWith(x(R"({"name":"a","type":"int"},{"name":"c","type":"int"},{"name":"y","type":"long"},)") +
                 std::string(kBasics)));
  const auto reader = SchemaOf(RecordWith(
      R"({"name":"b","type":"int","aliases":["a"],"default":9},{"name":"a","type":"int"},{"name":"d","type":"int","aliases":["z","c"]},
         {"name":"y","type":["double","long"]},
         {"name":"x","type":["null",{"type":"record","name":"a.Item","fields":[{"name":"q","type":"int","default":1}]},
           {"type":"record","name":"b.Item","fields":[{"name":"p","type":"int"}]}]},)" +
      std::string(kBasics)));
  BothWays ways(writer, {}, reader);
  ASSERT_TRUE(ways.reader) << ways.error;
  const json datum = {{"x", {{"p", 3}}}, {"a", 5},         {"c", 6},         {"y", 7},
                      {"user_id", "u"},  {"item_id", "i"}, {"exposed_at", 1}};
  EXPECT_EQ(ways.Json(AvroEncoder(*writer).Encode(datum)),
            R"({"x":{"p":3},"a":5,"d":6,"y":7,"user_id":"u","item_id":"i","exposed_at":1,"b":9})");
}

TEST(AvroReader, RejectsEventsWithABranchThatTheReadersSchemaCannotHold) {
  const auto schema = [](const std::string& type) {
    return SchemaOf(RecordWith(
        R"({"name":"x","type":["null",{"type":"array","items":{"type":"record","name":"R","fields":[{"name":"y","type":")" +
        type + R"("}]}}]},)" + std::string(kBasics)));
  };
  const auto writer = schema("long");
  BothWays ways(writer, LookingAt("/x", {}), schema("int"));
  ASSERT_TRUE(ways.reader) << ways.error;
  json datum = {{"x", {0, nullptr}}, {"user_id", "u"}, {"item_id", "i"}, {"exposed_at", 1}};
  const auto without = AvroEncoder(*writer).Encode(datum);
  EXPECT_EQ(ways.Json(without), R"({"user_id":"u","item_id":"i","exposed_at":1})");
  EXPECT_EQ(ways.Short(without), ways.Long(without));
  datum["x"] = {1, json::array()};
  const auto with = AvroEncoder(*writer).Encode(datum);
  EXPECT_EQ(ways.Json(with),
            "not_decodable not an event of schema record shop.Exposure: field x: record shop.R, field y: the "
            "writer's long isn't the reader's int; give the reader's schema a type that holds it");
  EXPECT_EQ(ways.Short(with), "long way");
}

TEST(AvroReader, RefusesTypesThatReferToManyOthers) {
  constexpr int kRecords = 1200;
  const auto chain = [](const std::string& name) {
    std::string fields;
    for (int i = 0; i < kRecords; ++i) {
      const std::string n = std::to_string(i);
      const std::string next = R"({"name":"y","type":["null","R)" + std::to_string(i - 1) + "\"]}";
      fields += R"({"name":")" + name + n + R"(","default":null,"type":["null",{"type":"record","name":"R)" +
                n + R"(","fields":[)" + (i == 0 ? "" : next) + "]}]},";
    }
    return RecordWith(fields + R"({"name":"last","type":["null","R1199"]},)" + std::string(kBasics), "Event");
  };
  const auto written = SchemaOf(chain("a"));
  EXPECT_EQ(BothWays(written, {}, written).error, "");
  EXPECT_EQ(BothWays(written, {}, SchemaOf(chain("b"))).error,
            "reader_schema: its types refer to too many others; use fewer unions, or records that are nested "
            "less");
}

TEST(AvroReader, AllocatesNothingOnceWarm) {
  const auto schema = SchemaOf(RecordWith(
      R"({"name":"user_id","type":{"type":"fixed","name":"U","size":16,"logicalType":"uuid"}},{"name":"exposed_at","type":"long"},
         {"name":"items","type":{"type":"array","items":["long",{"type":"record","name":"I","fields":[
           {"name":"item_id","type":"U"},{"name":"position","type":"int"}]}]}},{"name":"map","type":{"type":"map","values":"string"}})"));
  BothWays ways(schema, EverythingWanted());
  ASSERT_TRUE(ways.reader) << ways.error;
  json items = json::array();
  for (int i = 0; i < 300; ++i) {
    const json id = Bytes(std::string(16, static_cast<char>(i)));
    items.push_back(i % 2 == 0 ? json{0, i} : json{1, {{"item_id", id}, {"position", i}}});
  }
  const auto payload = AvroEncoder(*schema).Encode(
      {{"user_id", Bytes(std::string(16, 'u'))}, {"exposed_at", 1}, {"items", items}, {"map", {{"a", "b"}}}});
  EXPECT_EQ(ways.Short(payload), ways.Long(payload));
  Event event;
  const uint64_t before = AllocationCount();
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(ways.reader->Read(payload, ways.buffers, event));
  EXPECT_EQ(AllocationCount() - before, 0u);
  EXPECT_EQ(event.items.size(), 300u);
}

}  // namespace
}  // namespace seen
