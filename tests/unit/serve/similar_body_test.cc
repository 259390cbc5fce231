// POST /v1/similar: the requests, the errors for wrong requests, and the answer.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "serve/answer_json.h"
#include "unit/serve/pages_fixture.h"

namespace seen {
namespace {

class SimilarQuery : public FakeQuery {
 public:
  mutable std::string asked;
  Status CanFindSimilar() const override { return {}; }
  Result<SimilarAnswer> Similar(const SimilarQuestion& question) const override {
    const auto& [title, text, lang] = question.text;
    asked = std::string(title) + "|" + std::string(text) + "|" + std::string(lang) + "|" +
            std::string(question.except) + "|" + std::to_string(question.limit);
    return SimilarAnswer{};
  }
};

class SimilarBody : public testing::Test {
 protected:
  std::string Detail(const std::string& body) {
    const Answered answer = Asked(routes_, {"POST", "/v1/similar", body, "application/json"});
    return answer.status == 200 ? "read" : nlohmann::json::parse(answer.body).at("detail").get<std::string>();
  }
  SimilarQuery query_;
  FakeChange change_;
  PageSources sources_{query_, change_, [] { return std::string(); }};
  Routes routes_{sources_};
};

TEST_F(SimilarBody, ReadsWhatIsThere) {
  EXPECT_EQ(Detail(R"({"title":"T","text":"x","lang":"en","item_id":7,"limit":100})"), "read");
  EXPECT_EQ(query_.asked, "T|x|en|7|100");
  EXPECT_EQ(Detail(R"({"title":"T","text":null,"item_id":null,"limit":null})"), "read");
  EXPECT_EQ(query_.asked, "T||||10");
}

TEST_F(SimilarBody, NamesWhatIsWrong) {
  const std::pair<std::string, std::string> cases[] = {
      {"[]", "$: expected an object such as {\"title\":\"...\",\"text\":\"...\"}"},
      {"{}", "$.text: missing; give a text, a title or both"},
      {R"({"text":["x"]})", "$.text: expected a string or null, found array"},
      {R"({"title":1})", "$.title: expected a string or null, found a number"},
      {R"({"text":"x","text":"y"})", "$.text: given twice"},
      {R"({"text":"x","body":"y"})",
       "$: unknown key \"body\"; there are \"title\", \"text\", \"lang\", \"item_id\" and \"limit\""},
      {R"({"text":"x","item_id":1.5})",
       "$.item_id: expected a string, a 64-bit integer or null, found another number"},
      {R"({"text":"x","item_id":""})", "$.item_id: empty; an item id has 1 to 512 bytes"},
      {R"({"text":"x","limit":0})", "$.limit: 0; expected an integer from 1 to 100"},
      {R"({"text":"x","limit":101})", "$.limit: 101; expected an integer from 1 to 100"},
      {R"({"text":"x","limit":-1})", "$.limit: -1; expected an integer from 1 to 100"},
      {R"({"text":"x","limit":"1"})", "$.limit: string; expected an integer from 1 to 100"}};
  for (const auto& [body, said] : cases) {
    EXPECT_EQ(Detail(body), said) << body;
  }
  for (const char* const body : {"", "{", "{\"text\":\"\xff\"}"}) {
    EXPECT_TRUE(Detail(body).starts_with("body: not JSON")) << body;
  }
}

TEST_F(SimilarBody, AnswersAsTheTopicOfGroupsHasIt) {
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
