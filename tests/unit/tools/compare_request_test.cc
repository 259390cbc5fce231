#include <gtest/gtest.h>

#include "scratch_folder.h"
#include "tools/compare/answers_file.h"
#include "tools/compare/key_pattern.h"
#include "tools/compare/request_file.h"

namespace seen {
namespace {

TEST(CompareRequest, HasTheMembersOfUnseen) {
  UnusedMembers unused;
  const auto request = ParseCompareRequest(
      R"({"user_id":"u1","filter":"feed","items":["a",7,{"id":"b","created_at":1763690000000},"a","c"],
          "also_seen":["c"],"request_id":"r-1"})",
      unused);
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->user_id, "u1");
  EXPECT_EQ(request->filter, "feed");
  EXPECT_EQ(request->items, (std::vector<std::string>{"a", "7", "b"}));
  EXPECT_EQ(request->created_ms, (std::vector<int64_t>{0, 0, 1763690000000}));
  EXPECT_EQ(request->repeated, 1u);
  EXPECT_EQ(request->also_seen, 1u);
  EXPECT_EQ(unused, (UnusedMembers{{"request_id", 1}}));
}

TEST(CompareRequest, OfAnItemThatComesTwiceTheLatestTimeCounts) {
  UnusedMembers unused;
  const auto request = ParseCompareRequest(
      R"({"user_id":"u","items":["a",{"id":"a","created_at":5000},{"id":"a","created_at":3000}]})", unused);
  ASSERT_TRUE(request);
  EXPECT_EQ(request->created_ms, (std::vector<int64_t>{5000}));
  EXPECT_TRUE(ParseCompareRequest(R"({"user_id":"u","items":["a"]})", unused)->created_ms.empty());
}

TEST(CompareRequest, SaysWhatIsWrong) {
  struct Case {
    std::string text;
    std::string problem;
  };
  const Case cases[] = {
      {"nothing", "not a JSON object"},
      {"[]", "not a JSON object"},
      {R"({"items":["a"]})", "$.user_id: missing"},
      {R"({"user_id":1.5,"items":["a"]})", "$.user_id: expected a string or an integer"},
      {R"({"user_id":"","items":["a"]})", "$.user_id: an id has 1 to 512 bytes"},
      {R"({"user_id":"u"})", "$.items: missing"},
      {R"({"user_id":"u","items":{}})", "$.items: expected an array"},
      {R"({"user_id":"u","items":[]})", "$.items: empty: there is nothing to compare"},
      {R"({"user_id":"u","items":["a",null]})", "$.items[1]: expected a string or an integer"},
      {R"({"user_id":"u","items":[{"created_at":1}]})", "$.items[0].id: missing"},
      {R"({"user_id":"u","items":[{"id":"a","created_at":-1}]})",
       "$.items[0].created_at: expected ms since the epoch"},
      {R"({"user_id":"u","items":["a"],"also_seen":"b"})", "$.also_seen: expected an array"},
      {R"({"user_id":"u","items":["a"],"filter":7})", "$.filter: expected the name of a filter"},
  };
  for (const Case& one : cases) {
    UnusedMembers unused;
    const auto request = ParseCompareRequest(one.text, unused);
    ASSERT_FALSE(request) << one.text;
    EXPECT_EQ(request.error().message, one.problem);
  }
}

TEST(RequestFile, NamesFileAndLineAndCountsAllLines) {
  const ScratchFolder folder;
  const std::string first = folder.Write("a.jsonl", "\n{\"user_id\":\"u1\",\"items\":[\"a\"]}\r\nbad\n");
  const std::string second = folder.Write("b.jsonl", R"({"user_id":"u2","items":["a"]})");
  auto file = RequestFile::Open({first, second});
  ASSERT_TRUE(file);
  RequestLine line;
  ASSERT_TRUE(*file->Next(line));
  EXPECT_EQ(line.request.place, first + ":2");
  EXPECT_EQ(line.request.line, R"({"user_id":"u1","items":["a"]})");
  ASSERT_TRUE(*file->Next(line));
  EXPECT_EQ(line.problem, "not a JSON object");
  EXPECT_EQ(line.request.place, first + ":3");
  ASSERT_TRUE(*file->Next(line));
  EXPECT_EQ(line.request.number, 3u);
  EXPECT_EQ(line.request.place, second + ":1");
  EXPECT_FALSE(*file->Next(line));
  EXPECT_EQ(file->lines(), 3u);
  EXPECT_FALSE(RequestFile::Open({first, folder.Path("none")}));
}

TEST(OldAnswer, ListsWhatIsDroppedOrKept) {
  CompareRequest request;
  request.user_id = "7";
  request.items = {"a", "b", "c"};
  EXPECT_EQ(ReadOldAnswer(R"({"user_id":7,"dropped":["b"]})", request)->dropped,
            (std::vector<bool>{false, true, false}));
  EXPECT_EQ(ReadOldAnswer(R"({"kept":[{"id":"a"},{"item_id":"c"}]})", request)->dropped,
            (std::vector<bool>{false, true, false}));
  EXPECT_EQ(ReadOldAnswer(R"({"dropped":["x",5]})", request)->unknown_items, 2u);
  for (const char* text : {"", "{}", R"({"dropped":[],"kept":[]})", R"({"dropped":{}})",
                           R"({"dropped":[null]})", R"({"user_id":"8","dropped":[]})"}) {
    EXPECT_FALSE(ReadOldAnswer(text, request)) << text;
  }
}

TEST(KeyPattern, PutsInEachPlaceOnce) {
  const Day day{20'413};  // 2025-11-21
  EXPECT_EQ(KeysOf("seen:{user}", "u{filter}", "feed", day, 7), (std::vector<std::string>{"seen:u{filter}"}));
  EXPECT_EQ(KeysOf("{{user}}:{filter}:{other}", "u", "feed", day, 1),
            (std::vector<std::string>{"{u}:feed:{other}"}));
  EXPECT_EQ(KeysOf("{day}/{user}", "u", "", day, 2),
            (std::vector<std::string>{"2025-11-21/u", "2025-11-20/u"}));
  EXPECT_EQ(KeysOf("{yyyymmdd}{user}{", "u", "", day, 1), (std::vector<std::string>{"20251121u{"}));
}

}  // namespace
}  // namespace seen
