// Items from JSON: what the decoder reads, and its errors for what it can't read.
#include "similar/port/item_decoder.h"

#include <gtest/gtest.h>

#include <string>

#include "unit/decode/format_of.h"

namespace seen {
namespace {

std::string Said(ItemDecoder& decoder, std::string_view json) {
  const auto item = decoder.Decode(json);
  if (!item) {
    const Rejection& rejection = item.error();
    return std::string(RejectReasonName(rejection.reason)) + " [" + std::string(rejection.field) + "] " +
           rejection.message;
  }
  return std::string(item->item_id) + "@" +
         (item->created_at ? std::to_string(item->created_at->value) : "none") + " " +
         std::string(item->title) + "|" + std::string(item->text) + "|" + std::string(item->lang) +
         (item->deleted ? " deleted" : "");
}

struct Case {
  std::string json;
  std::string said;
};

void Expect(const ItemFormat& format, std::initializer_list<Case> cases) {
  ItemDecoder decoder(format, 1000);  // one for all: no item leaves anything for the next one
  for (const Case& c : cases) EXPECT_EQ(Said(decoder, c.json), c.said) << c.json;
}

TEST(ItemDecoder, ReadsWhatTheSchemaSays) {
  Expect({},
         {{R"({"item_id":"n1","created_at":7,"title":"A","text":"b c","lang":"en-GB"})", "n1@7 A|b c|en-GB"},
          {R"({"item_id":42})", "42@none ||"},
          {R"({"item_id":18446744073709551615,"text":"x"})", "18446744073709551615@none |x|"},
          {R"({"item_id":"n1","created_at":null,"title":null,"text":null,"lang":null,"deleted":null})",
           "n1@none ||"},
          {R"({"item_id":"n1","text":"x","deleted":false,"of":{"no":["concern"]}})", "n1@none |x|"},
          {R"({"item_id":"n1","lang":"zh","deleted":true})", "n1@none ||zh deleted"},
          {R"({"item_id":"n1","text":7,"created_at":"x","deleted":true})", "n1@none || deleted"},
          {R"({"item_id":"n1","text":"\u00e9 \ud83d\ude00"})", "n1@none |é 😀|"}});
}

TEST(ItemDecoder, NamesFieldValueAndRemedy) {
  const std::string several =
      "not_json [] not an item: several items; a record of items.topic holds one. Remedy: send each in a "
      "record "
      "of its own";
  Expect(
      {},
      {{R"({"text":"x"})", "missing_field [item_id] item_id: missing"},
       {R"({"item_id":""})", "empty_id [item_id] item_id: empty"},
       {R"({"item_id":")" + std::string(513, 'x') + R"("})",
        "id_too_long [item_id] item_id: 513 bytes; expected at most 512"},
       {R"({"item_id":1.5})",
        "wrong_type [item_id] item_id: a number with a fraction or exponent; expected a string or a "
        "64-bit integer"},
       {R"({"item_id":99999999999999999999})",
        "out_of_range [item_id] item_id: an integer beyond 64 bits; expected a string or a 64-bit "
        "integer"},
       {R"({"item_id":"n1","created_at":"x"})",
        "wrong_type [created_at] created_at: a string; expected an integer"},
       {R"({"item_id":"n1","created_at":-1})",
        "out_of_range [created_at] created_at: -1; expected milliseconds since 1970 in "
        "0..4294967295999"},
       {R"({"item_id":"n1","title":7})", "wrong_type [title] title: an integer; expected a string or null"},
       {R"({"item_id":"n1","text":["a"]})", "wrong_type [text] text: an array; expected a string or null"},
       {R"({"item_id":"n1","deleted":"true"})",
        "wrong_type [deleted] deleted: a string; expected true, false or null"},
       {R"([{"item_id":"a"},{"item_id":"b"}])", several},
       {R"({"item_id":"a"}{"item_id":"b"})", several},
       {"{\"item_id\":\"a\"}\n{\"item_id\":\"b\"}\n", several},
       {R"(["n1"])", "not_json [] not an item: an array; expected an object"},
       {"{\"item_id\":\"n1\",\"text\":\"\xff\"}", "invalid_utf8 [] not UTF-8"},
       {"", "not_json [] not JSON: empty"},
       {R"({"item_id":"n1","text":")" + std::string(1000, 'x') + R"("})",
        "too_large [] 1026 bytes; the most an item's record may have is 1000"}});
}

TEST(ItemDecoder, FindsFieldsByPointer) {
  ItemFormat format;
  const auto set = [&](ItemField field, const char* pointer, TimeUnit unit = TimeUnit::kMilliseconds) {
    format.fields[static_cast<size_t>(field)] = ItemFieldRule{Pointer(pointer), unit};
  };
  set(ItemField::kItemId, "/after/id");
  set(ItemField::kCreatedAt, "/after/at", TimeUnit::kSeconds);
  set(ItemField::kText, "/after/body/0");
  set(ItemField::kDeleted, "/__deleted");
  Expect(
      format,
      {{R"({"after":{"id":7,"at":"12","body":["x","y"]},"title":"T","__deleted":"false"})", "7@12000 T|x|"},
       {R"({"after":{"id":7},"__deleted":"true"})", "7@none || deleted"},
       {R"({"id":7})", "missing_field [item_id] item_id (/after/id): missing"},
       {R"({"after":{"id":7,"at":4294967296}})",
        "out_of_range [created_at] created_at (/after/at): 4294967296; expected seconds since 1970 "
        "in 0..4294967295; items.fields.created_at says unit \"s\""},
       {R"({"after":{"id":7},"__deleted":1})",
        "wrong_type [deleted] deleted (/__deleted): an integer; expected true, false, \"true\", "
        "\"false\" or null"}});
}

TEST(ItemDecoder, ReadsOnAfterAVeryLongText) {
  ItemDecoder decoder({}, 32 << 20);
  const std::string text(10'000'000, 'x');
  const auto item = decoder.Decode(R"({"item_id":"n1","text":")" + text + R"("})");
  ASSERT_TRUE(item);
  EXPECT_EQ(item->text, text);
  EXPECT_EQ(Said(decoder, R"({"item_id":"n2","text":"y"})"), "n2@none |y|");
}

}  // namespace
}  // namespace seen
