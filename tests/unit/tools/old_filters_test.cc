#include <gtest/gtest.h>

#include "scratch_folder.h"
#include "tiny_server.h"
#include "tools/compare/redis_filter.h"
#include "tools/compare/route_filter.h"

namespace seen {
namespace {

TEST(RedisFilter, TakesScoresAsSecondsOrMilliseconds) {
  EXPECT_EQ(TimeOfScore(1763690000).value, 1763690000000);
  EXPECT_EQ(TimeOfScore(1763690000123).value, 1763690000123);
  EXPECT_EQ(TimeOfScore(1763690000.5).value, 1763690000500);
  for (const double score : {0.0, -5.0, 1.0, 999.0, 1e300, 1e16})
    EXPECT_EQ(TimeOfScore(score).value, 0) << score;
}

TEST(RedisFilter, NamesTheRemedy) {
  struct Case {
    const char* words;
    const char* command;
    Code code;
    const char* remedy;
  };
  const Case cases[] = {
      {"NOAUTH Authentication required.", "ZMSCORE", Code::kRefused, "--redis-password-file"},
      {"WRONGPASS invalid username-password pair", "ZMSCORE", Code::kRefused, "check the password"},
      {"NOPERM this user has no permissions", "ZMSCORE", Code::kRefused, "ACL SETUSER"},
      {"ERR unknown command 'BF.MEXISTS'", "BF.MEXISTS", Code::kRefused, "load the module RedisBloom"},
      {"ERR unknown command 'ZMSCORE'", "ZMSCORE", Code::kRefused, "use Redis 6.2"},
      {"MOVED 3999 10.0.0.1:6381", "ZMSCORE", Code::kRefused, "Redis Cluster"},
      {"WRONGTYPE Operation against a key", "ZMSCORE", Code::kUnavailable, "ZMSCORE sorted sets"},
      {"LOADING Redis is loading the dataset", "ZMSCORE", Code::kUnavailable, "LOADING"},
  };
  for (const Case& one : cases) {
    const Error error = RedisProblem(one.words, one.command, "seen:u");
    EXPECT_EQ(error.code, one.code) << one.words;
    EXPECT_NE(error.message.find(one.remedy), std::string::npos) << error.message;
  }
}

TEST(RedisFilter, KnowsItsCommandsInAnyCase) {
  EXPECT_EQ(*ParseRedisQuestion("bf.mexists"), RedisQuestion::kBloom);
  EXPECT_EQ(*ParseRedisQuestion("ZMSCORE"), RedisQuestion::kSortedSet);
  EXPECT_EQ(*ParseRedisQuestion("SMIsMember"), RedisQuestion::kSet);
  EXPECT_EQ(ParseRedisQuestion("FLUSHALL").error().code, Code::kInvalidArgument);
}

TEST(RedisFilter, NamesAnAddressThatNobodyAnswersAt) {
  const auto filter = RedisFilter::Make({.address = "127.0.0.1:1"});
  ASSERT_FALSE(filter);
  EXPECT_EQ(filter.error().code, Code::kUnavailable);
  EXPECT_NE(filter.error().message.find("127.0.0.1:1"), std::string::npos);
  EXPECT_EQ(RedisFilter::Make({.address = "127.0.0.1:x"}).error().code, Code::kInvalidArgument);
}

CompareRequest RequestOf(const std::string& user) {
  CompareRequest request;
  request.user_id = user;
  request.filter = "feed";
  request.line = R"({"user_id":"u","items":["a","b"]})";
  request.items = {"a", "b"};
  return request;
}

TEST(RouteFilter, PostsTheLineAndReadsTheList) {
  const ScratchFolder folder;
  std::string asked;
  TinyServer server([&](int number, const std::string& request) {
    asked = request;
    if (number == 1) return TinyServer::Response(200, R"({"other":1})");
    if (number == 2) return TinyServer::Response(429, "{}");
    return TinyServer::Response(200, R"({"kept":["b"]})");
  });
  {
    RouteOptions options;
    options.url = server.base() + "/{filter}/{user}?x=1";
    options.kept = "/kept";
    options.headers_file = folder.Write("headers", "X-Token: t0ken\r\n\n");
    auto filter = RouteFilter::Make(options);
    ASSERT_TRUE(filter) << filter.error().message;
    const std::vector<CompareRequest> requests = {RequestOf("u/1"), RequestOf("u2"), RequestOf("u3")};
    const auto first = (*filter)->Ask(std::span(requests).first(1));
    ASSERT_TRUE(first && first->front());
    EXPECT_EQ(first->front()->dropped, (std::vector<bool>{true, false}));
    EXPECT_TRUE(asked.starts_with("POST /feed/u%2F1?x=1 HTTP/1.1")) << asked;
    EXPECT_NE(asked.find("X-Token: t0ken"), std::string::npos);
    EXPECT_TRUE(asked.ends_with(requests[0].line));
    const auto others = (*filter)->Ask(std::span(requests).subspan(1));
    ASSERT_TRUE(others);
    EXPECT_NE((*others)[0].error().message.find("nothing at /kept"), std::string::npos);
    EXPECT_NE((*others)[1].error().message.find("answers 429"), std::string::npos);
  }
}

TEST(RouteFilter, RefusesWrongOptionsWithoutShowingASecret) {
  const ScratchFolder folder;
  RouteOptions options;
  options.url = "http://127.0.0.1:1/x";
  EXPECT_FALSE(RouteFilter::Make(options)) << "no pointer";
  options.kept = "kept";
  EXPECT_FALSE(RouteFilter::Make(options)) << "no JSON pointer";
  options.kept = "/kept";
  EXPECT_TRUE(RouteFilter::Make(options));
  options.headers_file = folder.Write("headers", "t0ken\n");
  const auto filter = RouteFilter::Make(options);
  ASSERT_FALSE(filter);
  EXPECT_EQ(filter.error().message.find("t0ken"), std::string::npos);
  options = {};
  options.url = "ftp://x/";
  options.dropped = "/d";
  EXPECT_NE(RouteFilter::Make(options).error().message.find("--route: "), std::string::npos);
}

}  // namespace
}  // namespace seen
