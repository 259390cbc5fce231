// GET /v1/groups/{item}: requests in, JSON out.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "unit/serve/pages_fixture.h"

namespace seen {
namespace {

using nlohmann::json;

class ItemRoutesTest : public PagesTest {
 protected:
  Answered Get(const std::string& page) { return PagesTest::Get("/v1/groups/" + page); }
  std::string DetailOf(const HttpResponse& response) { return json::parse(response.body).at("detail"); }
};

TEST_F(ItemRoutesTest, ListAnItemsGroup) {
  query_.group =
      GroupAnswer{{"n7", "n1", {5}, FoundBy::kBoth, 0.93, 2, {{"n1", 0.93, 2, FoundBy::kBoth}}, ""},
                  {{"n1", 1.0}, {"n\"7", std::nullopt}},
                  "n\"7"};
  const Answered response = Get("n%2F7?after=%E7%94%A8");
  EXPECT_EQ(response.status, 200U) << response.body;
  EXPECT_EQ(response.content_type, "application/json");
  EXPECT_EQ(response.route, "/v1/groups/{item}");
  EXPECT_EQ(query_.group_asked, "n/7 用");
  EXPECT_EQ(json::parse(response.body), json::parse(R"({
      "group_id": "n1",
      "item": {"item_id": "n7", "group_id": "n1", "created_at": 5, "found_by": "both", "similarity": 0.93,
               "distance": 2, "near": [{"item_id": "n1", "similarity": 0.93, "distance": 2, "found_by": "both"}],
               "moved_from": null},
      "members": [{"item_id": "n1", "similarity": 1.0}, {"item_id": "n\"7", "similarity": null}],
      "next": "n\"7",
      "explanation": [
          "n7, of 1970-01-01T00:00:00.005Z: of the group of n1, similarity 0.93, 2 bits apart, found by both",
          "the group of n1: 2 or more items"]})"));
  query_.group->next.clear();
  EXPECT_TRUE(json::parse(Get("n7").body).at("next").is_null());
  EXPECT_EQ(query_.group_asked, "n7 ");
}

TEST_F(ItemRoutesTest, ExplainHowAnItemGotIntoItsGroup) {
  const struct {
    ItemGroup item;
    std::vector<std::string> sentences;
  } cases[] = {
      {{"n1", "n1", {0}, FoundBy::kFirst, 1.0, 0, {}, ""}, {"the first of its group"}},
      {{"n1", "n1", {0}, FoundBy::kNoText, 1.0, 0, {}, ""}, {"has no word, so no item is like it"}},
      {{"n1", "n0", {0}, FoundBy::kCopy, 1.0, 0, {}, "n2"},
       {"of the group of n0, a copy: the same text", "it was in the group of n2 before"}},
      {{"n1", "n0", {0}, FoundBy::kSimHash, std::nullopt, 1, {}, ""},
       {"of the group of n0, 1 bit apart, found by simhash"}},
  };
  for (const auto& [item, sentences] : cases) {
    query_.group = GroupAnswer{item, {{"n1", 1.0}}, ""};
    json expected = sentences;
    expected[0] = "n1, of 1970-01-01T00:00:00.000Z: " + sentences[0];
    expected.push_back("the group of " + item.group_id + ": 1 item");
    EXPECT_EQ(json::parse(Get("n1").body).at("explanation"), expected);
  }
}

TEST_F(ItemRoutesTest, SayWhatIsWrong) {
  EXPECT_EQ(Get("n7").status, 404U);
  const std::pair<std::string, std::string> cases[] = {
      {"", "item id: 0 bytes; an item id has 1 to 512 bytes"},
      {std::string(513, 'x'), "item id: 513 bytes; an item id has 1 to 512 bytes"},
      {"%ff", "item id: not UTF-8 once percent-decoded"},
      {"a?after=", "after: 0 bytes; an item id has 1 to 512 bytes"},
      {"a?from=b", "query: \"from\" isn't known here; there are: after"},
  };
  for (const auto& [page, detail] : cases) {
    const Answered response = Get(page);
    EXPECT_EQ(response.status, 400U) << page;
    EXPECT_EQ(DetailOf(response), detail) << page;
  }
  query_.error = Error{Code::kUnavailable, "starting"};
  EXPECT_EQ(Get("a").status, 503U);
}

}  // namespace
}  // namespace seen
