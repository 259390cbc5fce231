#include "serve/unseen_body.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>

namespace seen {
namespace {

using Ids = std::vector<std::string>;

Ids Owned(std::span<const std::string_view> views) { return {views.begin(), views.end()}; }

TEST(UnseenQuestion, TakesStringsAndIntegers) {
  const auto question = ParseUnseenQuestion(
      R"( {"items": ["a", 7, -3, 18446744073709551615, -9223372036854775808, "a", "é\n", "\u7528"], "also_seen": [1, "c"]} )");
  ASSERT_TRUE(question) << question.error().message;
  EXPECT_EQ(Owned(question->items()),
            (Ids{"a", "7", "-3", "18446744073709551615", "-9223372036854775808", "a", "é\n", "用"}));
  EXPECT_EQ(Owned(question->also_seen()), (Ids{"1", "c"}));
}

TEST(UnseenQuestion, TakesWhenAnItemWasCreated) {
  using Seconds = std::vector<uint32_t>;
  struct Case {
    std::string items;
    Ids ids;
    Seconds seconds;
  };
  // Each case runs as it is, and once more with an escape in it. Only the strict reader takes escapes.
  const std::vector<Case> cases = {
      {R"({"id":"a","created_at":1763700000999})", {"a"}, {1'763'700'000}},
      {R"({"created_at":1763700001000,"id":7})", {"7"}, {1'763'700'001}},
      {R"("a",{"id":"b","created_at":4294967295999},3,{"id":"d","created_at":1000},"e")",
       {"a", "b", "3", "d", "e"},
       {0, 4'294'967'295, 0, 1, 0}},
      {R"( { "id" : "a" , "created_at" : 5000 } , -1 )", {"a", "-1"}, {5, 0}},
      {R"({"id":"a"},{"id":"b","created_at":null},{"created_at":0,"id":"c"},"d")", {"a", "b", "c", "d"}, {}},
      {R"({"id":"a","created_at":999},"b")", {"a", "b"}, {}},
      {R"("a","b")", {"a", "b"}, {}},
  };
  for (const Case& one : cases) {
    for (const bool escaped : {false, true}) {
      const std::string body =
          R"({"items":[)" + one.items + R"(],"also_seen":[")" + (escaped ? R"(\u0041)" : "A") + R"("]})";
      const auto question = ParseUnseenQuestion(body);
      ASSERT_TRUE(question) << body << question.error().message;
      EXPECT_EQ(Owned(question->items()), one.ids) << body;
      EXPECT_EQ(Seconds(question->created_seconds().begin(), question->created_seconds().end()), one.seconds)
          << body;
      EXPECT_EQ(Owned(question->also_seen()), Ids{"A"}) << body;
    }
  }
}

TEST(UnseenQuestion, MayLeaveListsEmptyAndComeInAnyOrder) {
  for (const auto* body : {R"({"items":[]})", R"({"also_seen":[],"items":[]})"}) {
    const auto question = ParseUnseenQuestion(body);
    ASSERT_TRUE(question) << question.error().message;
    EXPECT_TRUE(question->items().empty());
    EXPECT_TRUE(question->also_seen().empty());
  }
}

TEST(UnseenQuestion, AsksForOnePerGroup) {
  // Each case runs without and with an escape in the id. Only the strict reader takes escapes.
  for (const std::string id : {"a", "\\u0061"}) {
    const std::pair<std::string, bool> cases[] = {
        {R"({"one_per_group":true,"items":[")" + id + R"("]})", true},
        {R"({"items":[")" + id + R"("], "one_per_group" : true , "also_seen":["b"]})", true},
        {R"({"items":[")" + id + R"("],"one_per_group":false})", false},
        {R"({"items":[")" + id + R"("]})", false},
    };
    for (const auto& [body, expected] : cases) {
      const auto question = ParseUnseenQuestion(body);
      ASSERT_TRUE(question) << body << question.error().message;
      EXPECT_EQ(question->one_per_group(), expected) << body;
      EXPECT_EQ(Owned(question->items()), Ids{"a"}) << body;
    }
  }
}

TEST(UnseenQuestion, StaysValidWhenMovedAndCopied) {
  auto question = ParseUnseenQuestion(R"({"items":["abc"]})");
  ASSERT_TRUE(question);
  const UnseenQuestion copy = *question;
  const UnseenQuestion moved = std::move(*question);
  question = ParseUnseenQuestion(R"({"items":[]})");
  EXPECT_EQ(copy.items()[0], "abc");
  EXPECT_EQ(moved.items()[0], "abc");
}

TEST(UnseenQuestion, NamesThePathOfWhatIsWrong) {
  const std::string long_id(513, 'x');
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "body: not JSON: "},
      {"{", "body: not JSON: "},
      {"{}x", "body: not JSON: "},
      {R"({"items":["a",]})", "body: not JSON: "},
      {R"({"items":["a"]} {})", "body: not JSON: "},
      {R"({"items":[NaN]})", "body: not JSON: "},
      {R"({"items":[01]})", "body: not JSON: "},
      {"{\"items\":[\"\xff\"]}", "body: not JSON: "},
      {"{\"items\":[\"a\nb\"]}", "body: not JSON: "},
      {R"({"items":["\ud800"]})", "body: not JSON: "},
      {"[]", "$: expected an object such as {\"items\":[\"a\",\"b\"]}, found an array"},
      {"null", "$: expected an object such as {\"items\":[\"a\",\"b\"]}, found null"},
      {"\"a\"", "$: expected an object such as {\"items\":[\"a\",\"b\"]}, found a string"},
      {"3.5", "$: expected an object such as {\"items\":[\"a\",\"b\"]}, found a number"},
      {"{}", "$.items: missing"},
      {R"({"also_seen":["a"]})", "$.items: missing"},
      {R"({"items":null})", "$.items: expected an array of item ids, found null"},
      {R"({"items":"a"})", "$.items: expected an array of item ids, found a string"},
      {R"({"items":{"a":1}})", "$.items: expected an array of item ids, found an object"},
      {R"({"items":[],"also_seen":true})", "$.also_seen: expected an array of item ids, found a boolean"},
      {R"({"items":["a",null]})",
       "$.items[1]: expected a string, an integer or {\"id\":...,\"created_at\":...}, found null"},
      {R"({"items":["a","b",["c"]]})",
       "$.items[2]: expected a string, an integer or {\"id\":...,\"created_at\":...}, found an array"},
      {R"({"items":["a",{"item_id":"a"}]})",
       "$.items[1]: unknown key \"item_id\"; the nearest known one is \"id\""},
      {R"({"items":[{"id":"a","create_at":1}]})",
       "$.items[0]: unknown key \"create_at\"; the nearest known one is \"created_at\""},
      {R"({"items":["a","b",{"created_at":1}]})", "$.items[2].id: missing"},
      {R"({"items":[{}]})", "$.items[0].id: missing"},
      {R"({"items":["a",{"id":"b","id":"c"}]})", "$.items[1].id: given twice"},
      {R"({"items":[{"created_at":1,"id":"b","created_at":1}]})", "$.items[0].created_at: given twice"},
      {R"({"items":[{"id":""}]})", "$.items[0].id: empty; an item id has 1 to 512 bytes"},
      {R"({"items":["a",{"created_at":1,"id":")" + long_id + R"("}]})",
       "$.items[1].id: 513 bytes; an item id has 1 to 512 bytes"},
      {R"({"items":[{"id":null}]})", "$.items[0].id: expected a string or an integer, found null"},
      {R"({"items":[{"id":{}}]})", "$.items[0].id: expected a string or an integer, found an object"},
      {R"({"items":[{"id":1.5}]})",
       "$.items[0].id: expected a string or an integer, found a number with a fraction or exponent"},
      {R"({"items":[{"id":18446744073709551616}]})",
       "$.items[0].id: an integer beyond 64 bits; send it as a string"},
      {R"({"items":[{"id":"a","created_at":"1763700000000"}]})",
       "$.items[0].created_at: expected a whole number of ms since the epoch, or null, found a string"},
      {R"({"items":[{"id":"a","created_at":1763700000000.5}]})",
       "$.items[0].created_at: expected a whole number of ms since the epoch, or null, found a number with"},
      {R"({"items":[{"id":"a","created_at":[1]}]})",
       "$.items[0].created_at: expected a whole number of ms since the epoch, or null, found an array"},
      {R"({"items":[{"id":"a","created_at":-1}]})",
       "$.items[0].created_at: not between 1970 and 2106; it is ms since the epoch"},
      {R"({"items":[{"id":"a","created_at":4294967296000}]})",
       "$.items[0].created_at: not between 1970 and 2106; it is ms since the epoch"},
      {R"({"items":[{"id":"a","created_at":1763700000000000}]})",
       "$.items[0].created_at: not between 1970 and 2106; it is ms since the epoch"},
      {R"({"items":[{"id":"a","created_at":99999999999999999999}]})",
       "$.items[0].created_at: not between 1970 and 2106; it is ms since the epoch"},
      {R"({"items":[],"also_seen":[{"id":"a"}]})",
       "$.also_seen[0]: expected a string or an integer, found an object"},
      {R"({"items":[{"id":"a"})", "body: not JSON: "},
      {R"({"items":[1.5]})",
       "$.items[0]: expected a string, an integer or {\"id\":...,\"created_at\":...}, found a number with a "
       "fraction or exponent"},
      {R"({"items":[1e3]})",
       "$.items[0]: expected a string, an integer or {\"id\":...,\"created_at\":...}, found a number with a "
       "fraction or exponent"},
      {R"({"items":[18446744073709551616]})", "$.items[0]: an integer beyond 64 bits; send it as a string"},
      {R"({"items":[""]})", "$.items[0]: empty; an item id has 1 to 512 bytes"},
      {R"({"items":["a"],"also_seen":["b",")" + long_id + R"("]})",
       "$.also_seen[1]: 513 bytes; an item id has 1 to 512 bytes"},
      {R"({"items":[],"items":[]})", "$.items: given twice"},
      {R"({"items":[],"one_per_group":1})", "$.one_per_group: expected true or false, found a number"},
      {R"({"items":[],"one_per_group":null})", "$.one_per_group: expected true or false, found null"},
      {R"({"items":[],"one_per_group":"true"})", "$.one_per_group: expected true or false, found a string"},
      {R"({"items":[],"one_per_group":[true]})", "$.one_per_group: expected true or false, found an array"},
      {R"({"items":[],"one_per_group":{}})", "$.one_per_group: expected true or false, found an object"},
      {R"({"one_per_group":true,"items":[],"one_per_group":true})", "$.one_per_group: given twice"},
      {R"({"one_per_group":true,"items":[true]})",
       "$.items[0]: expected a string, an integer or {\"id\":...,\"created_at\":...}, found a boolean"},
      {R"({"one_per_group":true})", "$.items: missing"},
      {R"({"one_per_groups":true})",
       "$: unknown key \"one_per_groups\"; the nearest known one is \"one_per_group\""},
      {R"({"item":[]})", "$: unknown key \"item\"; the nearest known one is \"items\""},
      {R"({"items":[],"alsoSeen":[]})",
       "$: unknown key \"alsoSeen\"; the nearest known one is \"also_seen\""},
      {R"({"":1})", "$: unknown key \"\"; the nearest known one is \"items\""},
  };
  for (const auto& [body, message] : cases) {
    const auto question = ParseUnseenQuestion(body);
    ASSERT_FALSE(question) << body;
    EXPECT_EQ(question.error().code, Code::kInvalidArgument);
    EXPECT_TRUE(question.error().message.starts_with(message)) << body << "\n" << question.error().message;
  }
}

TEST(UnseenQuestion, BoundsEachListAndTheDepth) {
  const auto body = [](size_t items) {
    std::string text = R"({"items":[)";
    for (size_t i = 0; i < items; ++i) text += (i > 0 ? "," : "") + std::to_string(i);
    return text + "]}";
  };
  const auto full = ParseUnseenQuestion(body(kUnseenItemsMax));
  ASSERT_TRUE(full) << full.error().message;
  EXPECT_EQ(full->items().size(), kUnseenItemsMax);
  const auto over = ParseUnseenQuestion(body(kUnseenItemsMax + 1));
  ASSERT_FALSE(over);
  EXPECT_EQ(over.error().message, "$.items: more than 20000 items; split the request");
  std::string dated = R"({"items":[{"id":"0","created_at":1000})";
  for (size_t i = 1; i < kUnseenItemsMax; ++i) dated += R"(,{"id":"x","created_at":1000})";
  EXPECT_TRUE(ParseUnseenQuestion(dated + "]}"));
  const auto dated_over = ParseUnseenQuestion(dated + R"(,{"id":"x"}]})");
  ASSERT_FALSE(dated_over);
  EXPECT_EQ(dated_over.error().message, "$.items: more than 20000 items; split the request");
  EXPECT_FALSE(ParseUnseenQuestion(R"({"items":)" + std::string(1'000'000, '[')));
  EXPECT_FALSE(ParseUnseenQuestion(R"({"items":[)" + std::string(1'000'000, '{')));
  EXPECT_FALSE(ParseUnseenQuestion(std::string(1'000'000, '{')));
}

TEST(UnseenAnswer, IsJsonWhateverTheIdsHold) {
  const std::vector<std::string_view> items = {"a", "\"quoted\\\"", "line\nfeed", "用"};
  const std::vector<uint32_t> all = {0, 1, 2, 3};
  EXPECT_EQ(WriteUnseenAnswer(items, all),
            "{\"unseen\":[\"a\",\"\\\"quoted\\\\\\\"\",\"line\\nfeed\",\"用\"]}\n");
  EXPECT_EQ(WriteUnseenAnswer(items, {}), "{\"unseen\":[]}\n");
}

TEST(UnseenAnswer, EscapesEveryControlCharacterAsJsonDoes) {
  std::vector<std::string> ids;
  for (int c = 0; c < 256; ++c) {
    ids.push_back(c < 128 ? std::string("x") + static_cast<char>(c)
                          : "\xc3" + std::string(1, static_cast<char>(0x80 + c % 64)));
  }
  for (const std::string& id : ids) {
    const std::vector<std::string_view> items = {id};
    const std::vector<uint32_t> all = {0};
    nlohmann::json expected;
    expected["unseen"].push_back(id);
    EXPECT_EQ(WriteUnseenAnswer(items, all), expected.dump() + "\n");
  }
}

TEST(UnseenAnswer, TellsOfWhatIsSimilarOnlyWhereItWasAskedFor) {
  const std::vector<std::string_view> items = {"a", "\"b\"", "c"};
  UnseenAnswer answer{{}, {0}};
  EXPECT_EQ(WriteUnseenAndSimilar(items, answer), "{\"unseen\":[\"a\"]}\n");
  answer.similar.emplace();
  EXPECT_EQ(WriteUnseenAndSimilar(items, answer), "{\"unseen\":[\"a\"],\"similar\":[]}\n");
  answer.unseen.clear();
  answer.similar = {{0, {"n\n1", SimilarReason::kNear}},
                    {1, {"", SimilarReason::kGroup}},
                    {2, {"a", SimilarReason::kPage}}};
  EXPECT_EQ(
      WriteUnseenAndSimilar(items, answer),
      R"({"unseen":[],"similar":[{"item_id":"a","like":"n\n1","because":"near"},)"
      R"({"item_id":"\"b\"","like":null,"because":"group"},{"item_id":"c","like":"a","because":"page"}]})"
      "\n");
}

// The plain reader and the strict reader give the same ids for the same lists.
TEST(UnseenQuestion, ReadsTheSameWithAndWithoutEscapes) {
  std::mt19937_64 random(5);
  const std::vector<std::string> plain = {"a",    "0",   "-",          "7x",
                                          "用户", "x/y", "with space", std::string(512, 'z')};
  for (int round = 0; round < 500; ++round) {
    nlohmann::json items = nlohmann::json::array();
    Ids expected;
    std::vector<uint32_t> seconds;
    for (size_t i = random() % 40; i > 0; --i) {
      if (random() % 4 == 0) {
        const auto number = static_cast<int64_t>(random() >> (random() % 64)) * (random() % 2 == 0 ? 1 : -1);
        items.push_back(number);
        expected.push_back(std::to_string(number));
      } else {
        items.push_back(plain[random() % plain.size()]);
        expected.push_back(items.back());
      }
      seconds.push_back(0);
    }
    const nlohmann::json also_seen = items;
    for (size_t i = 0; i < items.size(); ++i) {
      if (round % 2 == 0 || random() % 2 == 0) continue;
      seconds[i] = static_cast<uint32_t>(random());
      items[i] = {{"id", items[i]}, {"created_at", int64_t{seconds[i]} * 1000 + 7}};
    }
    if (std::count(seconds.begin(), seconds.end(), 0u) == std::ssize(seconds)) seconds.clear();
    const nlohmann::json body = {{"items", items}, {"also_seen", also_seen}};
    for (const bool ascii : {false, true}) {  // ascii: all other characters are escaped
      const std::string text = body.dump(static_cast<int>(random() % 3) - 1, ' ', ascii);
      const auto question = ParseUnseenQuestion(text);
      ASSERT_TRUE(question) << text << question.error().message;
      ASSERT_EQ(Owned(question->items()), expected) << text;
      ASSERT_EQ(Owned(question->also_seen()), expected) << text;
      const auto created = question->created_seconds();
      ASSERT_EQ(std::vector<uint32_t>(created.begin(), created.end()), seconds) << text;
    }
  }
}

}  // namespace
}  // namespace seen
