#include "binary/protobuf_schema.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <gtest/gtest.h>

#include "unit/binary/avro_encoder.h"

namespace seen {
namespace {

std::string ErrorOf(const tl::expected<std::shared_ptr<const ProtobufSchema>, std::string>& schema) {
  return schema ? "is " + schema.value()->message().full_name() : schema.error();
}

constexpr std::string_view kShop = R"(
  syntax = "proto3";
  package shop;
  message First { message Within { int32 a = 1; message Deep {} } message Other {} }
  message Second { First.Within within = 1; })";

TEST(ProtobufSchema, FindsMessagesByIndexes) {
  const auto schema = ProtobufSchema::FromText(kShop);
  ASSERT_TRUE(schema) << schema.error();
  const auto at = [&](std::vector<int32_t> indexes) { return ErrorOf(schema.value()->MessageAt(indexes)); };
  EXPECT_EQ(ErrorOf(schema), "is shop.First");
  EXPECT_EQ(at({0}), "is shop.First");
  EXPECT_EQ(at({1}), "is shop.Second");
  EXPECT_EQ(at({0, 1}), "is shop.First.Other");
  EXPECT_EQ(at({0, 0, 0}), "is shop.First.Within.Deep");
  EXPECT_EQ(at({2}), "the schema has no message at indexes 2");
  EXPECT_EQ(at({0, -1}), "the schema has no message at indexes 0, -1");
  EXPECT_EQ(at({}), "no message indexes");
}

TEST(ProtobufSchema, TakesMessageIndexesFromThePayload) {
  struct Case {
    std::string bytes;
    std::string taken;
  };
  const Case cases[] = {
      {FromHex("00") + "rest", "0 rest"},
      {FromHex("0200") + "rest", "0 rest"},
      {FromHex("0202") + "rest", "1 rest"},
      {FromHex("0400ac02") + "rest", "0 150 rest"},
      {FromHex("00"), "0 "},
      {"", "none"},
      {FromHex("02"), "none"},
      {FromHex("01"), "none"},
      {FromHex("0201"), "none"},
      {FromHex("feffffffffffffffff01"), "none"},
      {FromHex("42") + std::string(33, '\0'), "none"},
      {FromHex("02ffffffff1f"), "none"},
  };
  std::vector<int32_t> indexes{7};
  for (const Case& c : cases) {
    std::string_view payload = c.bytes;
    std::string taken = "none";
    if (TakeMessageIndexes(payload, indexes)) {
      taken.clear();
      for (const int32_t index : indexes) taken += std::to_string(index) + " ";
      taken += payload;
    }
    EXPECT_EQ(taken, c.taken);
  }
}

TEST(ProtobufSchema, ReadsSourcesWithTheirImports) {
  const std::string text = R"(syntax = "proto3"; import "b.proto"; import public "google/protobuf/any.proto";
    message A { c.C c = 1; google.protobuf.Any any = 2; })";
  const ProtobufSchema::Source b{"b.proto", R"(syntax = "proto3"; import public "dir/c.proto";)"};
  const ProtobufSchema::Source c{"dir/c.proto",
                                 R"(syntax = "proto2"; package c; message C { repeated C c = 1; })"};
  EXPECT_EQ(ErrorOf(ProtobufSchema::FromText(text, std::vector{b, c})), "is A");
  EXPECT_EQ(ErrorOf(ProtobufSchema::FromText(text, std::vector{c, b})), "is A");
  EXPECT_EQ(ErrorOf(ProtobufSchema::FromText(text, std::vector{b})),
            "file dir/c.proto is imported but missing; write the set with --include_imports, or register the "
            "file as a reference of the schema");
  const ProtobufSchema::Source circle{"dir/c.proto", R"(import "b.proto"; message C {})"};
  EXPECT_EQ(ErrorOf(ProtobufSchema::FromText(text, std::vector{b, circle})),
            "file b.proto imports itself, or files 64 deep");
}

TEST(ProtobufSchema, ReadsOptionsThatASchemaDeclares) {
  EXPECT_EQ(ErrorOf(ProtobufSchema::FromText(R"(
      syntax = "proto3"; import "google/protobuf/descriptor.proto";
      extend google.protobuf.FieldOptions { string note = 50001; }
      message A { int32 a = 1 [(note) = "x"]; })")),
            "is A");
}

TEST(ProtobufSchema, SaysWhatIsWrongWithASource) {
  struct Case {
    std::string text;
    std::string error;
  };
  const Case cases[] = {
      {"message A { optional int32 a = 1 }", "file (schema), line 1, column 34: Expected \";\"."},
      {"message A { Nothing a = 1; }",
       "file (schema), line 1, column 13: Expected \"required\", \"optional\", or \"repeated\"."},
      {"syntax = \"proto3\"; message A { Nothing a = 1; }",
       "file (schema), A.a: \"Nothing\" is not defined."},
      {"", "the schema has no message"},
      {"syntax = \"proto3\"; message A { int32 a = 1; int32 b = 1; }",
       "file (schema), A.b: Field number 1 has already been used in \"A\" by field \"a\"."},
      {std::string(ProtobufSchema::kBytesMax + 1, ' '), "file (schema) is longer than 4 MiB"},
  };
  for (const Case& c : cases)
    EXPECT_EQ(ErrorOf(ProtobufSchema::FromText(c.text)), c.error) << c.text.substr(0, 99);
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "message A{";
  EXPECT_EQ(ErrorOf(ProtobufSchema::FromText(deep)), "file (schema) is nested more than 100 deep");
}

TEST(ProtobufSchema, ReadsSetsOfFiles) {
  const auto schema = ProtobufSchema::FromText(kShop);
  ASSERT_TRUE(schema) << schema.error();
  google::protobuf::FileDescriptorSet set;
  schema.value()->message().file()->CopyTo(set.add_file());
  EXPECT_EQ(ErrorOf(ProtobufSchema::FromFileSet(set.SerializeAsString(), "shop.First.Within")),
            "is shop.First.Within");
  EXPECT_EQ(ErrorOf(ProtobufSchema::FromFileSet(set.SerializeAsString(), "First")),
            "no message \"First\"; the set has the messages shop.First, shop.Second");
  const std::string no_set =
      "no FileDescriptorSet; write one by protoc --include_imports --descriptor_set_out=FILE";
  EXPECT_EQ(ErrorOf(ProtobufSchema::FromFileSet("", "A")), no_set);
  EXPECT_EQ(ErrorOf(ProtobufSchema::FromFileSet("syntax = 'proto3';", "A")), no_set);
  set.mutable_file(0)->add_dependency("b.proto");
  EXPECT_EQ(
      ErrorOf(ProtobufSchema::FromFileSet(set.SerializeAsString(), "shop.First")),
      "file b.proto is imported but missing; write the set with --include_imports, or register the file "
      "as a reference of the schema");
}

TEST(ProtobufSchema, StandsChangedSets) {
  const auto schema = ProtobufSchema::FromText(kShop);
  ASSERT_TRUE(schema) << schema.error();
  google::protobuf::FileDescriptorSet set;
  schema.value()->message().file()->CopyTo(set.add_file());
  const std::string bytes = set.SerializeAsString();
  Random random(1);
  for (int i = 0; i < 2000; ++i) {
    std::string changed = bytes.substr(0, random() % 4 == 0 ? random() % bytes.size() : bytes.size());
    for (auto edits = random() % 4; edits > 0 && !changed.empty(); --edits)
      changed[random() % changed.size()] = static_cast<char>(random());
    (void)ProtobufSchema::FromFileSet(changed, "shop.First");
  }
}

}  // namespace
}  // namespace seen
