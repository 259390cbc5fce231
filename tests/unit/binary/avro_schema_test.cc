#include "binary/avro_schema.h"

#include <gtest/gtest.h>

namespace seen {
namespace {

std::string ErrorOf(std::string_view text) {
  const auto schema = AvroSchema::Parse(text);
  return schema ? "accepted" : schema.error();
}

std::string RecordOf(std::string_view fields) {
  return R"({"type":"record","name":"Event","namespace":"shop","fields":[)" + std::string(fields) + "]}";
}
std::string FieldOf(std::string_view type) {
  return RecordOf(R"({"name":"f","type":)" + std::string(type) + "}");
}

TEST(AvroSchema, KnowsEveryType) {
  const auto schema = AvroSchema::Parse(RecordOf(
      R"({"name":"n","type":"null"},{"name":"b","type":{"type":"boolean"}},{"name":"i","type":"int"},
         {"name":"l","type":"long"},{"name":"x","type":"float"},{"name":"d","type":"double"},
         {"name":"y","type":"bytes"},{"name":"s","type":"string","aliases":["t"],"default":"a","doc":"?"},
         {"name":"f","type":{"type":"fixed","name":"F","size":3,"aliases":["G","other.H"]}},
         {"name":"e","type":{"type":"enum","name":"far.E","symbols":["A","B"],"default":"B"}},
         {"name":"a","type":{"type":"array","items":"F"}},{"name":"m","type":{"type":"map","values":"far.E"}},
         {"name":"u","type":["null","shop.F",{"type":"array","items":"Event"}]})"));
  ASSERT_TRUE(schema) << schema.error();
  const auto& record = (*schema)->RootRecord();
  EXPECT_EQ(record.name, "shop.Event");
  std::string types;
  for (const auto& field : record.fields)
    types += field.name + ":" + std::string(AvroTypeName((**schema)[field.node].type)) + " ";
  EXPECT_EQ(types,
            "n:null b:boolean i:int l:long x:float d:double y:bytes s:string f:fixed e:enum a:array m:map "
            "u:union ");
  EXPECT_EQ(record.fields[7].aliases, std::vector<std::string>{"t"});
  EXPECT_EQ(record.fields[7].default_json, "\"a\"");
  EXPECT_EQ((**schema)[record.fields[8].node].aliases, (std::vector<std::string>{"shop.G", "other.H"}));
  EXPECT_EQ((**schema)[record.fields[9].node].symbol_default, "B");
  EXPECT_EQ((**schema)[record.fields[10].node].within[0], record.fields[8].node);
  EXPECT_EQ((**schema)[(**schema)[record.fields[12].node].within[2]].within[0], (*schema)->root());
}

TEST(AvroSchema, KnowsLogicalTypesOnTheirTypesOnly) {
  const auto logical = [](const std::string& type) {
    const auto schema = AvroSchema::Parse(FieldOf(type));
    EXPECT_TRUE(schema) << schema.error();
    return std::string(AvroLogicalName((**schema)[(*schema)->RootRecord().fields[0].node].logical));
  };
  const std::string good[][2] = {{"int", "date"},
                                 {"int", "time-millis"},
                                 {"long", "time-micros"},
                                 {"long", "timestamp-millis"},
                                 {"long", "timestamp-micros"},
                                 {"long", "timestamp-nanos"},
                                 {"long", "local-timestamp-millis"},
                                 {"long", "local-timestamp-micros"},
                                 {"long", "local-timestamp-nanos"},
                                 {"string", "uuid"}};
  for (const auto& [type, name] : good)
    EXPECT_EQ(logical(R"({"type":")" + type + R"(","logicalType":")" + name + R"("})"), name);
  EXPECT_EQ(logical(R"({"type":"bytes","logicalType":"decimal","precision":9,"scale":2})"), "decimal");
  EXPECT_EQ(logical(R"({"type":"fixed","name":"D","size":12,"logicalType":"duration"})"), "duration");
  EXPECT_EQ(logical(R"({"type":"fixed","name":"U","size":16,"logicalType":"uuid"})"), "uuid");
  for (const std::string type :
       {R"({"type":"string","logicalType":"date"})", R"({"type":"int","logicalType":"x"})",
        R"({"type":"long","logicalType":7})", R"({"type":"fixed","name":"U","size":15,"logicalType":"uuid"})",
        R"({"type":"fixed","name":"U","size":2,"logicalType":"decimal","precision":5})",
        R"({"type":"bytes","logicalType":"decimal"})",
        R"({"type":"bytes","logicalType":"decimal","precision":2,"scale":3})"})
    EXPECT_EQ(logical(type), "") << type;
}

TEST(AvroSchema, TakesAnEventThatMayBeNull) {
  EXPECT_EQ(ErrorOf(R"(["null",{"type":"record","name":"E","fields":[]}])"), "accepted");
  EXPECT_EQ(ErrorOf(R"([{"type":"record","name":"E","fields":[]},"null"])"), "accepted");
}

TEST(AvroSchema, SaysWhatIsWrongAndWhere) {
  const std::string cases[][2] = {
      {R"("int")",
       "the schema: its type is int, and an event is a record; name a record, or a union of null and "
       "one record"},
      {R"(["null","int"])",
       "the schema: its type is union, and an event is a record; name a record, or a union of "
       "null and one record"},
      {R"({"type":"record","type":"record"})", "the member \"type\" is twice in one object; keep one"},
      {"7", "the schema: a type is number; give a name, an object or a list"},
      {"{}", "the schema: a type without the member \"type\"; add it"},
      {R"({"type":"record","fields":[]})",
       "the schema: a type record without a name; add the member \"name\""},
      {R"({"type":"record","name":"","fields":[]})",
       "the schema: the name \"\" of a type record is empty, or is so between two dots; give each part of "
       "it"},
      {R"({"type":"record","name":"a..E","fields":[]})",
       "the schema: the name \"a..E\" of a type record is empty, or is so between two dots; give each part "
       "of "
       "it"},
      {R"({"type":"record","name":"string","fields":[]})",
       "the schema: a type record has the name of the primitive type string; choose another"},
      {R"({"type":"record","name":"E","namespace":"a.","fields":[]})",
       "record \"E\": its namespace isn't a list of names with dots between them, such as \"com.shop\""},
      {R"({"type":"record","name":"E"})", "record E: a record without the list \"fields\"; add it"},
      {RecordOf("{}"), "record shop.Event: a field without a name; add the member \"name\""},
      {RecordOf(R"({"name":"a.b","type":"int"})"),
       "record shop.Event: the name \"a.b\" of a field is empty, or has a dot; rename it"},
      {RecordOf(R"({"name":"a","type":"int"},{"name":"a","type":"int"})"),
       "record shop.Event: the field a is defined twice; rename one"},
      {RecordOf(R"({"name":"a"})"),
       "record shop.Event, field a: a field without a type; add the member \"type\""},
      {RecordOf(R"({"name":"a","type":"int","aliases":[""]})"),
       "record shop.Event, field a: the alias \"\" isn't a name; give a text that isn't empty, without a "
       "dot"},
      {FieldOf(R"("Item")"),
       "record shop.Event, field f: unknown type \"Item\"; define it where it stands first, or "
       "write its namespace: \"shop.Item\""},
      {FieldOf("[]"), "record shop.Event, field f: a union without a branch; name at least one type"},
      {FieldOf(R"(["null",["int"]])"),
       "record shop.Event, field f: a union directly in a union; join their branches"},
      {FieldOf(R"(["int","int"])"), "record shop.Event, field f: a union with int twice; keep one"},
      {FieldOf(R"(["null","Event","Event"])"),
       "record shop.Event, field f: a union with shop.Event twice; keep one"},
      {FieldOf(R"({"type":"array"})"),
       "record shop.Event, field f: an array without the member \"items\"; name the type there"},
      {FieldOf(R"({"type":"map","values":"Item"})"),
       "record shop.Event, field f, values: unknown type \"Item\"; define it where it stands first, or write "
       "its "
       "namespace: \"shop.Item\""},
      {FieldOf(R"({"type":"record","name":"Event","fields":[]})"),
       "record shop.Event, field f: the type shop.Event is defined twice; use its name alone where it stands "
       "again"},
      {FieldOf(R"({"type":"enum","name":"E"})"), "enum shop.E: an enum without the list \"symbols\"; add it"},
      {FieldOf(R"({"type":"enum","name":"E","symbols":["A","A"]})"),
       "enum shop.E: the symbol A is there twice; keep one"},
      {FieldOf(R"({"type":"enum","name":"E","symbols":["A.b"]})"),
       "enum shop.E: the symbol \"A.b\" isn't a name; give a text that isn't empty, without a dot"},
      {FieldOf(R"({"type":"enum","name":"E","symbols":["A"],"default":"B"})"),
       "enum shop.E: its default isn't one of its symbols; name one of them"},
      {FieldOf(R"({"type":"fixed","name":"F"})"),
       "fixed shop.F: a fixed without a size; add \"size\", the number of its bytes"},
      {std::string(AvroSchema::kTextBytesMax + 1, ' '), "the schema: 1048577 bytes; at most 1048576"},
  };
  for (const auto& [text, error] : cases) EXPECT_EQ(ErrorOf(text), error) << text.substr(0, 200);
  EXPECT_TRUE(ErrorOf("{").starts_with("not JSON: parse error at line 1")) << ErrorOf("{");
  EXPECT_EQ(ErrorOf(RecordOf(R"({"name":"a","type":"double","default":1e400})")),
            "not JSON: number overflow parsing '1e400'; give the text of an .avsc file");
}

// Apache's Java writes such names if it is asked not to check them.
TEST(AvroSchema, TakesNamesThatTheSpecificationForbids) {
  EXPECT_EQ(ErrorOf(R"({"type":"record","name":"E-1","namespace":"com.my-shop","aliases":null,"fields":[
      {"name":"标题","type":"string"},{"name":"page-id","type":["null","int"],"aliases":["9"]},
      {"name":"os","type":{"type":"enum","name":"Os","symbols":["smart tv"]}},
      {"name":"why","type":{"type":"error","name":"Why","fields":[]}}]})"),
            "accepted");
}

TEST(AvroSchema, HasLimits) {
  std::string deep = R"("int")";
  for (size_t i = 0; i < AvroSchema::kDepthMax; ++i) deep = R"({"type":"array","items":)" + deep + "}";
  EXPECT_TRUE(ErrorOf(FieldOf(deep)).ends_with("nested too deeply; at most 64 types in one another"));
  EXPECT_TRUE(ErrorOf(std::string(500'000, '[')).starts_with("not JSON"));
  EXPECT_EQ(ErrorOf(std::string(300, '[') + std::string(300, ']')),
            "nested too deeply; at most 64 types in one another");
  std::string many;
  for (size_t i = 0; i < AvroSchema::kNodesMax; ++i)
    many += (i == 0 ? "" : ",") + (R"({"name":"f)" + std::to_string(i) + R"(","type":"int"})");
  EXPECT_EQ(ErrorOf(RecordOf(many)),
            "record shop.Event, field f9999: the schema has more than 10000 types; use fewer");
}

}  // namespace
}  // namespace seen
