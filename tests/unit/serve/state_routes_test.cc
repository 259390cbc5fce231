#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "serve/answer_json.h"
#include "unit/serve/pages_fixture.h"

namespace seen {
namespace {

using nlohmann::json;

class FakeCopies : public StateCopiesPort {
 public:
  Result<std::optional<PartitionDigest>> digest = std::optional<PartitionDigest>();
  Result<StateCopy> copy =
      StateCopy{"17-1", "/store/incoming/copy-17-1", "exposures", "murmur2", 8, {{3, "partition-3"}}};
  Status released;
  DigestQuestion asked;
  std::string released_id;

  Result<std::optional<PartitionDigest>> Digest(const DigestQuestion& question) override {
    asked = question;
    return digest;
  }
  Result<StateCopy> Copy() override { return copy; }
  Status Release(std::string_view id) override {
    released_id = id;
    return released;
  }
};

class StateRoutesTest : public PagesTest {
 protected:
  StateRoutesTest() { sources_.copies = &copies_; }
  FakeCopies copies_;
};

TEST_F(StateRoutesTest, ADigestIsUnderWayAndThenThere) {
  HttpResponse response = Ask("GET", "/v1/digest?partition=3&as_of_ms=1763700000000");
  EXPECT_EQ(response.status, 202U);
  EXPECT_EQ(Header(response, "Retry-After"), "1");
  EXPECT_EQ(copies_.asked.partition, 3);
  EXPECT_EQ(copies_.asked.as_of, TimeMs{1'763'700'000'000});
  EXPECT_EQ(copies_.asked.copy, "");
  FilterDigest filter{"default", 30, {}};
  filter.set.digest = HashOf("x");
  filter.set.items = 5;
  const PartitionDigest digest{3, 17, {4}, {1'763'700'000'000}, {filter}};
  copies_.digest = std::optional(digest);
  response = Ask("GET", "/v1/digest?partition=3&copy=17-1");
  EXPECT_EQ(response.status, 200U);
  EXPECT_EQ(copies_.asked.as_of, std::nullopt);
  EXPECT_EQ(copies_.asked.copy, "17-1");
  const auto read = PartitionDigestFromJson(json::parse(response.body));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->next_offset, 17);
  EXPECT_EQ(read->filters, digest.filters);
}

TEST_F(StateRoutesTest, WhatIsWrongIsNamed) {
  const struct {
    const char* target;
    const char* field;
  } cases[] = {{"/v1/digest", "partition"},
               {"/v1/digest?partition=x", "partition"},
               {"/v1/digest?partition=-1", "partition"},
               {"/v1/digest?partition=1&as_of_ms=-5", "as_of_ms"},
               {"/v1/digest?partition=1&filter=a", "filter"}};
  for (const auto& one : cases) {
    const HttpResponse response = Ask("GET", one.target);
    EXPECT_EQ(response.status, 400U) << one.target;
    EXPECT_NE(response.body.find(one.field), std::string::npos) << response.body;
  }
  copies_.digest =
      Result<std::optional<PartitionDigest>>(Fail(Code::kUnavailable, "another one is under way"));
  const HttpResponse busy = Ask("GET", "/v1/digest?partition=1");
  EXPECT_EQ(busy.status, 503U);
  EXPECT_EQ(Header(busy, "Retry-After"), "1");
}

TEST_F(StateRoutesTest, ACopyIsMadeAndReleased) {
  EXPECT_EQ(Ask("GET", "/v1/copies").status, 405U);
  EXPECT_EQ(Ask("POST", "/v1/copies", "", "text/plain").status, 415U)
      << "a page of another origin could send it";
  const HttpResponse made = Ask("POST", "/v1/copies");
  EXPECT_EQ(made.status, 200U);
  const json copy = json::parse(made.body);
  EXPECT_EQ(copy["copy"], "17-1");
  EXPECT_EQ(copy["partitions"], json::parse(R"([{"partition":3,"folder":"partition-3"}])"));
  EXPECT_EQ(Ask("DELETE", "/v1/copies/17-1").status, 200U);
  EXPECT_EQ(copies_.released_id, "17-1");
  copies_.released = Fail(Code::kNotFound, "copy: no copy has the id 9");
  EXPECT_EQ(Ask("DELETE", "/v1/copies/9").status, 404U);
  copies_.copy = Result<StateCopy>(Fail(Code::kUnavailable, "copies: copy 17-1 is in use"));
  EXPECT_EQ(Ask("POST", "/v1/copies").status, 503U);
}

TEST_F(StateRoutesTest, BeforePartitionsAreOpenThereIsNothing) {
  sources_.copies = nullptr;
  EXPECT_EQ(Ask("GET", "/v1/digest?partition=1").status, 503U);
  EXPECT_EQ(Ask("POST", "/v1/copies").status, 503U);
  EXPECT_EQ(Ask("DELETE", "/v1/copies/1").status, 503U);
}

}  // namespace
}  // namespace seen
