#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "unit/serve/pages_fixture.h"

namespace seen {
namespace {

using nlohmann::json;

class FakeFills final : public FillPort {
 public:
  Result<FillStatus> Start(std::string_view filter, std::string_view id) override {
    if (filter != "video") return Fail(Code::kNotFound, "filter: no such filter");
    status = {std::string(filter), id.empty() ? "made up" : std::string(id), {7}, {}};
    status.partitions.push_back({.partition = 3, .state = "waiting", .complete_since = {}, .problem = {}});
    return status;
  }
  Result<FillStatus> Stop(std::string_view filter) override {
    if (filter != status.filter) return Fail(Code::kNotFound, "filter: none");
    return status;
  }
  FillFigures Figures() const override { return {{status}, 0, 0}; }
  FillStatus status;
};

class FillRoutesTest : public PagesTest {
 protected:
  FillRoutesTest() { sources_.fills = &fills_; }
  FakeFills fills_;
};

TEST_F(FillRoutesTest, StartsAFillUnderAName) {
  const HttpResponse answer = Ask("POST", "/v1/filters/video/fill", R"({"id":"june"})");
  EXPECT_EQ(answer.status, 202U);
  const json body = json::parse(answer.body);
  EXPECT_EQ(body.at("id"), "june");
  EXPECT_EQ(body.at("done"), false);
  const json& partition = body.at("partitions").at(0);
  EXPECT_EQ(partition.at("partition"), 3);
  EXPECT_EQ(partition.at("state"), "waiting");
  EXPECT_TRUE(partition.at("from_offset").is_null()) << "not known yet";
  EXPECT_TRUE(partition.at("problem").is_null());
  EXPECT_EQ(json::parse(Ask("POST", "/v1/filters/video/fill").body).at("id"), "made up");
}

TEST_F(FillRoutesTest, NamesWhatIsWrong) {
  const std::pair<const char*, const char*> kCases[] = {
      {"[]", "$: expected an object"},
      {R"({"idd":"x"})", R"($: unknown key \"idd\"; the only one is \"id\")"},
      {R"({"id":7})", "$.id: expected a string"},
      {"{", "body: not JSON"}};
  for (const auto& [sent, named] : kCases) {
    const HttpResponse answer = Ask("POST", "/v1/filters/video/fill", sent);
    EXPECT_EQ(answer.status, 400U) << sent;
    EXPECT_NE(answer.body.find(named), std::string::npos) << answer.body;
  }
  EXPECT_EQ(Ask("POST", "/v1/filters/video/fill", R"({"id":")" + std::string(129, 'x') + "\"}").status, 400U);
  EXPECT_EQ(Ask("POST", "/v1/filters/other/fill", "{}").status, 404U);
  EXPECT_EQ(Ask("POST", "/v1/filters/video/fill", "{}", "text/plain").status, 415U)
      << "a page of another origin could send it";
  EXPECT_EQ(Ask("GET", "/v1/filters/video/fill").status, 405U);
}

TEST_F(FillRoutesTest, ShowsAndStops) {
  ASSERT_EQ(Ask("POST", "/v1/filters/video/fill", "{}").status, 202U);
  fills_.status.partitions[0] = {.partition = 3,
                                 .state = "done",
                                 .from_offset = 5,
                                 .next_offset = 9,
                                 .to_offset = 9,
                                 .users_written = 2,
                                 .complete_since = TimeMs{0},
                                 .problem = {}};
  const json fill = json::parse(Ask("GET", "/v1/fills").body).at("fills").at(0);
  EXPECT_EQ(fill.at("done"), true);
  EXPECT_EQ(fill.at("partitions").at(0).at("to_offset"), 9);
  EXPECT_EQ(fill.at("partitions").at(0).at("complete_since_ms"), 0);
  EXPECT_EQ(Ask("DELETE", "/v1/fills/video").status, 200U);
  EXPECT_EQ(Ask("DELETE", "/v1/fills/other").status, 404U);
  sources_.fills = nullptr;
  EXPECT_EQ(Ask("GET", "/v1/fills").status, 503U) << "no partition is open yet";
}

}  // namespace
}  // namespace seen
