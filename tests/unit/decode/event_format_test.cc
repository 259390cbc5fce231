// Events that aren't in the default format: what a format reads from them, and its errors for bad events.
#include <gtest/gtest.h>

#include <memory>

#include "decode/event_decoder.h"
#include "unit/decode/format_of.h"
#include "unit/decode/second_reading.h"

namespace seen {
namespace {

/// The decoder's result for one event, as a line: see Shown, or "reason field: message".
std::string Said(const EventFormat& format, std::string_view payload) {
  const auto plan = EventPlan::Make(format);
  if (!plan) return plan.error().path + ": " + plan.error().message;
  EventDecoder decoder(100'000, *plan);
  const auto event = decoder.Decode(payload);
  if (event && event->skip != SkipReason::kNone)
    return "skipped: " + std::string(SkipReasonName(event->skip));
  if (!event) return std::string(RejectReasonName(event.error().reason)) + " " + event.error().message;
  EXPECT_EQ(event->details.empty() || event->details.size() == event->items.size(), true);
  return Shown(Copied(*event));
}

/// The line of an accepted event, if the format wants no further fields.
std::string Accepted(const std::string& user, const std::string& time, const std::string& items) {
  return user + "@" + time + " kind 0 skip 0 scene  request  filters 0 " + items;
}

struct FormatCase {
  std::string payload;
  std::string said;
};

void Expect(const EventFormat& format, std::initializer_list<FormatCase> cases) {
  for (const FormatCase& c : cases) EXPECT_EQ(Said(format, c.payload), c.said) << c.payload;
}

TEST(EventFormat, FindsFieldsByPointer) {
  EventFormat format;
  SetField(format, Field::kUserId, "/data/uid");
  SetField(format, Field::kItemId, "/data/item/id");
  SetField(format, Field::kExposedAt, "/t/0");
  Expect(format,
         {{R"({"data":{"uid":7,"item":{"id":"n1"}},"t":[12,13]})", Accepted("7", "12", "n1")},
          {R"({"data":{"uid":1,"item":{"id":"x"}},"t":[1],"data":{"uid":"u","item":{"id":"y"}}})",
           Accepted("u", "1", "y")},
          {R"({"data":{"uid":1,"item":{"id":"x"}},"t":[1],"data":{"uid":"u"}})",
           "missing_field item_id (/data/item/id): missing"},
          {R"({"data":{"item":{"id":"n1"}},"t":[12]})", "missing_field user_id (/data/uid): missing"},
          {R"({"data":"u1","t":[12]})", "missing_field user_id (/data/uid): missing"},
          {R"({"user_id":"u1","data":{"uid":null,"item":{"id":"n1"}},"t":[12]})",
           "wrong_type user_id (/data/uid): null; expected a string or a 64-bit integer"},
          {R"({"data":{"uid":"u","item":{"id":""}},"t":[12]})", "empty_id item_id (/data/item/id): empty"},
          {R"({"data":{"uid":"u","item":{"id":"n"}},"t":[]})", "missing_field exposed_at (/t/0): missing"},
          {R"({"data":{"uid":"u","item":{"id":"n"}},"t":{"0":5}})", Accepted("u", "5", "n")}});
}

TEST(EventFormat, UnescapesPointersAndReadsNamesAsTheyAre) {
  EventFormat format;
  SetField(format, Field::kUserId, "/a~1b/~0c~01");
  SetField(format, Field::kItemId, "/曝光/");
  Expect(format,
         {{R"({"a/b":{"~c~1":"u"},"曝光":{"":"n"},"exposed_at":1})", Accepted("u", "1", "n")},
          {R"({"a\/b":{"\u007ec~1":"u"},"\u66dd光":{"":"n"},"exposed_at":1})", Accepted("u", "1", "n")}});
}

TEST(EventFormat, TakesWhatIsUnmappedByItsOwnNameAndLeavesWhatNobodyWants) {
  EventFormat format;
  SetField(format, Field::kUserId, "/uid");
  // By default a scene must be text. A company's own events may use the name for something else.
  Expect(format,
         {{R"({"uid":"u","item_id":"n","exposed_at":1,"scene":{"id":5},"kind":9})", Accepted("u", "1", "n")},
          {R"({"uid":"u","items":["n",{"item_id":3}],"exposed_at":1})", Accepted("u", "1", "n 3")}});
  format.wanted.scene = true;
  Expect(format, {{R"({"uid":"u","item_id":"n","exposed_at":1,"scene":{"id":5}})",
                   "wrong_type scene: an object; expected a string or null"}});
  SetField(format, Field::kScene, "/scene/id");
  Expect(format, {{R"({"uid":"u","item_id":"n","exposed_at":1,"scene":{"id":5}})",
                   "u@1 kind 0 skip 0 scene 5 request  filters 0 n"}});
}

TEST(EventFormat, ReadsTimesInTheirUnits) {
  struct TimeCase {
    TimeUnit unit;
    const char* value;
    const char* said;
  };
  using enum TimeUnit;
  const TimeCase cases[] = {
      {kMilliseconds, "1763700000123", "1763700000123"},
      {kMilliseconds, R"("1763700000123")", "1763700000123"},
      {kMilliseconds, "1763700000123000",
       "!1763700000123000; expected milliseconds since 1970 in 0..4294967295999"},
      {kMilliseconds, "1763700000123.7", "1763700000123"},
      {kMilliseconds, R"("1763700000123.7")", "1763700000123"},
      {kMilliseconds, "-0.5", "!-0.500000; expected milliseconds since 1970 in 0..4294967295999"},
      {kMilliseconds, "1e400", "!"},
      {kSeconds, R"("1763700000.123")", "1763700000123"},
      {kMicroseconds, "1763700000123999.5", "1763700000123"},
      {kMicroseconds, R"("1763700000123999.5")", "1763700000123"},
      {kMicroseconds, R"("9e99")", "!\"9e99\"; expected microseconds since 1970 in 0..4294967295999999"},
      {kSeconds, "1763700000", "1763700000000"},
      {kSeconds, R"("1763700000")", "1763700000000"},
      {kSeconds, "1763700000.123", "1763700000123"},
      {kSeconds, "1.7637e9", "1763700000000"},
      {kSeconds, "4294967295", "4294967295000"},
      {kSeconds, "4294967296", "!4294967296; expected seconds since 1970 in 0..4294967295"},
      {kSeconds, "1763700000123", "!1763700000123; expected seconds since 1970 in 0..4294967295"},
      {kSeconds, "4294967295.9996", "!4294967295.999600; expected seconds since 1970 in 0..4294967295"},
      {kSeconds, "99999999999999999999",
       "!an integer beyond 2^63; expected seconds since 1970 in 0..4294967295"},
      {kSeconds, R"("soon")", "!a string; expected seconds since 1970 in 0..4294967295"},
      {kMicroseconds, "1763700000123999", "1763700000123"},
      {kMicroseconds, "-1", "!-1; expected microseconds since 1970 in 0..4294967295999999"},
      {kRfc3339, R"("2025-11-21T04:40:00.123Z")", "1763700000123"},
      {kRfc3339, R"("2025-11-21T12:40:00+08:00")", "1763700000000"},
      {kRfc3339, R"("2025-11-21\u005404:40:00Z")", "1763700000000"},
      {kRfc3339, "1763700000",
       "!an integer; expected a time with its zone as ISO 8601 writes it, from 1970 to 2106"},
      {kRfc3339, R"("2025-02-29T00:00:00Z")",
       "!\"2025-02-29T00:00:00Z\"; expected a time with its zone as ISO 8601 writes it, from 1970 to 2106"},
  };
  for (const TimeCase& c : cases) {
    EventFormat format;
    SetField(format, Field::kExposedAt, "/ts", c.unit);
    const std::string said =
        Said(format, R"({"user_id":"u","item_id":"n","ts":)" + std::string(c.value) + "}");
    if (*c.said != '!') {
      EXPECT_EQ(said, Accepted("u", c.said, "n")) << c.value;
    } else {
      EXPECT_NE(said.find("exposed_at (/ts): " + std::string(c.said + 1)), std::string::npos) << said;
      EXPECT_TRUE(
          said.ends_with("; input.fields.exposed_at says unit \"" + std::string(TimeUnitName(c.unit)) + "\""))
          << said;
    }
  }
}

TEST(EventFormat, TakesTheFirstUserThatIsThere) {
  EventFormat format;
  SetField(format, Field::kUserId, "/userId");
  format.fields[0]->others = {Pointer("/anonymousId"), Pointer("/context/device")};
  format.ids_ignored = {"undefined", "0", "[object Object]"};
  for (const bool nested : {true, false}) {
    if (!nested) format.fields[0]->others.pop_back();  // the short way reads it
    const auto said = [&](const std::string& members) {
      return Said(format, "{" + members + R"("item_id":"n","exposed_at":1})");
    };
    EXPECT_EQ(said(R"("userId":"u","anonymousId":"a",)"), Accepted("u", "1", "n"));
    EXPECT_EQ(said(R"("anonymousId":"a","userId":"u",)"), Accepted("u", "1", "n"));
    EXPECT_EQ(said(R"("anonymousId":"a",)"), Accepted("a", "1", "n"));
    EXPECT_EQ(said(R"("userId":null,"anonymousId":7,)"), Accepted("7", "1", "n"));
    EXPECT_EQ(said(R"("userId":"","anonymousId":"a",)"), Accepted("a", "1", "n"));
    EXPECT_EQ(said(R"("userId":"undefined","anonymousId":"a",)"), Accepted("a", "1", "n"));
    EXPECT_EQ(said(R"("userId":0,"anonymousId":null,)"), "skipped: ignored_id");
    EXPECT_EQ(said(R"("userId":"u\u0030","anonymousId":"[object Object]",)"), Accepted("u0", "1", "n"));
    EXPECT_EQ(said(R"("userId":"\u0030","anonymousId":"[object Object]",)"), "skipped: ignored_id");
    const std::string path =
        nested ? "user_id (/userId, /anonymousId, /context/device): " : "user_id (/userId, /anonymousId): ";
    EXPECT_EQ(said(""), "missing_field " + path + "missing");
    EXPECT_EQ(said(R"("userId":null,)"),
              "wrong_type " + path + "null; expected a string or a 64-bit integer");
    EXPECT_EQ(said(R"("userId":["u"],"anonymousId":"a",)"),
              "wrong_type " + path + "an array; expected a string or a 64-bit integer");
  }
  EventFormat plain;
  plain.ids_ignored = {"undefined", ""};
  Expect(plain, {{R"({"user_id":"undefined","item_id":"n","exposed_at":1})", "skipped: ignored_id"},
                 {R"({"user_id":"","item_id":"n","exposed_at":1})", "skipped: ignored_id"},
                 {R"({"user_id":"undefined1","item_id":"undefined","exposed_at":1})",
                  Accepted("undefined1", "1", "undefined")},
                 {R"({"user_id":null,"item_id":"n","exposed_at":1})",
                  "wrong_type user_id: null; expected a string or a 64-bit integer"}});
}

TEST(EventFormat, SkipsElementsWithoutAnIdWhereTold) {
  EventFormat format;
  format.items_skip_invalid = true;
  const auto counted = [&](const std::string& items) {
    const std::string event = R"({"user_id":"u","exposed_at":1,"items":)" + items + "}";
    const auto decoded = EventDecoder(10'000, *EventPlan::Make(format)).Decode(event);
    if (!decoded) return decoded.error().message;
    return std::to_string(decoded->items.size()) + " items, without id " +
           std::to_string(decoded->skipped_items.without_id) + ", by condition " +
           std::to_string(decoded->skipped_items.by_condition) + ", skip " +
           std::string(SkipReasonName(decoded->skip));
  };
  EXPECT_EQ(counted(R"(["a",null,"",{"ad":1},{"item_id":null},{"item_id":""},{"item_id":"b"},[],1.5,7])"),
            "3 items, without id 7, by condition 0, skip none");
  EXPECT_EQ(counted(R"(["a","b"])"), "2 items, without id 0, by condition 0, skip none");
  EXPECT_EQ(counted(R"([null,{"ad":1}])"), "0 items, without id 2, by condition 0, skip no_id");
  EXPECT_EQ(counted("[]"), "items: empty; expected at least one item");
  EXPECT_EQ(counted(R"([{"item_id":"b","position":"x"}])"),
            "items[0].position: a string; expected a 64-bit integer or null");
  format.items_only_if = {AnyOf("/type", {"news", "video"})};
  format.items_only_if.push_back({Pointer("/stats/hidden"), Condition::Test::kExists, {}, true});
  EXPECT_EQ(counted(R"([{"item_id":"a","type":"news"},{"item_id":"b","type":"ad"},"c",)"
                    R"({"type":"video"},{"item_id":"d","type":"video","stats":{"hidden":1}}])"),
            "1 items, without id 1, by condition 3, skip none");
  EXPECT_EQ(counted(R"([{"item_id":"b","type":"ad"}])"),
            "0 items, without id 0, by condition 1, skip no_item");
}

TEST(EventFormat, GivesItemsTheirOwnTimes) {
  EventFormat format;
  SetField(format, Field::kItemsExposedAt, "/seen/at", TimeUnit::kSeconds);
  const auto said = [&](const std::string& members) {
    const std::string event = R"({"user_id":"u","items":[)" + members + "}";
    EventDecoder decoder(10'000, *EventPlan::Make(format));
    const auto decoded = decoder.Decode(event);
    if (!decoded) return decoded.error().message;
    std::string text = std::to_string(decoded->exposed_at.value);
    for (size_t i = 0; i < decoded->items.size(); ++i) {
      text += " " + std::string(decoded->items[i].item_id);
      if (decoded->details[i].exposed_at) text += "@" + std::to_string(decoded->details[i].exposed_at->value);
    }
    return text;
  };
  EXPECT_EQ(said(R"({"item_id":"a","seen":{"at":2}},{"item_id":"b"},"c"],"exposed_at":9000)"),
            "9000 a@2000 b c");
  EXPECT_EQ(said(R"({"item_id":"a","seen":{"at":2}},{"item_id":"b","seen":{"at":3.5}}])"),
            "3500 a@2000 b@3500");
  EXPECT_EQ(said(R"({"item_id":"a","seen":{"at":2}},{"item_id":"b"}])"), "exposed_at: missing");
  EXPECT_EQ(said(R"({"item_id":"a","seen":{"at":"x"}}],"exposed_at":9000)"),
            "items[0].items_exposed_at: a string; expected seconds since 1970 in 0..4294967295; "
            "input.fields.items_exposed_at says unit \"s\"");
  SetField(format, Field::kItemId, "/id");
  EXPECT_EQ(Said(format, "{}"),
            "input.fields.items_exposed_at: is for events with items, and input.fields has item_id without "
            "items; map items too");
}

TEST(EventFormat, StepsIntoStringsThatHoldJson) {
  EventFormat format;
  SetField(format, Field::kUserId, "/message/uid");
  SetField(format, Field::kItems, "/message/items");
  SetField(format, Field::kItemId, "/doc/id");
  SetField(format, Field::kExposedAt, "/after/ts/$numberLong");
  const std::string after = R"("after":"{\"ts\":{\"$numberLong\":\"5\"}}")";
  Expect(format,
         {{(R"({"message":"{\"uid\":7,\"items\":[\"a\"]}",)" + after + "}"), Accepted("7", "5", "a")},
          {(R"({"message":"{\"uid\":7,\"items\":\"[{\\\"doc\\\":{\\\"id\\\":8}}]\"}",)" + after + "}"),
           Accepted("7", "5", "8")},
          {(R"({"message":{"uid":7,"items":[{"doc":"{\"id\":\"x\"}"},{"doc":"{\"id\":\"y\"}"}]},)" + after +
            "}"),
           Accepted("7", "5", "x y")},
          {(R"({"message":"no JSON",)" + after + "}"), "missing_field user_id (/message/uid): missing"}});
}

TEST(EventFormat, StepsIntoElementsThatAreTextOfAnObject) {
  EventFormat format;
  format.wanted.position = true;
  SetField(format, Field::kItems, "/list");
  SetField(format, Field::kItemId, "/doc/id");
  const auto said = [&](const std::string& list) {
    return Said(format, R"({"user_id":"u","exposed_at":1,"list":)" + list + "}");
  };
  const auto accepted = [](const std::string& items) { return Accepted("u", "1", items); };
  EXPECT_EQ(said(R"(["{\"doc\":{\"id\":\"a\"}}","{\"doc\":\"{\\\"id\\\":7}\"}"])"), accepted("a 7"));
  EXPECT_EQ(said(R"("[\"{\\\"doc\\\":{\\\"id\\\":\\\"a\\\"}}\"]")"), accepted("a"));
  EXPECT_EQ(said(R"(["{\"doc\":{\"id\":\"a\"},\"position\":3}","b"])"), accepted("a#3 b"));
  EXPECT_EQ(said(R"(["{a","{}","{\"doc\":","[\"b\"]","{\u0022"])"), accepted("{a {} {\"doc\": [\"b\"] {\""))
      << "no JSON, or no object with members";
  EXPECT_EQ(said(R"(["{\"doc\":{}}"])"), "missing_field item_id (/list/0/doc/id): missing");
  format.items_only_if = {AnyOf("/type", {"news"})};
  EXPECT_EQ(said(R"(["{\"doc\":{\"id\":\"a\"},\"type\":\"news\"}","{\"doc\":{\"id\":\"b\"}}"])"),
            accepted("a"));

  // By default a string is an id.
  const std::string event = R"({"user_id":"u","exposed_at":1,"items":["{\"item_id\":\"a\"}"]})";
  EXPECT_EQ(Said({}, event), accepted("{\"item_id\":\"a\"}"));
  EventFormat conditional;
  conditional.items_only_if = {AnyOf("/item_id", {"a"})};
  EXPECT_EQ(Said(conditional, event), accepted("a"));
}

TEST(EventFormat, ReadsAnEventInStringsToADepthOfFour) {
  std::string event = R"({"user_id":"u","item_id":"n","exposed_at":1})";
  for (size_t depth = 1; depth <= kStringsMax + 1; ++depth) {
    std::string quoted = "\"";
    for (const char c : event) quoted += c == '"' || c == '\\' ? std::string{'\\', c} : std::string{c};
    event = quoted + "\"";
    EXPECT_EQ(Said({}, event), depth <= kStringsMax ? Accepted("u", "1", "n")
                                                    : "not_json not an event: a string; expected an object")
        << depth;
  }
  const std::string several =
      "not_json not an event: a string that holds several events; expected one in a string; or send the "
      "array, "
      "or the lines, without the string";
  EXPECT_EQ(Said({}, R"("{\"user_id\":")"), "not_json not an event: a string; expected an object");
  EXPECT_EQ(Said({}, R"("{\"user_id\":\"u\",\"item_id\":\"n\",\"exposed_at\":1}{}")"), several)
      << "not the first of two objects alone";
  EXPECT_EQ(Said({}, R"("[{\"user_id\":\"u\"},{\"user_id\":\"v\"}]")"), several);
  EXPECT_EQ(Said({}, R"("{\"user_id\":\"u\"}\n{\"user_id\":\"v\"}\n")"), several);
  EXPECT_EQ(Said({}, R"("[1,2]")"), "not_json not an event: an array; expected an object");
}

TEST(EventFormat, NamesWhatOtherBytesLookLike) {
  const std::pair<std::string, const char*> cases[] = {
      {std::string("\x1f\x8b\x08\0\0\0", 6), "it looks like gzip"},
      {std::string("\x28\xb5\x2f\xfd\0\0", 6), "it looks like zstd"},
      {std::string("{\0\"\0", 4), "it looks like UTF-16"},
      {std::string("\0\0\0\0\x07{}", 7),
       "it begins with a schema registry's prefix (magic byte 0, schema id 7)"},
      {std::string(20, '\0'), "it begins with zero bytes"},
  };
  for (const auto& [bytes, words] : cases) {
    const std::string said = Said({}, bytes);
    EXPECT_EQ(said.rfind(std::string("not_json not JSON: ") + words, 0), 0u) << said;
  }
}

TEST(EventFormat, ToleratesBrokenStringsThatNobodyReadsWhereTold) {
  EventFormat format;
  const auto with = [](const std::string& member) {
    return R"({"user_id":"u","item_id":"n","exposed_at":1,)" + member + "}";
  };
  const std::string broken[] = {R"("t":"\x41")",      R"("t":"a\ud83cb")",      R"("t":"\udfac")",
                                R"("t":"\u00")",      "\"t\":\"a\tb\"",         "\"t\":\"\xff\"",
                                "\"t\":\"\n\"",       R"("t":["\q",{"\q":1}])", R"("\q":1)",
                                R"("t":"C:\dir\new")"};
  for (const std::string& member : broken) {
    format.lenient = false;
    EXPECT_TRUE(Said(format, with(member)).starts_with("not_json") ||
                Said(format, with(member)).starts_with("invalid_utf8"))
        << member;
    format.lenient = true;
    EXPECT_EQ(Said(format, with(member)), Accepted("u", "1", "n")) << member;
  }
  // What is read must be whole, and the rest must be JSON.
  Expect(format,
         {{R"({"user_id":"\x","item_id":"n","exposed_at":1})",
           "wrong_type user_id: a string that is broken inside; expected a string or a 64-bit integer"},
          {R"({"user_id":"u","items":["n","\x"],"exposed_at":1})",
           "wrong_type items[1]: a string that is broken inside; expected a string or a 64-bit integer"},
          {R"({"user_id":"u","item_id":"n","exposed_at":1,"scene":"\ud83c"})",
           "wrong_type scene: a string that is broken inside; expected a string or null"}});
  EXPECT_TRUE(Said(format, with(R"("t":"\x41",)")).starts_with("not_json"));
  EXPECT_TRUE(Said(format, R"({"user_id":"u","item_id":"n","exposed_at":1,"t":"\x)").starts_with("not_json"));
  format.only_if = {{Pointer("/event"), Condition::Test::kIn, {{ScalarKind::kString, "x"}}, true}};
  EXPECT_EQ(Said(format, with(R"("event":"\x41")")),
            "not_json not JSON: a string that is broken inside, which a condition looks at");
}

TEST(EventFormat, SaysWhatBytesThatAreNoJsonLookLike) {
  using namespace std::string_view_literals;
  const std::pair<std::string_view, const char*> cases[] = {
      {"\x1f\x8b\x08\0\0"sv, "gzip"},          {"\x28\xb5\x2f\xfd$"sv, "zstd"},
      {"\xff\xfe{\0\"\0"sv, "UTF-16"},         {"{\0\"\0a\0"sv, "UTF-16"},
      {"\0\0\0\x01\x02{}"sv, "schema id 258"}, {"Obj\x01\x04"sv, "Avro"},
  };
  for (const auto& [bytes, what] : cases) {
    const std::string said = Said({}, bytes);
    EXPECT_TRUE(said.starts_with("not_json not JSON: it ")) << said;
    EXPECT_NE(said.find(what), std::string::npos) << said;
  }
}

TEST(EventFormat, RefusesAStarInACondition) {
  const std::string what =
      ": \"/impressions/*/visible\": a condition looks at one value, so its pointer can't have a \"*\" step; "
      "for "
      "a condition on each element of items use input.items_only_if";
  EventFormat only_if;
  only_if.only_if = {AnyOf("/impressions/*/visible", {"x"})};
  EXPECT_EQ(Said(only_if, "{}"), "input.only_if" + what);
  EventFormat when;
  when.filters = {{}, {{}, {AnyOf("/impressions/*/visible", {"x"})}}};
  EXPECT_EQ(Said(when, "{}"), "filters[1].when" + what);
  EventFormat items;
  items.items_only_if = {AnyOf("/impressions/*/visible", {"x"})};
  EXPECT_EQ(Said(items, "{}"), "input.items_only_if" + what);
  EventFormat user;
  SetField(user, Field::kUserId, "/a");
  user.fields[0]->others = {Pointer("/b/*")};
  EXPECT_EQ(Said(user, "{}"), "input.fields.user_id: \"/b/*\": a \"*\" step is for items alone");
}

TEST(EventFormat, FindsItemsInNestedArrays) {
  EventFormat format;
  SetField(format, Field::kItems, "/data/pages/*/rows/*");
  SetField(format, Field::kItemId, "/item/id");
  SetField(format, Field::kPosition, "/pos");
  format.wanted.position = true;
  const auto event = [](const std::string& pages) {
    return R"({"user_id":"u","exposed_at":1,"position":"x","data":{"pages":)" + pages + "}}";
  };
  const std::pair<const char*, std::string> cases[] = {
      {R"([{"rows":[[{"item":{"id":1},"pos":4},"n2"],[]]},{},{"rows":null},{"rows":[null,["n3"]]}])",
       Accepted("u", "1", "1#4 n2 n3")},
      {"[]", "missing_field items (/data/pages/*/rows/*): empty; expected at least one item"},
      {"{}", "wrong_type items (/data/pages/*/rows/*): an object; expected an array"},
      {"null", "missing_field items (/data/pages/*/rows/*): empty; expected at least one item"},
      {"[7]", "wrong_type items (/data/pages/*/rows/*): an integer; expected an object with \"rows\""},
      {R"([{"rows":[7]}])", "wrong_type items (/data/pages/*/rows/*): an integer; expected an array"},
      {R"([{},{"rows":[[],["n",{"id":3}]]}])",
       "missing_field item_id (/data/pages/1/rows/1/1/item/id): missing"},
      {R"([{"rows":[[{"item":{"id":1},"pos":true}]]}])",
       "wrong_type position (/data/pages/0/rows/0/0/pos): a boolean; expected a 64-bit integer or null"},
      {R"([{"rows":[["n",null]]}])",
       "wrong_type items (/data/pages/0/rows/0/1): null; expected a string or a 64-bit integer"},
  };
  for (const auto& [pages, said] : cases) EXPECT_EQ(Said(format, event(pages)), said) << pages;
  EXPECT_EQ(Said(format, R"({"user_id":"u","exposed_at":1,"item_id":"n"})"),
            "missing_field items (/data/pages/*/rows/*): missing");

  std::string full = "[";
  for (int page = 0; page < 101; ++page) {
    full += std::string(page > 0 ? "," : "") + R"({"rows":[[0)";
    for (int item = 1; item < 100; ++item) full += "," + std::to_string(item);
    full += "]]}";
  }
  EXPECT_EQ(Said(format, event(full + "]")),
            "too_large items (/data/pages/*/rows/*): 10100 items; expected at most 10000");
}

TEST(EventFormat, GivesEachItemItsDetailsOrTheEvents) {
  EventFormat format;
  format.wanted.position = format.wanted.item_created_at = true;
  for (const char* const prefix : {"", "\xef\xbb\xbf"}) {
    const auto said = [&](const std::string& payload) { return Said(format, prefix + payload); };
    EXPECT_EQ(said(R"({"user_id":"u","exposed_at":1,"item_id":"n","position":3,"item_created_at":5})"),
              Accepted("u", "1", "n#3@5"));
    EXPECT_EQ(said(R"({"user_id":"u","exposed_at":1,"item_id":"n","position":null,"item_created_at":null})"),
              Accepted("u", "1", "n"));
    EXPECT_EQ(said(R"({"user_id":"u","exposed_at":1,"items":["a",{"item_id":"b","position":4},)"
                   R"({"item_id":"c","item_created_at":6}],"item_created_at":5})"),
              Accepted("u", "1", "a@5 b#4@5 c@6"));
    EXPECT_EQ(said(R"({"user_id":"u","exposed_at":1,"item_id":"n","position":18446744073709551615})"),
              Accepted("u", "1", "n#9223372036854775807"));
    EXPECT_EQ(said(R"({"user_id":"u","exposed_at":1,"item_id":"n","item_created_at":-1})"),
              "out_of_range item_created_at: -1; expected milliseconds since 1970 in 0..4294967295999");
    EXPECT_EQ(said(R"({"user_id":"u","exposed_at":1,"items":[{"item_id":"b","item_created_at":"x"}]})"),
              "wrong_type items[0].item_created_at: a string; expected an integer");
  }
}

TEST(EventFormat, TakesKindsAsTheyAreOrMapped) {
  EventFormat format;
  format.wanted.kind = true;
  format.declared_kinds = {{"purchased", EventKind{17}}};
  const auto said = [&](const std::string& kind) {
    const std::string event = R"({"user_id":"u","item_id":"n","exposed_at":1)" + kind + "}";
    const std::string line = Said(format, event);
    EXPECT_EQ(line, Said(format, "\xef\xbb\xbf" + event));
    const size_t at = line.find(" kind ");
    return line.find("@1 kind") == 1 ? line.substr(at + 1, line.find(" skip") - at - 1) : line;
  };
  EXPECT_EQ(said(""), "kind 0");
  EXPECT_EQ(said(R"(,"kind":null)"), "kind 0");
  EXPECT_EQ(said(R"(,"kind":"exposed")"), "kind 0");
  EXPECT_EQ(said(R"(,"kind":"served")"), "kind 1");
  EXPECT_EQ(said(R"(,"kind":"removed")"), "kind 2");
  EXPECT_EQ(said(R"(,"kind":"purchased")"), "kind 17");
  EXPECT_EQ(
      said(R"(,"kind":"erased")"),
      "wrong_type item_id: given with kind erased, which erases all of the user; expected kind removed, "
      "or no item");
  EXPECT_EQ(
      said(R"(,"kind":"Exposed")"),
      "unknown_kind kind: \"Exposed\"; expected one of exposed, served, removed, erased, purchased; map "
      "it in input.kinds, to null if it is to be skipped");
  EXPECT_EQ(said(R"(,"kind":true)"),
            "wrong_type kind: a boolean; expected a string, a 64-bit integer or null");

  SetField(format, Field::kKind, "/event");
  format.kinds = {{"item_show", "exposed"}, {"2", "purchased"}, {"ping", std::nullopt}};
  EXPECT_EQ(said(R"(,"kind":"nobody looks here")"), "kind 0");
  EXPECT_EQ(said(R"(,"event":"item_show")"), "kind 0");
  EXPECT_EQ(said(R"(,"event":2)"), "kind 17");
  EXPECT_EQ(said(R"(,"event":"ping")"), "skipped: kind");
  EXPECT_EQ(said(R"(,"event":"exposed")"),
            "unknown_kind kind (/event): \"exposed\"; expected one of item_show, 2, ping; map it in "
            "input.kinds, to null if it is to be skipped");
}

TEST(EventFormat, ErasesUsersWithoutItems) {
  EventFormat format;
  format.wanted.kind = true;
  format.filters = {{{"home"}, {}}};
  Expect(format, {{R"({"user_id":"u","exposed_at":1,"kind":"erased"})",
                   "u@1 kind 3 skip 0 scene  request  filters 0"},
                  {R"({"user_id":"u","exposed_at":1,"kind":"erased","item_id":null,"items":null})",
                   "u@1 kind 3 skip 0 scene  request  filters 0"},
                  {R"({"user_id":"u","exposed_at":1,"kind":"removed"})", "missing_field item_id: missing"},
                  {R"({"user_id":"u","kind":"erased"})", "missing_field exposed_at: missing"}});
}

TEST(EventFormat, SkipsWhatItsConditionsDoNotHoldFor) {
  EventFormat format;
  format.only_if = {AnyOf("/event", {"item_show", "show"}), BeginsWith("/app/name", "com.")};
  Expect(format, {{R"({"event":"show","app":{"name":"com.x"},"user_id":"u","item_id":"n","exposed_at":1})",
                   Accepted("u", "1", "n")},
                  {R"({"event":"show","app":{"name":"org.x"},"user_id":"u","item_id":"n","exposed_at":1})",
                   "skipped: condition"},
                  {R"({"event":"click","app":{"name":"com.x"}})", "skipped: condition"},
                  {R"({"event":["show"],"app":{"name":"com.x"}})", "skipped: condition"},
                  {R"({})", "skipped: condition"},
                  {R"({"event":"show","app":{"name":"com.x"}})", "missing_field user_id: missing"}});
  // Bytes that aren't JSON may have been any event, so no condition skips them.
  EXPECT_EQ(Said(format, R"({"event":"click")").substr(0, 17), "not_json not JSON");
}

TEST(EventFormat, SaysWhichFiltersCoverAnEvent) {
  EventFormat format;
  format.filters = {{},
                    {{"home_feed", "video*"}, {}},
                    {{}, {AnyOf("/item/type", {"video"})}},
                    {{"*"}, {AnyOf("/item/type", {"video"}), AnyOf("/os", {"ios"})}}};
  struct CoverageCase {
    const char* members;
    FilterBits not_covering;
  };
  for (const CoverageCase& c : std::initializer_list<CoverageCase>{
           {"", 0b1110},
           {R"(,"scene":"home_feed")", 0b1100},
           {R"(,"scene":"home_feeds")", 0b1110},
           {R"(,"scene":"video")", 0b1100},
           {R"(,"scene":"video_tab")", 0b1100},
           {R"(,"scene":null)", 0b1110},
           {R"(,"item":{"type":"video"})", 0b1010},
           {R"(,"item":{"type":"videos"})", 0b1110},
           {R"(,"item":{"type":"video"},"os":"ios","scene":"video_tab")", 0},
           {R"(,"os":"ios","item":{"type":"text"})", 0b1110},
       }) {
    const std::string event = R"({"user_id":"u","item_id":"n","exposed_at":1)" + std::string(c.members) + "}";
    const auto decoded = EventDecoder(1000, *EventPlan::Make(format)).Decode(event);
    ASSERT_TRUE(decoded) << event;
    EXPECT_EQ(~decoded->filters, c.not_covering) << event;
  }
}

TEST(EventFormat, ReadsItsOwnEventsWhateverTheTopicsOnesLookLike) {
  EventFormat format;
  SetField(format, Field::kUserId, "/uid");
  SetField(format, Field::kExposedAt, "/ts", TimeUnit::kRfc3339);
  format.only_if = {AnyOf("/event", {"show"})};
  format.kinds = std::vector{KindMapping{"show", "exposed"}};
  format.filters = {{{"home"}, {}}};
  EXPECT_EQ(Said(format, EncodeOwnEvent({"u\"\\\x01曝", {}, "erased", {12}})),
            "u\"\\\x01曝@12 kind 3 skip 0 scene  request  filters 0");
  const std::string_view items[] = {"n/1", "n"};
  EXPECT_EQ(Said(format, EncodeOwnEvent({"u", std::span(items).first(1), "removed", {12}})),
            "u@12 kind 2 skip 0 scene  request  filters 0 n/1");
  EXPECT_EQ(Said({}, EncodeOwnEvent({"u", std::span(items).last(1), "exposed", {12}})),
            Accepted("u", "12", "n"));
  EXPECT_EQ(Said(format, R"({"user_id":"u","item_id":"n","kind":"removed","exposed_at":1})"),
            "skipped: condition");
}

TEST(EventPlan, RefusesWhatItCannotDo) {
  struct PlanCase {
    Field field;
    const char* pointer;
    const char* said;
  };
  for (const PlanCase& c : std::initializer_list<PlanCase>{
           {Field::kUserId, "/users/*/id",
            "input.fields.user_id: \"/users/*/id\": a \"*\" step is for items alone; point at one value, if "
            "needed with an array index"},
           {Field::kItemId, "/items/*/id",
            "input.fields.item_id: \"/items/*/id\": a \"*\" step is for items alone; point at a place within "
            "an element of items"},
           {Field::kItems, "/a/*/b/*/c/*/*",
            "input.fields.items: \"/a/*/b/*/c/*/*\": at most 3 \"*\" steps"}}) {
    EventFormat format;
    SetField(format, c.field, c.pointer);
    EXPECT_EQ(Said(format, "{}"), c.said);
  }
  EventFormat format;
  for (int i = 0; i < 17; ++i) format.filters.push_back({{}, {AnyOf("/a/" + std::to_string(i), {"x"})}});
  EXPECT_EQ(Said(format, "{}"),
            "filters[16].when: \"/a/16\": conditions look at more than 16 places of an event; use fewer");
  format.filters.pop_back();
  // A place that is looked at already doesn't count again.
  format.filters.push_back({{}, {AnyOf("/a/0", {"x"}), AnyOf("/scene", {"home"})}});
  EXPECT_EQ(Said(format, "{}"), "missing_field user_id: missing");
}

TEST(EventPlan, GoesTheShortWayWhereNamesAreAllThatDiffers) {
  EventFormat format;
  SetField(format, Field::kUserId, "/uid");
  SetField(format, Field::kExposedAt, "/ts", TimeUnit::kSeconds);
  format.only_if = {AnyOf("/event", {"show"})};
  format.kinds = std::vector{KindMapping{"show", "exposed"}};
  SetField(format, Field::kKind, "/event");
  EXPECT_TRUE((*EventPlan::Make(format))->plain);
  format.filters = {{{}, {AnyOf("/item/type", {"video"})}}};
  EXPECT_FALSE((*EventPlan::Make(format))->plain);
  EXPECT_TRUE(EventPlan::Default()->plain);
}

}  // namespace
}  // namespace seen
