// Requests that another daemon answers, over real sockets.
#include "serve/forwarder.h"

#include <future>
#include <thread>

#include "serve/http_message.h"
#include "unit/serve/http_server_fixture.h"
#include "unit/serve/pages_fixture.h"

namespace seen {
namespace {

using std::chrono::milliseconds;

class ForwarderTest : public HttpServerTest {
 protected:
  static Forwarder::Options Options() {
    Forwarder::Options options;
    options.allows = [](std::string_view) { return true; };
    options.instance = "seend-1";
    options.token = "12345678";
    return options;
  }
  std::string Address() const { return "127.0.0.1:" + std::to_string(server_->port()); }
  ForwardedRequest Request(milliseconds deadline = milliseconds(5'000)) const {
    return {Address(), "POST", "/a?b=c", "body", "application/json", deadline};
  }
  static std::future<HttpResponse> Ask(Forwarder& forwarder, ForwardedRequest request) {
    auto promise = std::make_shared<std::promise<HttpResponse>>();
    forwarder.Forward(std::move(request),
                      [promise](HttpResponse response) { promise->set_value(std::move(response)); });
    return promise->get_future();
  }

  // A handler that waits for `gone_` holds its request until the test sets `go_`.
  std::promise<void> go_;
  std::shared_future<void> gone_{go_.get_future()};
};

TEST_F(ForwarderTest, PassesOnWhatWasAskedAndWhatIsAnswered) {
  Start({}, [](const HttpRequest& request) {
    HttpResponse response = Echo(request);
    response.status = 404;
    response.body += " " + std::string(request.content_type) + " " + std::string(request.hop) + " " +
                     std::string(request.token);
    response.headers = {{"Seen-As-Of", "5; lag=0; age_ms=1"}, {"Seen-Answered-By", "seend-2"}, {"X", "y"}};
    return response;
  });
  Forwarder forwarder(Options());
  for (int i = 0; i < 3; ++i) {
    const HttpResponse response = Ask(forwarder, Request()).get();
    EXPECT_EQ(response.status, 404u);
    EXPECT_EQ(response.body, "POST /a?b=c body application/json seend-1 12345678");
    EXPECT_EQ(response.content_type, "text/plain");
    EXPECT_EQ(Header(response, "Seen-As-Of"), "5; lag=0; age_ms=1");
    EXPECT_EQ(Header(response, "Seen-Answered-By"), "seend-2");
    EXPECT_EQ(Header(response, "X"), "(none)");
  }
  EXPECT_EQ(forwarder.figures().answered, 3u);
}

TEST_F(ForwarderTest, GivesTheLengthThatAHeadWasAnswered) {
  Start({}, [](const HttpRequest&) {
    HttpResponse response;
    response.body.assign(199, 'x');
    return response;
  });
  Forwarder forwarder(Options());
  for (int i = 0; i < 2; ++i) {  // the second one on a kept connection
    ForwardedRequest request = Request();
    request.method = "HEAD";
    request.body.clear();
    const HttpResponse response = Ask(forwarder, std::move(request)).get();
    std::string wire;
    AppendResponse(response, {.head = true}, wire);
    EXPECT_NE(wire.find("\r\nContent-Length: 199\r\n"), std::string::npos) << wire;
    EXPECT_TRUE(wire.ends_with("\r\n\r\n"));
  }
  EXPECT_EQ(forwarder.figures().failed, 0u);
}

TEST_F(ForwarderTest, NamesWhomItAsksFor) {
  Start({}, [](const HttpRequest& request) {
    HttpResponse response;
    response.body = std::string(request.client);
    return response;
  });
  Forwarder forwarder(Options());
  ForwardedRequest request = Request();
  request.client = "10.0.0.7";
  EXPECT_EQ(Ask(forwarder, request).get().body, "10.0.0.7");
}

TEST_F(ForwarderTest, AsksAgainWhereAKeptConnectionWasClosed) {
  HttpOptions options;
  options.idle_timeout = milliseconds(50);
  Start(options);
  Forwarder forwarder(Options());
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(Ask(forwarder, Request()).get().status, 200u);
    std::this_thread::sleep_for(milliseconds(120));
  }
  EXPECT_EQ(forwarder.figures().failed, 0u);
}

TEST_F(ForwarderTest, SaysThatNobodyListens) {
  Start();
  const ForwardedRequest request = Request();
  server_.reset();
  Forwarder forwarder(Options());
  const HttpResponse response = Ask(forwarder, request).get();
  EXPECT_EQ(response.status, 503u);
  EXPECT_NE(response.body.find(request.address), std::string::npos) << response.body;
  EXPECT_NE(Header(response, "Retry-After"), "(none)");
  EXPECT_EQ(forwarder.figures().failed, 1u);
  ForwardedRequest named = request;
  named.address = "no-such-host.invalid:80";
  EXPECT_EQ(Ask(forwarder, named).get().status, 503u);
}

TEST_F(ForwarderTest, WaitsNoLongerThanItsDeadline) {
  Start({}, [gone = gone_](const HttpRequest& request) {
    gone.wait();
    return Echo(request);
  });
  {
    Forwarder forwarder(Options());
    const HttpResponse response = Ask(forwarder, Request(milliseconds(50))).get();
    EXPECT_EQ(response.status, 503u);
    EXPECT_NE(response.body.find("no answer within 50 ms"), std::string::npos) << response.body;
    EXPECT_TRUE(forwarder.IsSilent(Request().address));
  }
  go_.set_value();
}

TEST_F(ForwarderTest, SendsNoMoreThanSoManyAtATime) {
  HttpOptions server;
  server.threads = 4;
  Start(server, [gone = gone_](const HttpRequest& request) {
    gone.wait();
    return Echo(request);
  });
  Forwarder::Options options = Options();
  options.under_way_max = 2;
  Forwarder forwarder(options);
  std::vector<std::future<HttpResponse>> asked;
  for (int i = 0; i < 2; ++i) asked.push_back(Ask(forwarder, Request()));
  EXPECT_EQ(Ask(forwarder, Request()).get().status, 503u);
  EXPECT_EQ(forwarder.figures().refused, 1u);
  go_.set_value();
  for (auto& one : asked) EXPECT_EQ(one.get().status, 200u);
  EXPECT_EQ(Ask(forwarder, Request()).get().status, 200u) << "there is room again";

  options = Options();
  options.bytes_max = 3;
  Forwarder small(options);
  EXPECT_EQ(Ask(small, Request()).get().status, 503u);
}

TEST_F(ForwarderTest, ReadsNoLongerAnswersThanItHasSpaceFor) {
  Start({}, [](const HttpRequest& request) {
    HttpResponse response;
    response.body.assign(request.body.size() * 100, 'x');
    return response;
  });
  Forwarder::Options options = Options();
  options.bytes_max = 450;
  Forwarder forwarder(options);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(Ask(forwarder, Request()).get().body.size(), 400u) << "there is space again";
    ForwardedRequest request = Request();
    request.body += "1";
    const HttpResponse response = Ask(forwarder, std::move(request)).get();
    EXPECT_EQ(response.status, 503u);
    EXPECT_NE(response.body.find("the answer has 500 bytes"), std::string::npos) << response.body;
  }
  EXPECT_EQ(forwarder.figures().failed, 0u);
  EXPECT_EQ(forwarder.figures().refused, 3u);
  EXPECT_FALSE(forwarder.IsSilent(Address()));
}

TEST_F(ForwarderTest, AnswersWhoWaitsWhenItStops) {
  Start({}, [gone = gone_](const HttpRequest& request) {
    gone.wait();
    return Echo(request);
  });
  auto forwarder = std::make_unique<Forwarder>(Options());
  auto asked = Ask(*forwarder, Request());
  forwarder.reset();
  EXPECT_EQ(asked.get().status, 503u);
  go_.set_value();
}

class FakeRoutes final : public RoutePort {
 public:
  RoutesAnswer Routes() const override {
    return {
        "exposures", "murmur2", 2, {{1, "seend-2", "host:80", "ready", 8, 3, 0, milliseconds(40), false}}};
  }
  std::vector<std::string> AddressesFor(std::string_view user_id) const override {
    if (user_id == "u3") return {"away:80", "host:80"};
    return user_id == "u1" ? std::vector<std::string>{"host:80"} : std::vector<std::string>();
  }
};

class FakeForward final : public ForwardPort {
 public:
  bool Allows(const std::string& address) const override { return allows && address.ends_with(":80"); }
  bool IsSilent(const std::string& address) const override { return address == silent; }
  void Forward(ForwardedRequest request, std::function<void(HttpResponse)> give) override {
    forwarded.push_back(std::move(request));
    const std::string& address = forwarded.back().address;
    if (address == slow && forwarded.back().deadline < milliseconds(300)) {
      std::this_thread::sleep_for(forwarded.back().deadline);
      return give(HttpResponse{.status = 503, .content_type = {}, .headers = {}, .body = {}});
    }
    if (address == behind || (address == "away:80" && address != slow))
      return give(HttpResponse{.status = 503, .content_type = {}, .headers = {}, .body = {}});
    give(HttpResponse{
        .status = 200, .content_type = {}, .headers = {{"Seen-As-Of", "5; lag=0; age_ms=1"}}, .body = body});
  }
  bool allows = true;
  std::string silent, slow, behind;
  std::string body = "theirs";
  std::vector<ForwardedRequest> forwarded;
};

class ForwardedRoutesTest : public testing::Test {
 protected:
  ForwardedRoutesTest() {
    sources_.cluster = {"seend-1", &peers_, &forward_};
    query_.error = Error{Code::kUnavailable, "partition 1 isn't open here"};
  }
  HttpResponse Ask(HttpRequest request) { return Asked(routes_, request); }
  // The deadline is a little shorter, because some time has passed.
  static void ExpectAbout(milliseconds deadline, milliseconds asked) {
    EXPECT_LE(deadline, asked);
    EXPECT_GT(deadline, asked - milliseconds(200));
  }
  FakeQuery query_;
  FakeChange change_;
  FakeRoutes peers_;
  FakeForward forward_;
  PageSources sources_{query_, change_, [] { return std::string(); }};
  Routes routes_{sources_, Gate({false, {}, "12345678", {}, true})};
};

TEST_F(ForwardedRoutesTest, WhatThisDaemonCanNotAnswerAnotherOneDoes) {
  const std::string target = "/v1/filters/home/users/u1/unseen?max_age_ms=5";
  EXPECT_FALSE(RefusedBody(routes_, {"POST", target})) << "its body is wanted";
  const HttpResponse response = Ask({"POST", target, "{\"items\":[\"a\"]}", "application/json"});
  EXPECT_EQ(response.body, "theirs");
  ASSERT_EQ(forward_.forwarded.size(), 1u);
  EXPECT_EQ(forward_.forwarded[0].target, target);
  EXPECT_EQ(forward_.forwarded[0].body, "{\"items\":[\"a\"]}");
  ExpectAbout(forward_.forwarded[0].deadline, milliseconds(1'000));
  Ask({.method = "GET", .target = "/v1/filters/home/users/u1", .deadline_ms = "250"});
  ExpectAbout(forward_.forwarded[1].deadline, milliseconds(250));
  Ask({.method = "GET", .target = "/v1/filters/home/users/u1", .deadline_ms = "99999999999"});
  ExpectAbout(forward_.forwarded[2].deadline, milliseconds(10'000));
}

TEST_F(ForwardedRoutesTest, OneHopAndNoMore) {
  const HttpResponse response =
      Ask({.method = "GET", .target = "/v1/filters/home/users/u1", .hop = "seend-3", .token = "12345678"});
  EXPECT_EQ(response.status, 503u);
  EXPECT_TRUE(forward_.forwarded.empty());
}

TEST_F(ForwardedRoutesTest, NobodyPassesOnWithoutTheToken) {
  query_.error.reset();
  const std::string target = "/v1/filters/home/users/u1";
  EXPECT_EQ(Ask({.method = "GET", .target = target, .hop = "x", .token = "wrong"}).status, 403u);
  EXPECT_EQ(Ask({.method = "GET", .target = target, .hop = "x"}).status, 403u);
  EXPECT_EQ(Ask({.method = "GET", .target = target, .hop = "x", .token = "12345678"}).status, 200u);
  EXPECT_EQ(Ask({.method = "GET", .target = target}).status, 200u) << "clients need none";
}

TEST_F(ForwardedRoutesTest, TheOwnerLearnsForWhomADaemonAsks) {
  Ask({.method = "GET",
       .target = "/v1/filters/home/users/u1",
       .remote = "10.0.0.7:51234",
       .client = "9.9.9.9"});
  Ask({.method = "GET", .target = "/v1/filters/home/users/u1", .remote = "[2001:db8::7]:51234"});
  ASSERT_EQ(forward_.forwarded.size(), 2u);
  EXPECT_EQ(forward_.forwarded[0].client, "10.0.0.7") << "not what a client claims";
  EXPECT_EQ(forward_.forwarded[1].client, "2001:db8::7");
  EXPECT_TRUE(routes_.IsPassedOn({.method = "GET", .target = "/", .hop = "seend-3", .token = "12345678"}));
  EXPECT_FALSE(routes_.IsPassedOn({.method = "GET", .target = "/", .hop = "seend-3", .token = "12345679"}));
  EXPECT_FALSE(routes_.IsPassedOn({.method = "GET", .target = "/", .token = "12345678"}));
  EXPECT_FALSE(Routes(sources_).IsPassedOn({.method = "GET", .target = "/", .hop = "seend-3"})) << "no token";
}

TEST_F(ForwardedRoutesTest, WithoutAPeerTheReasonIsSaid) {
  EXPECT_EQ(Ask({.method = "GET", .target = "/v1/filters/home/users/u2"}).status, 503u);
  forward_.allows = false;
  EXPECT_EQ(Ask({.method = "GET", .target = "/v1/filters/home/users/u1"}).status, 503u);
  EXPECT_TRUE(RefusedBody(routes_, {"POST", "/v1/filters/home/users/u1/unseen"}));
  EXPECT_TRUE(forward_.forwarded.empty());
}

TEST_F(ForwardedRoutesTest, EachAnswerNamesWhoAnswered) {
  query_.error.reset();
  const HttpResponse response = Ask({.method = "GET", .target = "/v1/filters/home/users/u1"});
  EXPECT_EQ(response.headers.back(), std::make_pair(std::string("Seen-Answered-By"), std::string("seend-1")));
  EXPECT_EQ(
      Ask({.method = "GET", .target = "/v1/routes"}).body,
      "{\"topic\":\"exposures\",\"partitioner\":\"murmur2\",\"partitions\":2,\"routes\":[{\"partition\":1,"
      "\"instance\":\"seend-2\",\"address\":\"host:80\",\"state\":\"ready\",\"next_offset\":8,"
      "\"lag_messages\":3,\"unpublished_users\":0,\"heard_ms_ago\":40,"
      "\"here\":false,\"role\":\"owner\"}]}\n");
}

TEST_F(ForwardedRoutesTest, WhereTheOwnerDoesNotAnswerAReplicaIsAsked) {
  const HttpResponse response =
      Ask({"POST", "/v1/filters/home/users/u3/unseen", "{\"items\":[]}", "application/json"});
  EXPECT_EQ(response.body, "theirs");
  ASSERT_EQ(forward_.forwarded.size(), 2u);
  EXPECT_EQ(forward_.forwarded[0].address, "away:80");
  EXPECT_LE(forward_.forwarded[0].deadline, milliseconds(250)) << "a part of the time is left for the other";
  EXPECT_EQ(forward_.forwarded[1].address, "host:80");
  EXPECT_EQ(forward_.forwarded[1].body, "{\"items\":[]}");
  EXPECT_GT(forward_.forwarded[1].deadline, milliseconds(500));
}

TEST_F(ForwardedRoutesTest, WhoIsSlowIsAskedAgainWhereNobodyElseCanAnswer) {
  forward_.slow = "away:80";
  forward_.behind = "host:80";
  EXPECT_EQ(Ask({.method = "GET", .target = "/v1/filters/home/users/u3"}).body, "theirs");
  ASSERT_EQ(forward_.forwarded.size(), 3u);
  EXPECT_EQ(forward_.forwarded[2].address, "away:80");
  EXPECT_GT(forward_.forwarded[2].deadline, milliseconds(500)) << "all that is left";
  forward_.forwarded.clear();
  forward_.slow.clear();  // it says at once that it can't answer
  EXPECT_EQ(Ask({.method = "GET", .target = "/v1/filters/home/users/u3"}).status, 503u);
  EXPECT_EQ(forward_.forwarded.size(), 2u) << "nobody is asked twice for the same answer";
}

TEST_F(ForwardedRoutesTest, AChangeAsksTheOwnerForTheNewestThingOfTheUser) {
  forward_.body = R"({"newest_at_ms":1763700000123})";
  HttpResponse response = Ask({"DELETE", "/v1/users/u1"});
  EXPECT_EQ(response.status, 202u);
  EXPECT_EQ(change_.newest_asked, TimeMs{1'763'700'000'123});
  EXPECT_EQ(Header(response, "Seen-As-Of"), "5; lag=0; age_ms=1") << "of the owner's state";
  ASSERT_EQ(forward_.forwarded.size(), 1u);
  EXPECT_EQ(forward_.forwarded[0].method, "GET");
  EXPECT_EQ(forward_.forwarded[0].target, "/v1/users/u1/newest?until=1763800000000");
  Ask({"POST", "/v1/users/u1/removed", R"({"items":["a"]})", "application/json"});
  EXPECT_EQ(change_.newest_asked, TimeMs{1'763'700'000'123});
  EXPECT_EQ(forward_.forwarded[1].target, "/v1/users/u1/newest?until=1763800000000");
  EXPECT_EQ(forward_.forwarded[1].body, "");
  Ask({"GET", "/v1/users/u1/newest"});
  EXPECT_EQ(forward_.forwarded[2].target, "/v1/users/u1/newest");
}

TEST_F(ForwardedRoutesTest, AChangeGoesByTheClockWhereNobodyAnswers) {
  for (const char* theirs : {"theirs", "{}", R"({"newest_at_ms":null})", R"({"newest_at_ms":"5"})"}) {
    forward_.body = theirs;
    EXPECT_EQ(Ask({"DELETE", "/v1/users/u1"}).status, 202u) << theirs;
    EXPECT_EQ(change_.newest_asked, TimeMs{0}) << theirs;
  }
  forward_.behind = "host:80";
  const HttpResponse response = Ask({"DELETE", "/v1/users/u1"});
  EXPECT_EQ(response.status, 202u);
  EXPECT_EQ(Header(response, "Seen-As-Of"), "(none)") << "no state was asked";
  EXPECT_EQ(Header(response, "Seen-Changed-Until"), "7");
}

TEST_F(ForwardedRoutesTest, WhoDidNotAnswerJustNowIsAskedLast) {
  forward_.silent = "away:80";
  EXPECT_EQ(Ask({.method = "GET", .target = "/v1/filters/home/users/u3"}).body, "theirs");
  ASSERT_EQ(forward_.forwarded.size(), 1u);
  EXPECT_EQ(forward_.forwarded[0].address, "host:80");
}

}  // namespace
}  // namespace seen
