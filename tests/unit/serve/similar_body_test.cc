// The JSON of POST /v1/similar: the requests, the errors for wrong requests, and the answer.
#include <gtest/gtest.h>

#include "serve/answer_json.h"
#include "serve/item_routes.h"

namespace seen {
namespace {

TEST(SimilarBody, ReadsWhatIsThere) {
  const auto all = ParseSimilarBody(R"({"title":"T","text":"x","lang":"en","item_id":7,"limit":100})");
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_EQ(all->title, "T");
  EXPECT_EQ(all->text, "x");
  EXPECT_EQ(all->lang, "en");
  EXPECT_EQ(all->item_id, "7");
  EXPECT_EQ(all->limit, 100U);
  const auto little = ParseSimilarBody(R"({"title":"T","text":null,"item_id":null,"limit":null})");
  ASSERT_TRUE(little) << little.error().message;
  EXPECT_EQ(little->limit, 10U);
  EXPECT_EQ(little->item_id, "");
}

TEST(SimilarBody, NamesWhatIsWrong) {
  const std::pair<std::string, std::string> cases[] = {
      {"[]", "$: expected an object such as {\"title\":\"...\",\"text\":\"...\"}"},
      {"{}", "$.text: missing; give a text, a title or both"},
      {R"({"text":["x"]})", "$.text: expected a string or null, found array"},
      {R"({"title":1})", "$.title: expected a string or null, found a number"},
      {R"({"text":"x","text":"y"})", "$.text: given twice"},
      {R"({"text":"x","body":"y"})",
       "$: unknown key \"body\"; there are \"title\", \"text\", \"lang\", \"item_id\" and \"limit\""},
      {R"({"text":"x","item_id":1.5})",
       "$.item_id: expected a string, a 64-bit integer or null, found a number"},
      {R"({"text":"x","item_id":""})", "$.item_id: 0 bytes; an item id has 1 to 512 bytes"},
      {R"({"text":"x","limit":0})", "$.limit: 0; expected an integer from 1 to 100"},
      {R"({"text":"x","limit":101})", "$.limit: 101; expected an integer from 1 to 100"},
      {R"({"text":"x","limit":-1})", "$.limit: -1; expected an integer from 1 to 100"},
      {R"({"text":"x","limit":"1"})", "$.limit: string; expected an integer from 1 to 100"}};
  for (const auto& [body, said] : cases) {
    const auto read = ParseSimilarBody(body);
    EXPECT_EQ(read ? "read" : read.error().message, said) << body;
  }
  for (const char* const body : {"", "{", "{\"text\":\"\xff\"}"}) {
    const auto read = ParseSimilarBody(body);
    EXPECT_TRUE(!read && read.error().message.starts_with("body: not JSON")) << body;
  }
}

TEST(SimilarBody, AnswersAsTheTopicOfGroupsHasIt) {
  SimilarAnswer answer;
  answer.similar = {{"n1", 2.0 / 3, 2, FoundBy::kBoth}, {"n2", std::nullopt, 0, FoundBy::kSimHash}};
  answer.cut = true;
  EXPECT_EQ(
      WriteSimilarAnswer(answer),
      "{\"similar\":[{\"item_id\":\"n1\",\"similarity\":0.6667,\"distance\":2,\"found_by\":\"both\"},"
      "{\"item_id\":\"n2\",\"similarity\":null,\"distance\":0,\"found_by\":\"simhash\"}],\"cut\":true}\n");
}

}  // namespace
}  // namespace seen
