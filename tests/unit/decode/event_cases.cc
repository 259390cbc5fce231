#include "unit/decode/event_cases.h"

namespace seen {
namespace {

using namespace std::string_literals;
using enum RejectReason;

EventCase Good(std::string_view name, std::string payload, std::vector<std::string> item_ids = {"n1"},
               std::string user_id = "u1", int64_t exposed_at = 1763700000123) {
  return {name, std::move(payload), std::nullopt, {},
          {},   std::move(user_id), exposed_at,   std::move(item_ids)};
}

EventCase Bad(std::string_view name, std::string payload, RejectReason reason, std::string_view field,
              std::string_view message) {
  return {name, std::move(payload), reason, field, message, {}, 0, {}};
}

/// An event of one item, with these JSON values for user, item and time.
std::string Single(std::string_view user, std::string_view item, std::string_view time,
                   std::string_view rest = "") {
  return R"({"user_id":)" + std::string(user) + R"(,"item_id":)" + std::string(item) + R"(,"exposed_at":)" +
         std::string(time) + std::string(rest) + "}";
}
std::string WithUser(std::string_view user) { return Single(user, R"("n1")", "1763700000123"); }
std::string WithItem(std::string_view item) { return Single(R"("u1")", item, "1763700000123"); }
std::string WithTime(std::string_view time) { return Single(R"("u1")", R"("n1")", time); }
std::string With(std::string_view rest) { return Single(R"("u1")", R"("n1")", "1763700000123", rest); }
std::string Batch(std::string_view items) {
  return R"({"user_id":"u1","exposed_at":1763700000123,"scene":"home_feed","items":)" + std::string(items) +
         "}";
}

std::string Quoted(const std::string& text) { return '"' + text + '"'; }

std::string Repeated(std::string_view part, size_t times) {
  std::string text;
  for (size_t i = 0; i < times; ++i) text += part;
  return text;
}

std::string BatchOf(size_t count) {
  std::string items = "[0";
  for (size_t i = 1; i < count; ++i) items += "," + std::to_string(i);
  return Batch(items + "]");
}

std::vector<std::string> NumbersTo(size_t count) {
  std::vector<std::string> ids;
  for (size_t i = 0; i < count; ++i) ids.push_back(std::to_string(i));
  return ids;
}

std::string OfSize(size_t bytes) {
  const std::string event = With("");
  return event + std::string(bytes - event.size(), ' ');
}

std::vector<EventCase> GoodCases() {
  return {
      Good("single", Single(R"("u1")", R"("n1")", "1763700000123",
                            R"(,"scene":"home_feed","position":3,"request_id":"r1")")),
      Good("only what must be there", With("")),
      Good("space anywhere",
           " \t\r\n{ \"user_id\" : \"u1\" ,\n\"item_id\":\"n1\", \"exposed_at\":1763700000123 }\n"),
      Good("members in another order", R"({"exposed_at":1763700000123,"item_id":"n1","user_id":"u1"})"),
      Good("a byte-order mark", "\xef\xbb\xbf" + With("")),
      Good("an integer item", WithItem("42"), {"42"}),
      Good("an integer user", WithUser("9007199254740993"), {"n1"}, "9007199254740993"),
      Good("the greatest unsigned integer", WithItem("18446744073709551615"), {"18446744073709551615"}),
      Good("the least integer", WithItem("-9223372036854775808"), {"-9223372036854775808"}),
      Good("zero is an id", WithItem("0"), {"0"}),
      Good("minus zero is zero", WithItem("-0"), {"0"}),
      Good("a decimal string is the same id", WithItem(R"("42")"), {"42"}),
      Good("leading zeros of a string count", WithItem(R"("007")"), {"007"}),
      Good("an id of one byte", WithItem(R"("x")"), {"x"}),
      Good("an id of 512 bytes", WithItem(Quoted(std::string(512, 'x'))), {std::string(512, 'x')}),
      Good("an id of 512 bytes in 171 characters", WithItem(Quoted(Repeated("曝", 170) + "é")),
           {Repeated("曝", 170) + "é"}),
      Good("512 bytes that are written in 3072", WithItem(Quoted(Repeated("\\u0041", 512))),
           {std::string(512, 'A')}),
      Good("Unicode ids", Single(R"("用户1")", R"("曝光🎬é")", "1763700000123"), {"曝光🎬é"}, "用户1"),
      Good("ids are not normalised", WithItem(R"("e\u0301")"), {"e\u0301"}),
      Good("escapes", WithItem(R"("a\"b\\c\/d\b\f\n\r\t")"), {"a\"b\\c/d\b\f\n\r\t"}),
      Good("an escaped pair of surrogates", WithItem(R"("\ud83c\udfac")"), {"🎬"}),
      Good("U+0000 is a character like any other", WithItem(R"("a\u0000b")"), {"a\0b"s}),
      Good("a space is an id", WithItem(R"(" ")"), {" "}),
      Good("escapes in a name", R"({"user\u005fid":"u1","\u0069tem_id":"n1","exposed_at":1763700000123})"),
      Good("the start of 1970", WithTime("0"), {"n1"}, "u1", 0),
      Good("the last millisecond in 2106", WithTime("4294967295999"), {"n1"}, "u1", 4294967295999),
      Good("nulls where nothing is known", With(R"(,"scene":null,"position":null,"request_id":null)")),
      Good("an empty scene", With(R"(,"scene":"","request_id":"")")),
      Good("a negative position", With(R"(,"position":-1)")),
      Good("members nobody knows",
           With(R"(,"ab":["x",{"user_id":5}],"user":{"item_id":null},"":1.5e3,"b":true)")),
      Good("a trace id beyond 64 bits",
           With(R"(,"trace":340282366920938463463374607431768211455,"t":[-9223372036854775809])")),
      Good("numbers too great for a double",
           With(R"(,"score":1e400,"t":[-1E+309,123456789e301,1.5e999],"s":"1e400")")),
      Good("digits in a string are no number",
           With(R"(,"trace":"\"340282366920938463463374607431768211455")")),
      Good("of a name given twice the last counts",
           R"({"user_id":"u0","user_id":"u1","item_id":"n0","item_id":"n1",)"
           R"("exposed_at":"soon","exposed_at":1763700000123})"),
      Good("batch", Batch(R"(["n1",{"item_id":"n2","position":4}])"), {"n1", "n2"}),
      Good("a batch of one", Batch(R"(["n1"])")),
      Good("a batch of integers", Batch("[1,-2,18446744073709551615]"), {"1", "-2", "18446744073709551615"}),
      Good("a batch with an integer user", R"({"user_id":7,"exposed_at":1,"items":[1,{"item_id":2}]})",
           {"1", "2"}, "7", 1),
      Good("an item twice in a batch", Batch(R"(["n1","n1"])"), {"n1", "n1"}),
      Good("members nobody knows in a batch",
           Batch(R"([{"item_id":"n1","position":null,"items":[],"score":0.5}])")),
      Good("a batch of 10,000", BatchOf(10'000), NumbersTo(10'000)),
      Good("an event as large as may be", OfSize(kCaseEventBytesMax)),
      Good("nesting that nobody reads", With(",\"deep\":" + Repeated("[", 999) + Repeated("]", 999))),
  };
}

std::vector<EventCase> NoJsonCases() {
  return {
      Bad("nothing", "", kNotJson, "", "not JSON: empty"),
      Bad("only space", "  \n", kNotJson, "", "not JSON: *"),
      Bad("two byte-order marks", "\xef\xbb\xbf\xef\xbb\xbf" + With(""), kNotJson, "", "not JSON: *"),
      Bad("plain text", "exposed u1 n1", kNotJson, "", "not JSON: *"),
      Bad("an array", "[" + With("") + "]", kNotJson, "", "not an event: an array; expected an object"),
      Bad("a string", R"("u1")", kNotJson, "", "not an event: a string; expected an object"),
      Bad("null", "null", kNotJson, "", "not an event: null; expected an object"),
      Bad("a number", "17", kNotJson, "", "not an event: an integer; expected an object"),
      Bad("cut off", With("").substr(0, 40), kNotJson, "", "not JSON: *"),
      Bad("cut off in a string", R"({"user_id":"u1","item_id":"n)", kNotJson, "", "not JSON: *"),
      Bad("two events in one", With("") + With(""), kNotJson, "", "not JSON: *"),
      Bad("something after it", With("") + "x", kNotJson, "", "not JSON: *"),
      Bad("a zero byte after it", With("") + "\0"s, kNotJson, "", "not JSON: *"),
      Bad("a trailing comma", With(","), kNotJson, "", "not JSON: *"),
      Bad("a comment", With("/* home */"), kNotJson, "", "not JSON: *"),
      Bad("single quotes", "{'user_id':'u1','item_id':'n1','exposed_at':1}", kNotJson, "", "not JSON: *"),
      Bad("names without quotes", R"({user_id:"u1",item_id:"n1",exposed_at:1})", kNotJson, "", "not JSON: *"),
      Bad("a leading zero", WithItem("042"), kNotJson, "", "not JSON: *"),
      Bad("a plus sign", WithItem("+42"), kNotJson, "", "not JSON: *"),
      Bad("NaN", With(R"(,"score":NaN)"), kNotJson, "", "not JSON: *"),
      Bad("an unknown escape", WithItem(R"("\x41")"), kNotJson, "", "not JSON: *"),
      Bad("half an escape", WithItem(R"("\u00")"), kNotJson, "", "not JSON: *"),
      Bad("a first half of a surrogate pair", WithItem(R"("a\ud83cb")"), kNotJson, "", "not JSON: *"),
      Bad("a first half at the end", WithItem(R"("a\ud83c")"), kNotJson, "", "not JSON: *"),
      Bad("two first halves", WithItem(R"("\ud83c\ud83c")"), kNotJson, "", "not JSON: *"),
      Bad("a second half of a surrogate pair", WithItem(R"("\udfac")"), kNotJson, "", "not JSON: *"),
      Bad("half a pair where nobody reads", With(R"(,"title":"\udfac")"), kNotJson, "", "not JSON: *"),
      Bad("a newline in a string", WithItem("\"a\nb\""), kNotJson, "", "not JSON: *"),
      Bad("nested too deeply", With(",\"deep\":" + Repeated("[", 1100) + Repeated("]", 1100)), kNotJson, "",
          "not JSON: *"),
      Bad("Latin-1", WithItem("\"caf\xe9\""), kInvalidUtf8, "", "not UTF-8"),
      Bad("GBK", WithItem("\"\xc6\xd8\xb9\xe2\""), kInvalidUtf8, "", "not UTF-8"),
      Bad("an overlong form", WithItem("\"\xc0\x80\""), kInvalidUtf8, "", "not UTF-8"),
      Bad("a surrogate as bytes", WithItem("\"\xed\xa0\xbc\""), kInvalidUtf8, "", "not UTF-8"),
      Bad("bytes that are no UTF-8 where nobody reads", With(",\"title\":\"\xff\""), kInvalidUtf8, "",
          "not UTF-8"),
      Bad("a byte too large", OfSize(kCaseEventBytesMax + 1), kTooLarge, "",
          "1048577 bytes; input.event_bytes_max is 1048576"),
  };
}

std::vector<EventCase> WrongEventCases() {
  return {
      Bad("an empty object", "{}", kMissingField, "user_id", "user_id: missing"),
      Bad("no user", R"({"item_id":"n1","exposed_at":1})", kMissingField, "user_id", "user_id: missing"),
      Bad("names in another case", R"({"User_Id":"u1","item_id":"n1","exposed_at":1})", kMissingField,
          "user_id", "user_id: missing"),
      Bad("no item", R"({"user_id":"u1","exposed_at":1763700000123})", kMissingField, "item_id",
          "item_id: missing"),
      Bad("no time", R"({"user_id":"u1","item_id":"n1"})", kMissingField, "exposed_at",
          "exposed_at: missing"),
      Bad("item and items", With(R"(,"items":["n2"])"), kWrongType, "items",
          "items: given beside item_id; expected one of the two"),
      Bad("item beside null for items", With(R"(,"items":null)"), kWrongType, "items",
          "items: given beside item_id; expected one of the two"),
      Bad("null for the user", WithUser("null"), kWrongType, "user_id",
          "user_id: null; expected a string or a 64-bit integer"),
      Bad("an empty user", WithUser(R"("")"), kEmptyId, "user_id", "user_id: empty"),
      Bad("a user of 513 bytes", WithUser(Quoted(std::string(513, 'x'))), kIdTooLong, "user_id",
          "user_id: 513 bytes; expected at most 512"),
      Bad("null for the item", WithItem("null"), kWrongType, "item_id",
          "item_id: null; expected a string or a 64-bit integer"),
      Bad("a boolean for the item", WithItem("true"), kWrongType, "item_id",
          "item_id: a boolean; expected a string or a 64-bit integer"),
      Bad("an object for the item", WithItem(R"({"id":"n1"})"), kWrongType, "item_id",
          "item_id: an object; expected a string or a 64-bit integer"),
      Bad("a fraction for the item", WithItem("1.5"), kWrongType, "item_id",
          "item_id: a number with a fraction or exponent; expected a string or a 64-bit integer"),
      Bad("a whole number written with a fraction", WithItem("12.0"), kWrongType, "item_id",
          "item_id: a number with a fraction or exponent; expected a string or a 64-bit integer"),
      Bad("a number too great for a double for the item", WithItem("1e400"), kWrongType, "item_id",
          "item_id: a number with a fraction or exponent; expected a string or a 64-bit integer"),
      Bad("a whole number written with an exponent", WithItem("1e3"), kWrongType, "item_id",
          "item_id: a number with a fraction or exponent; expected a string or a 64-bit integer"),
      Bad("one above the greatest integer", WithItem("18446744073709551616"), kOutOfRange, "item_id",
          "item_id: an integer beyond 64 bits; expected a string or a 64-bit integer"),
      Bad("one below the least integer", WithItem("-9223372036854775809"), kOutOfRange, "item_id",
          "item_id: an integer beyond 64 bits; expected a string or a 64-bit integer"),
      Bad("an empty item", WithItem(R"("")"), kEmptyId, "item_id", "item_id: empty"),
      Bad("an item of 513 bytes in 257 characters", WithItem(Quoted(Repeated("é", 256) + "x")), kIdTooLong,
          "item_id", "item_id: 513 bytes; expected at most 512"),
      Bad("the last of a name given twice is wrong", With(R"(,"item_id":null)"), kWrongType, "item_id",
          "item_id: null; expected a string or a 64-bit integer"),
      Bad("a time as text", WithTime(R"("2025-11-21T04:40:00Z")"), kWrongType, "exposed_at",
          "exposed_at: a string; expected an integer"),
      Bad("a time in quotes", WithTime(R"("1763700000123")"), kWrongType, "exposed_at",
          "exposed_at: a string; expected an integer"),
      Bad("a time with a fraction", WithTime("1763700000123.5"), kWrongType, "exposed_at",
          "exposed_at: a number with a fraction or exponent; expected an integer"),
      Bad("a whole time with a fraction", WithTime("1763700000123.0"), kWrongType, "exposed_at",
          "exposed_at: a number with a fraction or exponent; expected an integer"),
      Bad("null for the time", WithTime("null"), kWrongType, "exposed_at",
          "exposed_at: null; expected an integer"),
      Bad("a time before 1970", WithTime("-1"), kOutOfRange, "exposed_at",
          "exposed_at: -1; expected milliseconds since 1970 in 0..4294967295999"),
      Bad("a time after 2106", WithTime("4294967296000"), kOutOfRange, "exposed_at",
          "exposed_at: 4294967296000; expected milliseconds since 1970 in 0..4294967295999"),
      Bad("a time in microseconds", WithTime("1763700000123000"), kOutOfRange, "exposed_at",
          "exposed_at: 1763700000123000; expected milliseconds since 1970 in 0..4294967295999"),
      Bad("a time beyond 63 bits", WithTime("18446744073709551615"), kOutOfRange, "exposed_at",
          "exposed_at: an integer beyond 2^63; expected milliseconds since 1970 in 0..4294967295999"),
      Bad("a time beyond 64 bits", WithTime("99999999999999999999999"), kOutOfRange, "exposed_at",
          "exposed_at: an integer beyond 2^63; expected milliseconds since 1970 in 0..4294967295999"),
      Bad("a scene that is a number", With(R"(,"scene":3)"), kWrongType, "scene",
          "scene: an integer; expected a string or null"),
      Bad("a position that is a string", With(R"(,"position":"3")"), kWrongType, "position",
          "position: a string; expected a 64-bit integer or null"),
      Bad("a position with a fraction", With(R"(,"position":3.5)"), kWrongType, "position",
          "position: a number with a fraction or exponent; expected a 64-bit integer or null"),
      Bad("a position beyond 64 bits", With(R"(,"position":99999999999999999999999)"), kOutOfRange,
          "position", "position: an integer beyond 64 bits; expected a 64-bit integer or null"),
      Bad("a request id that is an object", With(R"(,"request_id":{})"), kWrongType, "request_id",
          "request_id: an object; expected a string or null"),
      Bad("null for the items", Batch("null"), kWrongType, "items", "items: null; expected an array"),
      Bad("a string for the items", Batch(R"("n1")"), kWrongType, "items",
          "items: a string; expected an array"),
      Bad("an object for the items", Batch(R"({"item_id":"n1"})"), kWrongType, "items",
          "items: an object; expected an array"),
      Bad("no items", Batch("[]"), kMissingField, "items", "items: empty; expected at least one item"),
      Bad("10,001 items", BatchOf(10'001), kTooLarge, "items", "items: 10001 items; expected at most 10000"),
      Bad("null among the items", Batch(R"(["n1",null])"), kWrongType, "items",
          "items[1]: null; expected a string or a 64-bit integer"),
      Bad("an array among the items", Batch(R"([["n1"]])"), kWrongType, "items",
          "items[0]: an array; expected a string or a 64-bit integer"),
      Bad("an empty id among the items", Batch(R"(["n1","n2",""])"), kEmptyId, "items", "items[2]: empty"),
      Bad("a long id among the items", Batch("[" + Quoted(std::string(513, 'x')) + "]"), kIdTooLong, "items",
          "items[0]: 513 bytes; expected at most 512"),
      Bad("a great integer among the items", Batch("[1,99999999999999999999]"), kOutOfRange, "items",
          "items[1]: an integer beyond 64 bits; expected a string or a 64-bit integer"),
      Bad("an object without an id", Batch(R"(["n1",{"position":4}])"), kMissingField, "item_id",
          "items[1].item_id: missing"),
      Bad("an object with an empty id", Batch(R"(["n1","n2","n3",{"item_id":""}])"), kEmptyId, "item_id",
          "items[3].item_id: empty"),
      Bad("an object whose position is a string", Batch(R"([{"item_id":"n1","position":"4"}])"), kWrongType,
          "position", "items[0].position: a string; expected a 64-bit integer or null"),
      Bad("a batch without a time", R"({"user_id":"u1","items":["n1"]})", kMissingField, "exposed_at",
          "exposed_at: missing"),
  };
}

}  // namespace

const std::vector<EventCase>& EventCases() {
  static const std::vector<EventCase> cases = [] {
    std::vector<EventCase> all = GoodCases();
    for (auto& more : {NoJsonCases(), WrongEventCases()}) all.insert(all.end(), more.begin(), more.end());
    return all;
  }();
  return cases;
}

}  // namespace seen
