#include "tools/ask/unseen_report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace seen {
namespace {

TEST(UnseenReport, ListsItemsAndSaysWhatOthersAreLike) {
  const auto answer = nlohmann::json::parse(R"({"unseen": ["z", "a", "d"], "similar": [
      {"item_id": "a", "like": "n1", "because": "near"}, {"item_id": "b", "like": "n1", "because": "group"},
      {"item_id": "c", "like": "z", "because": "page"}, {"item_id": "d", "like": null, "because": "near"},
      {"item_id": "e", "like": null, "because": "group"}]})");
  EXPECT_EQ(UnseenText(answer), "z\na\nd\n");
  EXPECT_EQ(SimilarText(answer),
            "a comes last: near n1, which was seen\n"
            "b is left out: of one group with n1, which was seen\n"
            "c is left out: like z, which stays\n"
            "d comes last: near something seen\n"
            "e is left out: of a group that was seen\n");
  EXPECT_EQ(SimilarText(nlohmann::json::parse(R"({"unseen": []})")), "");
  EXPECT_THROW(UnseenText(nlohmann::json::parse("{}")), nlohmann::json::exception);
}

}  // namespace
}  // namespace seen
