#include "tools/ask/group_report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace seen {
namespace {

using Json = nlohmann::json;

TEST(GroupReport, ListsTheGroupAndWhatIsNear) {
  const Json answer = Json::parse(R"({
    "item": {"item_id": "n7", "group_id": "n1", "created_at": 1763700000123, "found_by": "both",
             "similarity": 0.93, "distance": 2, "moved_from": "n0",
             "near": [{"item_id": "n1", "similarity": 0.93, "distance": 2, "found_by": "both"},
                      {"item_id": "n44", "similarity": null, "distance": 1, "found_by": "simhash"}]},
    "group_id": "n1",
    "members": [{"item_id": "n1", "similarity": 1}, {"item_id": "n12", "similarity": null},
                {"item_id": "n7", "similarity": 0.93}],
    "next": "n7"})");
  EXPECT_EQ(
      GroupText(answer),
      "n7, of 2025-11-21T04:40:00.123Z: of the group of n1, similarity 0.93, 2 bits apart, found by both\n"
      "it was in the group of n0 before\n"
      "the group of n1: 3 or more items\n"
      "  n1   the first\n"
      "  n12  similar to it\n"
      "  n7   similarity 0.93 to it\n"
      "  and more: --after n7\n"
      "near it, of any group: 2\n"
      "  n1   similarity 0.93, 2 bits apart, found by both\n"
      "  n44  1 bit apart, found by simhash\n");
}

TEST(GroupReport, SaysThatAnItemIsAlone) {
  Json answer = Json::parse(R"({
    "item": {"item_id": "n1", "group_id": "n1", "created_at": 0, "found_by": "first", "similarity": 1,
             "distance": 0, "moved_from": null, "near": []},
    "group_id": "n1", "members": [{"item_id": "n1", "similarity": 1}],
    "next": null})");
  EXPECT_EQ(GroupText(answer),
            "n1, of 1970-01-01T00:00:00.000Z: the first of its group\n"
            "the group of n1: 1 item\n"
            "  n1  the first\n"
            "near it: nothing\n");
  answer["item"]["found_by"] = "no_text";
  EXPECT_TRUE(
      GroupText(answer).starts_with("n1, of 1970-01-01T00:00:00.000Z: has no word, so no item is like it\n"));
  answer.erase("members");
  EXPECT_THROW(GroupText(answer), Json::exception);
}

TEST(GroupReport, ListsWhatIsLikeAText) {
  EXPECT_EQ(SimilarItemsText(Json::parse(R"({"similar": []})")), "no stored item is like it\n");
  EXPECT_EQ(SimilarItemsText(Json::parse(R"({"similar": [
              {"item_id": "n1", "similarity": 0.931, "distance": 9, "found_by": "minhash"}]})")),
            "1 item is like it, the nearest first\n"
            "  n1  similarity 0.93, 9 bits apart, found by minhash\n");
}

}  // namespace
}  // namespace seen
