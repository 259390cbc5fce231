#include "serve/routes.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "serve/unseen_body.h"
#include "unit/serve/pages_fixture.h"

namespace seen {
namespace {

using nlohmann::json;

constexpr std::string_view kModeration = "Bearer write-token-of-moderation";

class RoutesTest : public PagesTest {
 protected:
  /// Returns the problem document. Checks that the document is as RFC 9457 demands.
  static json ProblemOf(const HttpResponse& response) {
    EXPECT_EQ(response.content_type, "application/problem+json");
    const json problem = json::parse(response.body);
    EXPECT_EQ(problem.at("type"), "about:blank");
    EXPECT_EQ(problem.at("status"), response.status);
    EXPECT_EQ(problem.at("title"), std::string(ReasonPhrase(response.status)));
    EXPECT_FALSE(problem.at("detail").get<std::string>().empty());
    return problem;
  }

  static bool Names(const json& problem, const std::string& text) {
    return problem["detail"].get<std::string>().find(text) != std::string::npos;
  }
};

TEST_F(RoutesTest, GiveASnapshotsBytesAsTheyAre) {
  for (const auto* method : {"GET", "HEAD"}) {
    const Answered response = Ask(method, "/v1/filters/home/users/u1");
    EXPECT_EQ(response.status, 200U);
    EXPECT_EQ(response.content_type, "application/octet-stream");
    EXPECT_EQ(response.body, std::string("SEEN\0\xff\r\n", 8));
    EXPECT_EQ(Header(response, "Seen-As-Of"), "1763700000123; lag=17; age_ms=240");
    EXPECT_EQ(response.route, "/v1/filters/{filter}/users/{user}");
  }
}

TEST_F(RoutesTest, AskForASnapshotOfAnotherKindOrRate) {
  const std::string path = "/v1/filters/home/users/u1";
  EXPECT_EQ(Ask("GET", path).status, 200U);
  EXPECT_FALSE(query_.shape_asked.format);
  EXPECT_FALSE(query_.shape_asked.false_positive_rate);
  EXPECT_EQ(Ask("GET", path + "?format=cuckoo&fpr=1e-3").status, 200U);
  EXPECT_EQ(query_.shape_asked.format, SnapshotFormat::kCuckoo);
  EXPECT_EQ(query_.shape_asked.false_positive_rate, 0.001);
  EXPECT_EQ(Ask("GET", path + "?format=auto").status, 200U);
  EXPECT_EQ(query_.shape_asked.format, SnapshotFormat::kAuto);
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"?format=blom", "format: \\\"blom\\\" is unknown; there are: auto, split_block_bloom"},
      {"?format=", "format: "},
      {"?fpr=0", "fpr: \\\"0\\\" isn't a number above 0 and at most 0.5"},
      {"?fpr=0.6", "fpr: "},
      {"?fpr=nan", "fpr: "},
      {"?fpr=1%25", "fpr: "},
      {"?fpr=0.1&fpr=0.2", "fpr: given twice"},
      {"?rate=0.1", "query: "},
  };
  for (const auto& [query, message] : wrong) {
    const Answered response = Ask("GET", path + query);
    EXPECT_EQ(response.status, 400U) << query;
    EXPECT_NE(response.body.find(message), std::string::npos) << query << ": " << response.body;
  }
}

TEST_F(RoutesTest, DecodeUserIds) {
  const std::string longest(512, 'x');
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"u1", "u1"},
      {"a%2Fb", "a/b"},
      {"a%2Fb%2Funseen", "a/b/unseen"},
      {"%E7%94%A8", "用"},
      {"100%25", "100%"},
      {"a+b", "a+b"},
      {"a%20b?fpr=0.1", "a b"},
      {longest, longest},
      {"a%3Fb", "a?b"},
      {"unseen", "unseen"},
      {"%2e%2E", ".."},
  };
  for (const auto& [encoded, user_id] : cases) {
    EXPECT_EQ(Get("/v1/filters/home/users/" + encoded).status, 200U) << encoded;
    EXPECT_EQ(query_.user_asked, user_id);
  }
}

TEST_F(RoutesTest, RefuseBadUserIds) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "user id: empty; it has 1 to 512 bytes"},
      {"/unseen", "user id: empty; it has 1 to 512 bytes"},
      {"%", "user id: bad percent-encoding at byte 0"},
      {"a%2", "user id: bad percent-encoding at byte 1"},
      {"a%zz", "user id: bad percent-encoding at byte 1"},
      {"%ff", "user id: not UTF-8 once percent-decoded"},
      {"\xff", "user id: not UTF-8 once percent-decoded"},
      {"%ED%A0%80/unseen", "user id: not UTF-8 once percent-decoded"},
      {std::string(513, 'x'), "user id: 513 bytes; it has 1 to 512 bytes"},
      {std::string(513, 'x') + "/segments", "user id: 513 bytes; it has 1 to 512 bytes"},
  };
  for (const auto& [user, detail] : cases) {
    const std::string target = "/v1/filters/home/users/" + user;
    const Answered response = Ask(user.ends_with("unseen") ? "POST" : "GET", target, R"({"items":["a"]})");
    EXPECT_EQ(response.status, 400U) << user;
    EXPECT_TRUE(ProblemOf(response)["detail"].get<std::string>().starts_with(detail)) << response.body;
  }
  EXPECT_EQ(Get("/v1/filters/%zz/users/u1").status, 400U);
}

TEST_F(RoutesTest, AnswerWhichItemsAreUnseenInTheOrderGiven) {
  const Answered response = Ask("POST", "/v1/filters/home/users/u1/unseen",
                                R"({"items":["z","a",7,8,"z","c","b"],"also_seen":["c"]})");
  EXPECT_EQ(response.status, 200U);
  EXPECT_EQ(response.content_type, "application/json");
  EXPECT_EQ(json::parse(response.body), json::parse(R"({"unseen":["z","8","b"]})"));
  EXPECT_EQ(Header(response, "Seen-As-Of"), "1763700000123; lag=17; age_ms=240");
  EXPECT_EQ(query_.also_asked, std::vector<std::string>{"c"});
  EXPECT_EQ(query_.created_asked, std::vector<uint32_t>());
}

TEST_F(RoutesTest, TellOfSimilarCandidatesWhereTheDaemonDoes) {
  query_.similar = {{0, {"a", SimilarReason::kNear}}};
  const Answered response =
      Ask("POST", "/v1/filters/home/users/u1/unseen", R"({"items":["z","b"],"one_per_group":true})");
  EXPECT_EQ(
      response.body,
      "{\"unseen\":[\"z\",\"b\"],\"similar\":[{\"item_id\":\"z\",\"like\":\"a\",\"because\":\"near\"}]}\n");
  EXPECT_TRUE(query_.one_per_group_asked);
}

TEST_F(RoutesTest, NameCandidatesByIdWhereTheyWereGivenWithTheirTime) {
  const Answered response =
      Ask("POST", "/v1/filters/home/users/u1/unseen",
          R"({"items":["z",{"id":"a","created_at":5000},{"id":8,"created_at":1763700000000},"b"]})");
  EXPECT_EQ(response.status, 200U);
  EXPECT_EQ(response.body, "{\"unseen\":[\"z\",\"8\",\"b\"]}\n");
  EXPECT_EQ(query_.created_asked, (std::vector<uint32_t>{0, 5, 1'763'700'000, 0}));
}

TEST_F(RoutesTest, RefuseABadQuestionWithThePathOfTheElement) {
  const Answered response = Ask("POST", "/v1/filters/home/users/u%201/unseen", R"({"items":["z",[]]})");
  EXPECT_EQ(response.status, 400U);
  const json problem = ProblemOf(response);
  EXPECT_EQ(problem["detail"],
            "$.items[1]: expected a string, an integer or {\"id\":...,\"created_at\":...}, found an array");
  EXPECT_EQ(problem["instance"], "/v1/filters/home/users/u%201/unseen");
}

TEST_F(RoutesTest, ShowAUsersSegments) {
  const Answered response = Get("/v1/filters/home/users/u%201/segments");
  EXPECT_EQ(response.status, 200U);
  EXPECT_EQ(Header(response, "Seen-As-Of"), "1763700000123; lag=17; age_ms=240");
  EXPECT_EQ(json::parse(response.body), json::parse(R"({
    "filter": "home", "user_id": "u 1", "partition": 3, "partition_time_ms": 1763700000123, "lag_messages": 17, "complete_since": null,
    "age_ms": 240, "items": 2, "bytes": 40, "removals": 0,
    "segments": [
      {"kind": "served", "day": "2024-10-04", "from_ms": 1728000300000, "to_ms": 1728000600000, "items": 1,
       "first_at_ms": 1728000301000, "last_at_ms": 1728000302000, "bytes": 20, "counts_until_ms": 1728002400000,
       "in_window": false},
      {"kind": "exposed", "day": "2024-10-04", "from_ms": 1728000000000, "to_ms": 1728086400000, "items": 2,
       "first_at_ms": 1728000000000, "last_at_ms": 1728086399000, "bytes": 31, "counts_until_ms": 1730678400000,
       "in_window": true},
      {"kind": "repeated", "day": "2024-10-04", "from_ms": 1728000000000, "to_ms": 1728086400000, "items": 2,
       "exposures": 5, "first_at_ms": 1728000000000, "last_at_ms": 1728000009000, "bytes": 33,
       "counts_until_ms": null, "in_window": false}]})"));
}

TEST_F(RoutesTest, GiveSegmentsInPagesToThoseWhoAsk) {
  const std::string path = "/v1/filters/home/users/u1/segments";
  EXPECT_FALSE(json::parse(Get(path).body).contains("next"));
  EXPECT_EQ(json::parse(Get(path + "?limit=2").body).at("next"), "+2");
  EXPECT_EQ(json::parse(Get(path + "?limit=2000&cursor=c").body).at("next"), "c+2000");
  for (const auto* wrong : {"?limit=0", "?limit=2001", "?limit=x", "?cursors=c"})
    EXPECT_EQ(Get(path + wrong).status, 400U) << wrong;
}

TEST_F(RoutesTest, MapTheErrorsOfTheFlowToStatuses) {
  const std::vector<std::pair<Code, unsigned>> cases = {
      {Code::kNotFound, 404}, {Code::kInvalidArgument, 400}, {Code::kUnavailable, 503},
      {Code::kCorrupt, 500},  {Code::kMalformed, 400},       {Code::kNoSpace, 503},
      {Code::kRefused, 503}};
  for (const auto& [code, status] : cases) {
    query_.error = Error{code, "partition 3 is catching up: 12000 messages behind"};
    for (const std::string page : {"", "/segments", "/unseen"}) {
      const Answered response =
          Ask(page == "/unseen" ? "POST" : "GET", "/v1/filters/home/users/u1" + page, R"({"items":["a"]})");
      EXPECT_EQ(response.status, status) << CodeName(code) << page;
      EXPECT_EQ(ProblemOf(response)["detail"], query_.error->message);
      EXPECT_EQ(Header(response, "Retry-After"), status == 503 ? "1" : "(none)");
      EXPECT_EQ(response.route, "/v1/filters/{filter}/users/{user}" + page);
    }
  }
}

TEST_F(RoutesTest, SayThatAFilterIsUnknown) {
  const Answered response = Get("/v1/filters/nope/users/u1");
  EXPECT_EQ(response.status, 404U);
  EXPECT_EQ(ProblemOf(response)["detail"], "no filter named \"nope\"");
}

TEST_F(RoutesTest, HaveNoOtherPages) {
  for (const std::string target :
       {"/nope", "/v1", "/v1/", "/v1/filters/home/users", "/v1/filters/home", "/v1/filters/home/users/u1/",
        "//", "/v1/filters/home/users/u1/unseen/x", "/healthz/", "/metricsx", "/Healthz", "*", "", "x", "?",
        "/v1/status/%2f"}) {
    const Answered response = Get(target);
    EXPECT_EQ(response.status, 404U) << target;
    EXPECT_EQ(response.route, kRouteNone);
    ProblemOf(response);
  }
}

TEST_F(RoutesTest, NameTheMethodsThatAreAllowed) {
  struct Case {
    std::string method, target, allow;
  };
  const std::vector<Case> cases = {
      {"POST", "/", "GET, HEAD"},
      {"DELETE", "/v1/status", "GET, HEAD"},
      {"get", "/healthz", "GET, HEAD"},  // methods are case-sensitive
      {"PUT", "/v1/filters/home/users/u1", "GET, HEAD"},
      {"GET", "/v1/filters/home/users/u1/unseen", "POST"},
      {"HEAD", "/v1/lost-ranges/acknowledge", "POST"},
  };
  for (const Case& c : cases) {
    const Answered response = Ask(c.method, c.target);
    EXPECT_EQ(response.status, 405U) << c.target;
    EXPECT_EQ(Header(response, "Allow"), c.allow) << c.target;
    ProblemOf(response);
  }
  EXPECT_EQ(query_.acknowledged, 0);
}

TEST_F(RoutesTest, AnswerWhichMethodsAPageTakes) {
  const std::pair<std::string, std::string> cases[] = {
      {"/metrics", "GET, HEAD, OPTIONS"},        {"/", "GET, HEAD, OPTIONS"},
      {"/v1/users/u1", "DELETE, OPTIONS"},       {"/v1/publish", "POST, OPTIONS"},
      {"*", "GET, HEAD, POST, DELETE, OPTIONS"},
  };
  for (const auto& [target, allow] : cases) {
    const Answered response = Asked(routes_, {"OPTIONS", target});
    EXPECT_EQ(response.status, 200U) << target;
    EXPECT_EQ(Header(response, "Allow"), allow) << target;
    EXPECT_EQ(Header(response, "Access-Control-Allow-Origin"), "(none)") << "no other origin may ask more";
  }
  EXPECT_EQ(Asked(routes_, {"OPTIONS", "/nowhere"}).status, 404U);
  EXPECT_EQ(change_.asked, 0);
}

TEST_F(RoutesTest, NameTheHeaderOfABodyThatIsEncoded) {
  for (const std::string target : {"/v1/filters/home/users/u1/unseen", "/v1/users/u1/removed"}) {
    HttpRequest head{"POST", target, R"({"items":["a"]})", "application/json"};
    head.encoding = "gzip";
    const Answered response = Asked(routes_, head);
    EXPECT_EQ(response.status, 415U) << target;
    EXPECT_NE(response.body.find("Content-Encoding: gzip"), std::string::npos) << response.body;
    EXPECT_EQ(Header(response, "Accept-Encoding"), "identity");
    head.encoding = "identity";
    EXPECT_LT(Asked(routes_, head).status, 300U) << target;
  }
}

TEST_F(RoutesTest, TakeNoChangeOfAWebPageElsewhere) {
  Routes routes(sources_, Gate({.hosts = {"seend.example.com,b.example", "seend-3.prod:8080"}}));
  const struct {
    std::string_view host, origin, type;
    unsigned status;
  } cases[] = {
      {"127.0.0.1:8080", "", "application/json", 202},
      {"127.0.0.1", "", "Application/JSON; charset=utf-8", 202},
      {"10.1.2.3:80", "", "application/json", 202},
      {"[::1]:8080", "", "application/json", 202},
      {"[fe80::1%25eth0]:8080", "", "application/json", 202},
      {"LocalHost:8080", "", "application/json", 202},
      {"localhost.", "", "application/json", 202},
      {"seend-3.prod:8080", "", "application/json", 202},
      {"seend.example.com", "", "application/json", 202},
      {"B.example:443", "", "application/json", 202},
      {"", "", "application/json", 202},  // no browser
      {"127.0.0.1:8080", "http://127.0.0.1:8080", "application/json", 202},
      {"127.0.0.1:8080", "https://seend.example.com", "application/json", 202},  // behind that proxy
      {"127.0.0.1:8080", "", "text/plain", 415},
      {"127.0.0.1:8080", "", "", 415},
      {"127.0.0.1:8080", "", "application/x-www-form-urlencoded", 415},
      {"127.0.0.1:8080", "", "application/jsonp", 415},
      {"evil.example", "", "application/json", 403},
      {"evil.example:8080", "", "application/json", 403},
      {"localhost.evil.example", "", "application/json", 403},
      {"127.0.0.1.evil.example", "", "application/json", 403},
      {"127.0.0.1:80@evil.example", "", "application/json", 403},
      {"[::1]evil.example", "", "application/json", 403},
      {"[evil.example]", "", "application/json", 403},
      {"seend.example.com.evil.example", "", "application/json", 403},
      {"127.0.0.1:8080", "http://evil.example", "application/json", 403},
      {"127.0.0.1:8080", "http://127.0.0.1:3000", "application/json", 403},  // another port, another origin
      {"127.0.0.1:8080", "http://localhost:8080", "application/json", 403},
      {"127.0.0.1:8080", "null", "application/json", 403},
      {"evil.example", "http://evil.example", "application/json", 403},  // DNS rebinding
  };
  int taken = 0;
  for (const auto& c : cases) {
    HttpRequest request{"POST", "/v1/publish", "", c.type};
    request.host = c.host;
    request.origin = c.origin;
    const Answered response = Asked(routes, request);
    EXPECT_EQ(response.status, c.status) << c.host << " " << c.origin << " " << c.type << response.body;
    if (c.status == 403) {
      EXPECT_NE(response.body.find("http.hosts"), std::string::npos) << "the remedy";
    }
    request.method = "DELETE";
    request.target = "/v1/users/u1";
    if (c.status != 415) {
      EXPECT_EQ(Asked(routes, request).status, c.status) << c.host;
      taken += c.status == 202 ? 1 : 0;
    }
    request.method = "GET";
    request.target = "/v1/status";
    EXPECT_EQ(Asked(routes, request).status, 200U) << "nothing changes";
  }
  EXPECT_EQ(change_.asked, taken);
  HttpRequest absolute{"DELETE", "http://evil.example/v1/users/u1"};
  absolute.host = "127.0.0.1";
  EXPECT_EQ(Asked(routes, absolute).status, 403U) << "the target goes before the header";
  absolute.target = "http://127.0.0.1/v1/users/u1";
  absolute.host = "evil.example";
  EXPECT_EQ(Asked(routes, absolute).status, 202U);
  HttpRequest bare{"DELETE", "/v1/users/u1"};
  bare.host = "127.0.0.1:8080";
  EXPECT_EQ(Asked(routes, bare).status, 202U)
      << "without a body there is no type; browsers ask before a DELETE";
  bare.content_type = "text/plain";
  EXPECT_EQ(Asked(routes, bare).status, 415U);
}

TEST_F(RoutesTest, EveryChangeNeedsJsonAndAKnownHost) {
  std::istringstream list(Get("/").body);
  int changes = 0;
  for (std::string method, address, rest; list >> method; std::getline(list, rest)) {
    if (method != "POST" && method != "DELETE") continue;
    list >> address;
    if (address.ends_with("/unseen") || address == "/v1/similar") continue;  // questions
    ++changes;
    for (size_t at = 0; (at = address.find('{')) != std::string::npos;)
      address.replace(at, address.find('}') - at + 1, "a");
    HttpRequest request{method, address, "{}", "text/plain"};
    request.host = "127.0.0.1:8080";
    EXPECT_EQ(Asked(routes_, request).status, 415U) << address;
    request.content_type = "application/json";
    request.host = "evil.example:8080";
    EXPECT_EQ(Asked(routes_, request).status, 403U) << address;
  }
  EXPECT_EQ(changes, 10);
  EXPECT_EQ(change_.asked, 0);
}

TEST_F(RoutesTest, AuditEveryChangeWhoeverIsRefusedMeanwhile) {
  const auto table = TokenTable::Parse("write moderation write-token-of-moderation");
  ASSERT_TRUE(table);
  const auto tokens = std::make_shared<const TokenTable>(*table);
  Routes routes(sources_, Gate({.tokens = [&] { return tokens; }}));
  testing::internal::CaptureStderr();
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(Asked(routes, {"DELETE", "/v1/users/u1"}).status, 401U);
    EXPECT_EQ(
        Asked(routes, {.method = "DELETE", .target = "/v1/users/%zz", .authorization = kModeration}).status,
        400U);
  }
  const HttpRequest change{.method = "DELETE", .target = "/v1/users/u1", .authorization = kModeration};
  change_.place = Fail(Code::kUnavailable, "the brokers didn't acknowledge the event within 5 s");
  for (int i = 0; i < 30; ++i) EXPECT_EQ(Asked(routes, change).status, 503U);  // maybe written
  change_.place = ChangePlace{3, 41};
  EXPECT_EQ(Asked(routes, change).status, 202U);
  const std::string log = testing::internal::GetCapturedStderr();
  const auto lines = [&](std::string_view words) {
    int count = 0;
    for (size_t at = 0; (at = log.find(words, at)) != std::string::npos; at += words.size()) ++count;
    return count;
  };
  EXPECT_EQ(lines("status=503"), 30);
  EXPECT_EQ(lines("status=202"), 1);
  EXPECT_LE(lines("status=401"), 20);
  EXPECT_LE(lines("status=400"), 20);
}

TEST_F(RoutesTest, TakeTargetsInAbsoluteForm) {
  EXPECT_EQ(Get("http://127.0.0.1:8080/healthz").status, 200U);
  EXPECT_EQ(Get("http://127.0.0.1:8080").body, Get("/").body);
  EXPECT_EQ(Get("http://127.0.0.1:8080?x").body, Get("/").body);
  EXPECT_EQ(Get("/healthz?verbose").status, 200U);
}

TEST_F(RoutesTest, RefuseARequestBeforeItsBody) {
  const struct {
    std::string_view method, target, content_type;
    unsigned status;  // 0: the server takes the body
    size_t bytes_max;
  } cases[] = {
      {"POST", "/v1/filters/home/users/u1/unseen", "", 0, 4 << 20},
      {"POST", "/v1/filters/home/users/u1/unseen?max_age_ms=5", "", 0, 4 << 20},
      {"POST", "/v1/filters/home/users/u1/unseen?max_age_ms=x", "", 400, 0},
      {"POST", "/v1/filters/other/users/u1/unseen", "", 404, 0},
      {"POST", "/v1/filters/home/users/%zz/unseen", "", 400, 0},
      {"PUT", "/v1/filters/home/users/u1/unseen", "", 405, 0},
      {"POST", "/v1/users/u1/removed", "application/json", 0, 1 << 20},
      {"POST", "/v1/users/u1/removed", "text/plain", 415, 0},
      {"POST", "/v1/users//removed", "application/json", 400, 0},
      {"POST", "/v1/similar", "", 404, 0},  // this daemon groups no items
      {"POST", "/nowhere", "", 404, 0},
      {"GET", "/v1/status", "", 0, 64 << 10},
      {"POST", "/v1/status", "", 405, 0},
  };
  for (const auto& c : cases) {
    const auto refusal = RefusedBody(routes_, {c.method, c.target, {}, c.content_type});
    EXPECT_EQ(refusal ? refusal->status : 0, c.status) << c.target;
    if (c.status == 0) {
      EXPECT_EQ(routes_.Find({c.method, c.target}).body_bytes_max, c.bytes_max) << c.target;
    } else {
      const std::string_view body = c.target == "/v1/similar" ? R"({"text":"a"})" : R"({"items":["a"]})";
      EXPECT_EQ(Ask(c.method, c.target, body, c.content_type).status, c.status)
          << c.target << ": the answer is the same";
    }
  }
  query_.error = Error{Code::kUnavailable, "partition 3 is catching up"};
  const HttpRequest head{"POST", "/v1/filters/home/users/u1/unseen"};
  const auto refusal = RefusedBody(routes_, head);
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->status, 503U);
  EXPECT_EQ(routes_.Find(head).route, "/v1/filters/{filter}/users/{user}/unseen");
}

TEST_F(RoutesTest, StateTheirAge) {
  query_.as_of = {{1'763'700'000'123}, std::nullopt, std::nullopt};
  EXPECT_EQ(Header(Get("/v1/filters/home/users/u1"), "Seen-As-Of"),
            "1763700000123; lag=unknown; age_ms=unknown");
  const json unknown = json::parse(Get("/v1/filters/home/users/u1/segments").body);
  EXPECT_TRUE(unknown.at("lag_messages").is_null());
  EXPECT_TRUE(unknown.at("age_ms").is_null());
  query_.as_of = {{1'763'700'000'123}, 17, std::chrono::milliseconds(5)};
  const json known = json::parse(Get("/v1/filters/home/users/u1/segments").body);
  EXPECT_EQ(known.at("lag_messages"), 17);
  EXPECT_EQ(known.at("age_ms"), 5);
}

TEST_F(RoutesTest, StateSinceWhenTheyAreComplete) {
  const std::string user = "/v1/filters/home/users/u1";
  EXPECT_EQ(Header(Get(user), "Seen-Complete-Since"), "(none)");
  EXPECT_TRUE(json::parse(Get(user + "/segments").body).at("complete_since").is_null());
  query_.as_of.complete_since = TimeMs{1'763'600'000'000};
  for (const auto& [method, page, body] : {std::array<std::string, 3>{"GET", user, ""},
                                           {"POST", user + "/unseen", R"({"items":["a"]})"},
                                           {"GET", user + "/segments", ""}}) {
    EXPECT_EQ(Header(Ask(method, page, body), "Seen-Complete-Since"), "1763600000000") << page;
  }
  EXPECT_EQ(json::parse(Get(user + "/segments").body).at("complete_since"), 1'763'600'000'000);
}

TEST_F(RoutesTest, RefuseToAnswerFromAStateThatMayBeTooOld) {
  const struct {
    std::string_view method, page, body;
  } pages[] = {{"GET", "/v1/filters/home/users/u1?", ""},
               {"POST", "/v1/filters/home/users/u1/unseen?", R"({"items":["a"]})"},
               {"GET", "/v1/filters/home/users/u1/segments?", ""},
               {"GET", "/v1/filters/home/users/u1/exposures?limit=3&", ""},
               {"GET", "/v1/filters/home/users/u1/why?item=a&", ""}};
  for (const auto& page : pages) {
    const auto ask = [&](const std::string& parameter) {
      return Ask(page.method, std::string(page.page) + parameter, page.body);
    };
    query_.as_of.age = std::chrono::milliseconds(1000);
    EXPECT_EQ(ask("max_age_ms=1000").status, 200U) << page.page;
    const Answered late = ask("max_age_ms=999");
    EXPECT_EQ(late.status, 503U) << page.page;
    EXPECT_TRUE(Names(ProblemOf(late), "may be 1000 ms old, more than max_age_ms = 999"));
    EXPECT_EQ(Header(late, "Seen-As-Of"), "1763700000123; lag=17; age_ms=1000");
    EXPECT_NE(Header(late, "Retry-After"), "(none)");
    query_.as_of.age.reset();
    EXPECT_TRUE(Names(ProblemOf(ask("max_age_ms=1000000")), "age of this state isn't known"));
    EXPECT_EQ(ask("").status, 200U) << "who doesn't ask for an age gets what is known";
    for (const std::string wrong : {"max_age_ms=0", "max_age_ms=-1", "max_age_ms=1.5", "max_age_ms=",
                                    "max_age_ms=1000000001", "max_age_ms=5&max_age_ms=5", "max_age=5"}) {
      EXPECT_EQ(ask(wrong).status, 400U) << page.page << wrong;
    }
  }
}

TEST_F(RoutesTest, TellHealthAndReadinessApart) {
  query_.status.not_ready_reason = "no broker reachable at 127.0.0.1:9092";
  EXPECT_EQ(Get("/healthz").status, 200U);
  const Answered response = Get("/readyz");
  EXPECT_EQ(response.status, 503U);
  EXPECT_EQ(Header(response, "Retry-After"), "1");
  EXPECT_EQ(ProblemOf(response)["detail"], query_.status.not_ready_reason);
  query_.status.ready = true;
  EXPECT_EQ(Get("/readyz").status, 200U);
  EXPECT_EQ(Get("/readyz").body, "ready\n");
  query_.status.troubles = {"partition 3 is refused: no state", "partition 4 is held: no space"};
  EXPECT_EQ(Get("/readyz").status, 200U);
  EXPECT_EQ(Get("/readyz").body, "ready\npartition 3 is refused: no state\npartition 4 is held: no space\n");
}

TEST_F(RoutesTest, ServeMetricsAndTheListOfPages) {
  EXPECT_EQ(Get("/metrics").content_type, "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_EQ(Get("/metrics").body, "seen_ready 1\n");
  EXPECT_NE(Get("/").body.find("/v1/filters/{filter}/users/{user}/unseen"), std::string::npos);
}

TEST_F(RoutesTest, AreAllDocumented) {
  std::ifstream file(SEEN_SOURCE_DIR "/docs/HTTP.md");
  std::ostringstream text;
  text << file.rdbuf();
  const std::string page = text.str();
  std::istringstream list(Get("/").body);
  size_t addresses = 0;
  for (std::string method, address, rest; list >> method; std::getline(list, rest)) {
    if (method != "GET" && method != "POST" && method != "DELETE") continue;
    list >> address;
    ++addresses;
    EXPECT_NE(page.find("`" + address + "`"), std::string::npos) << address;
  }
  EXPECT_EQ(addresses, 25U);
}

TEST_F(RoutesTest, PublishEverythingAnew) {
  EXPECT_EQ(Ask("GET", "/v1/publish").status, 405U);
  const Answered answer = Ask("POST", "/v1/publish");
  EXPECT_EQ(answer.status, 202U);
  EXPECT_EQ(answer.body, "{\"partitions\":2}\n");
  query_.error = Error{Code::kNotFound, "no filter publishes"};
  EXPECT_EQ(Ask("POST", "/v1/publish").status, 404U);
}

TEST_F(RoutesTest, PromotesByJsonAlone) {
  EXPECT_EQ(Ask("GET", "/v1/promote").status, 405U);
  EXPECT_EQ(Ask("POST", "/v1/promote", {}, "text/plain").status, 415U)
      << "a page of another origin could send it";
  EXPECT_EQ(change_.asked, 0);
}

TEST_F(RoutesTest, AcknowledgeLostRanges) {
  EXPECT_EQ(Ask("POST", "/v1/lost-ranges/acknowledge").status, 200U);
  EXPECT_EQ(query_.acknowledged, 1);
}

TEST_F(RoutesTest, ShowEveryFieldOfTheStatus) {
  query_.status = BusyStatus();
  const Answered response = Get("/v1/status");
  EXPECT_EQ(response.status, 200U);
  const json status = json::parse(response.body);
  json expected = json::parse(R"({
    "version": "0.1.0", "librdkafka_version": "2.0.2", "rocksdb_version": "7.8.3", "store_version": 1, "ready": true, "not_ready_reason": "", "troubles": ["partition 4 of \"exposures\" is refused: no state"], "started_at_ms": 1763000000000,
    "brokers": "127.0.0.1:9092", "embedded_kafka": false, "brokers_reachable": true, "instance_id": "host-1", "role": "replica", "owner_group": "seend-a",
    "topic": "exposures", "partitions_total": 2,
    "partitions_refused": [{"partition": 4, "reason": "no state", "since_ms": 1763700000000}],
    "partitions_unowned": [5, 6],
    "open_transactions": [{"partition": 0, "offset": 100, "messages": 17, "since_ms": 1763700000000}],
    "state_topic": {"topic": "seen-state", "problem": "why",
      "streams": [{"partition": 4, "epoch": 7, "base_at": null, "sent_to": 90, "runs": 3, "bases": 1,
                   "bytes": 1234, "dropped_changes": 2, "undelivered_runs": 5, "foreign_records": 6,
                   "refused_records": 8, "problem": "no base"}],
      "restores": [{"partition": 5, "share": 0.25, "bytes": 99, "seconds": 3.0, "seconds_left": 9.0},
                   {"partition": 6, "share": 0.0, "bytes": 0, "seconds": 1.0, "seconds_left": null}]},
    "rekeying": {"source_topic": "raw", "group_id": "seend-rekey", "caught_up": false,
      "problem": "4 messages to re-key", "lag_messages": 17, "partitions_refused": [], "partitions_unowned": [7],
      "open_transactions": [],
      "partitions": [
      {"partition": 4, "assigned": true, "committed_offset": 88, "high_watermark": 100, "lag_messages": 12,
       "lost_messages": 3, "reason": ""},
      {"partition": 5, "assigned": false, "committed_offset": null, "high_watermark": 5, "lag_messages": 5,
       "lost_messages": 0, "reason": ""}]},
    "items": {"topic": "items", "ordered_topic": "items-in-order", "group_id": "seend-items",
      "problem": "partition 0 is catching_up",
      "ordering": {"group_id": "seend-rekey", "caught_up": false, "problem": "4 messages to re-key",
                   "lag_messages": 17, "rejected": {"not_json": 1}, "partitions_refused": [],
                   "partitions_unowned": [7], "open_transactions": []},
      "partitions_refused": [], "partitions_unowned": [], "open_transactions": [],
      "partitions": [{"partition": 0, "state": "catching_up", "reason": "5 items are still to be read",
        "next_offset": 95, "checkpoint_offset": 80, "high_watermark": 100, "lag_messages": 5, "lost_messages": 6,
        "items": 112, "bytes": 113, "read": 101, "copies": 102, "grouped": 103, "deleted": 104, "moved": 105,
        "no_text": 106, "cut_texts": 114, "too_old": 107, "times_corrected": 117,
        "rejected": {"not_json": 2}, "compared": 109, "candidates": 108, "lists_cut": 110, "candidates_cut": 111, "groups_sent": 115, "checkpoints": 116,
        "checkpoint_seconds": 1.5}],
      "groups": {"topic": "item-groups", "problem": "", "lag_messages": 201, "records": 202, "unreadable": 203,
        "rows": 204, "bytes": 205, "cache_bytes": 206, "disk_reads": 207, "errors": 208, "too_far_ahead": 209}},
    "topic_problems": [
      {"topic": "filters", "problem": "missing", "text": "filters is missing"},
      {"topic": "raw", "problem": "retention.bytes", "text": "raw is cut"}],
    "losses": [
      {"topic": "exposures", "events": 200, "events_per_s": 3.5, "newest_event_at_ms": 1763699000000,
       "causes": [{"cause": "too_old", "lost": 50, "share": 0.25, "share_max": 0.05, "trouble": "old"}]},
      {"topic": "raw", "events": 0, "events_per_s": null, "newest_event_at_ms": null,
       "causes": [{"cause": "skipped", "lost": 0, "share": 0.0, "share_max": 0.99, "trouble": ""}]}],
    "partitions": [{
      "partition": 0, "state": "ready", "reason": "", "answers": true, "assigned": true, "age_ms": 1500, "next_offset": 100, "checkpoint_offset": 90,
      "low_watermark": 0, "high_watermark": 117, "lag_messages": 17, "partition_time_ms": 1763700000123,
      "republish": {"sweeping": true, "all_requested": true, "awaits_checkpoint": true,
                    "swept_day": "2025-11-21", "users_made_due": 12, "endings": 7},
      "unexposed": {"published": 21, "resolved": 22, "retried": 23, "outstanding": 24},
      "updates": {"records": 31, "bytes": 32, "items": 33, "gaps": 34, "foreign_records": 35,
        "outstanding_bytes": 36, "sent_to": 37, "problem": "the topic is away"},
      "refresh": {"rounds": 41, "users": 42, "is_paced": true, "is_late": false, "published_age_ms": 43000},
      "retention_headroom_s": 3600.5, "tail_bytes": 4096, "marks_outstanding": 5, "published_to": 80, "replays": ["run-1"],
      "misrouted": 2,
      "misrouted_last": {"offset": 42, "expected_partition": 1},
      "lost_ranges": [{"from_offset": 10, "to_offset": 20, "messages": 10, "noticed_at_ms": 1763600000000}],
      "filters": [{"filter": "home", "complete_since": 1763600000000}, {"filter": "video", "complete_since": null}],
      "last_checkpoint_at_ms": 1763699999000,
      "last_checkpoint": {"next_offset": 90, "users": 7, "bytes": 2048, "marks_set": 3, "marks_cleared": 1,
                          "journal_rows": 0, "duration_ms": 12},
      "store": {"bytes": 1000000, "level0_files": 4, "compaction_pending_bytes": 5000, "block_cache_hits": 900,
                "block_cache_misses": 100, "journal_bytes": 0, "journal_days": 0},
      "heaviest_users": [{"filter": "home", "items": 4000}, {"filter": "video", "user_id_start": "u2", "items": 17}],
      "users_at_daily_limit": 3
    }, {
      "partition": 1, "state": "opening", "reason": "partition 1 is being opened", "answers": false, "assigned": false,
      "age_ms": null, "next_offset": 0,
      "checkpoint_offset": 0, "low_watermark": null, "high_watermark": null, "lag_messages": null,
      "republish": {"sweeping": false, "all_requested": false, "awaits_checkpoint": false,
                    "swept_day": null, "users_made_due": 0, "endings": 0}, "unexposed": null, "updates": null, "refresh": null,
      "partition_time_ms": 0, "retention_headroom_s": null, "tail_bytes": 0, "marks_outstanding": 0,
      "published_to": null, "replays": [], "misrouted": 0, "misrouted_last": null, "lost_ranges": [], "filters": [], "last_checkpoint_at_ms": null,
      "last_checkpoint": null,
      "store": {"bytes": 0, "level0_files": 0, "compaction_pending_bytes": 0, "block_cache_hits": 0,
                "block_cache_misses": 0, "journal_bytes": 0, "journal_days": 0},
      "heaviest_users": [], "users_at_daily_limit": 0
    }]})");
  json& example = expected["partitions"][0]["misrouted_last"];
  example["user_id_start"] = "user-\xEF\xBF\xBD";
  expected["partitions"][0]["heaviest_users"][0]["user_id_start"] = "user-\xEF\xBF\xBD";
  example["remedy"] = status["partitions"][0]["misrouted_last"]["remedy"];
  EXPECT_NE(example["remedy"].get<std::string>().find("input.partitioner"), std::string::npos);
  EXPECT_EQ(status, expected) << json::diff(expected, status).dump(2);
}

TEST_F(RoutesTest, EraseAUser) {
  const Answered response = Ask("DELETE", "/v1/users/%E7%94%A8%2F1");
  EXPECT_EQ(response.status, 202U);
  EXPECT_EQ(response.content_type, "application/json");
  EXPECT_EQ(json::parse(response.body), (json{{"partition", 3}, {"offset", 41}}));
  EXPECT_EQ(response.route, "/v1/users/{user}");
  EXPECT_EQ(change_.user_asked, "用/1");
  EXPECT_FALSE(change_.removed);
  EXPECT_EQ(Get("/v1/users/u1").status, 405U);
  EXPECT_EQ(Header(Get("/v1/users/u1"), "Allow"), "DELETE");
  EXPECT_EQ(Ask("DELETE", "/v1/users/" + std::string(513, 'x')).status, 400U);
  EXPECT_EQ(Ask("DELETE", "/v1/users/").status, 400U);
  EXPECT_EQ(change_.asked, 1);
}

TEST_F(RoutesTest, SayWhenTheNewestThingOfAUserWas) {
  EXPECT_EQ(Get("/v1/users/u1/newest").body, "{\"newest_at_ms\":null}\n");
  query_.newest = TimeMs{5'000};
  const Answered response = Get("/v1/users/%E7%94%A8%2F1/newest?until=5000&max_age_ms=240");
  EXPECT_EQ(response.body, "{\"newest_at_ms\":5000}\n");
  EXPECT_EQ(response.content_type, "application/json");
  EXPECT_EQ(Header(response, "Seen-As-Of"), "1763700000123; lag=17; age_ms=240");
  EXPECT_EQ(query_.user_asked, "用/1");
  EXPECT_EQ(Get("/v1/users/u1/newest?until=4999").body, "{\"newest_at_ms\":null}\n");
  EXPECT_EQ(Get("/v1/users/u1/newest?max_age_ms=239").status, 503U);
  for (const char* bad : {"?until=-1", "?until=x", "?since=1"})
    EXPECT_EQ(Get(std::string("/v1/users/u1/newest") + bad).status, 400U) << bad;
  EXPECT_EQ(Get("/v1/users//newest").status, 400U);
}

TEST_F(RoutesTest, AChangeReachesToTheNewestThingOfTheUser) {
  query_.newest = TimeMs{FakeChange::kTimeMax.value};
  const Answered erased = Ask("DELETE", "/v1/users/u1");
  EXPECT_EQ(change_.newest_asked, FakeChange::kTimeMax);
  EXPECT_EQ(Header(erased, "Seen-Changed-Until"), "7");
  EXPECT_EQ(Header(erased, "Seen-As-Of"), "1763700000123; lag=17; age_ms=240");
  query_.newest = TimeMs{FakeChange::kTimeMax.value + 1};  // a false claim
  Ask("POST", "/v1/users/u1/removed", R"({"items":["a"]})");
  EXPECT_EQ(change_.newest_asked, TimeMs{0});
  query_.error = Error{Code::kUnavailable, "catching up"};
  const Answered by_clock = Ask("DELETE", "/v1/users/u1");
  EXPECT_EQ(by_clock.status, 202U);
  EXPECT_EQ(Header(by_clock, "Seen-As-Of"), "(none)");
}

TEST(ChangeTime, IsTheClocksUnlessTheUserHasSomethingNewer) {
  constexpr TimeMs kWall{100 * kMsPerDay};
  EXPECT_EQ(ChangeTime(kWall, {0}), kWall);
  EXPECT_EQ(ChangeTime(kWall, {kWall.value - 1}), kWall);
  EXPECT_EQ(ChangeTime(kWall, {kWall.value + 25 * 3'600'000}).value, kWall.value + 25 * 3'600'000);
  EXPECT_EQ(ChangeTime(kWall, {kWall.value + 100 * kMsPerDay}).value, kWall.value + 2 * kMsPerDay);
}

TEST_F(RoutesTest, TakeItemsBack) {
  const Answered response = Ask("POST", "/v1/users/u1/removed", R"({"items":["a\u0062",7,"曝"]})",
                                "Application/JSON; charset=utf-8");
  EXPECT_EQ(response.status, 202U) << response.body;
  EXPECT_EQ(change_.user_asked, "u1");
  EXPECT_EQ(change_.removed, (std::vector<std::string>{"ab", "7", "曝"}));
  EXPECT_EQ(Get("/v1/users/u1/removed").status, 405U);
}

TEST_F(RoutesTest, RefuseBadRemovals) {
  std::string many = "{\"items\":[0";
  for (int i = 1; i <= 1000; ++i) many += "," + std::to_string(i);
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "body: not JSON"},
      {"[]", "$: expected an object"},
      {"{}", "$.items: missing"},
      {R"({"items":[]})", "$.items: empty"},
      {R"({"items":"a"})", "$.items: expected an array, found string"},
      {R"({"items":["a",""]})", "$.items[1]: empty"},
      {R"({"items":["a",[["x"]]]})", "$.items[1]: expected a string or a 64-bit integer, found array"},
      {R"({"items":[1.5]})", "$.items[0]: expected a string or a 64-bit integer, found another number"},
      {R"({"items":[18446744073709551616]})",
       "$.items[0]: expected a string or a 64-bit integer, found another"},
      {R"({"items":[null]})", "$.items[0]: expected a string or a 64-bit integer, found null"},
      {R"({"items":["a"],"items":["b"]})", "$.items: given twice"},
      {R"({"items":["a"],"scene":"home"})", "$: unknown key \"scene\""},
      {"{\"items\":[\"\xff\"]}", "body: not JSON"},
      {R"({"items":[")" + std::string(513, 'x') + "\"]}", "$.items[0]: 513 bytes"},
      {many + "]}", "$.items: 1001 items, more than 1000"},
      {std::string(500'000, '['), "body: not JSON"},
  };
  for (const auto& [body, detail] : cases) {
    const Answered response = Ask("POST", "/v1/users/u1/removed", body);
    EXPECT_EQ(response.status, 400U) << body.substr(0, 80);
    const auto said = ProblemOf(response).at("detail").get<std::string>();
    EXPECT_TRUE(said.starts_with(detail)) << said;
  }
  EXPECT_EQ(ProblemOf(Ask("POST", "/v1/users/u1/removed", R"({"items":["a"]})", "text/plain"))["status"],
            415);
  EXPECT_EQ(change_.asked, 0);
}

TEST_F(RoutesTest, SayWhyAChangeWasNotTaken) {
  change_.place = Fail(Code::kUnavailable, "the brokers didn't acknowledge it");
  Answered response = Ask("DELETE", "/v1/users/u1");
  EXPECT_EQ(ProblemOf(response)["detail"], "the brokers didn't acknowledge it");
  EXPECT_EQ(response.status, 503U);
  EXPECT_EQ(Header(response, "Retry-After"), "1");
  change_.place = Fail(Code::kNotFound, "topic \"exposures\": unknown");
  EXPECT_EQ(Ask("DELETE", "/v1/users/u1").status, 503U);
  change_.place = Fail(Code::kInvalidArgument, "too large");
  EXPECT_EQ(Ask("POST", "/v1/users/u1/removed", R"({"items":["a"]})").status, 400U);
}

}  // namespace
}  // namespace seen
