// What the server refuses from any client: too much, too slow, too many, not HTTP.

#include <atomic>
#include <random>
#include <set>
#include <thread>

#include "serve/http_message.h"
#include "unit/serve/http_server_fixture.h"

namespace seen {
namespace {

using namespace std::chrono_literals;
using HttpLimitsTest = HttpServerTest;

TEST_F(HttpLimitsTest, HoldsLittleForAPipeliningClientThatDoesNotRead) {
  std::atomic<int> handled = 0;
  Start({.request_timeout = 500ms}, [&](const HttpRequest&) {
    ++handled;
    HttpResponse response;
    response.body.assign(256 * 1024, 'x');
    return response;
  });
  RawClient client(server_->port());
  std::string requests;
  for (int i = 0; i < 1000; ++i) requests += kGet;
  client.Send(requests);
  EXPECT_FALSE(client.SeesEnd(50));  // there are bytes, and this reads only some of them
  std::this_thread::sleep_for(1500ms);
  EXPECT_LT(handled, 200);  // as many as 1 MiB and the sockets' buffers hold
}

TEST_F(HttpLimitsTest, RefusesWhatIsTooLargeOrNoHttp) {
  Start({.header_bytes_max = 1024}, {.body_bytes_max = 1000});
  const std::string long_text(2000, 'x');
  ExpectRefusal("GET /" + long_text + " HTTP/1.1\r\nHost: x\r\n\r\n", 431);
  ExpectRefusal("GET / HTTP/1.1\r\nHost: x\r\nX: " + long_text + "\r\n\r\n", 431);
  ExpectRefusal("GET / HTTP/1.1\r\nHost: x\r\nX: " + long_text, 431);  // the header never ends
  ExpectRefusal("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: " + long_text, 431);
  ExpectRefusal("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1; " + long_text, 431);
  ExpectRefusal("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1001\r\n\r\n" + long_text, 413);
  ExpectRefusal("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1001\r\n\r\n", 413);
  ExpectRefusal("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n7d0\r\n" + long_text, 413);
  ExpectRefusal("GARBAGE\r\n\r\n", 400);
  ExpectRefusal("GET / HTTP/1.1\nHost: x\n\n", 400);
  ExpectRefusal("GET  / HTTP/1.1\r\nHost: x\r\n\r\n", 400);
  ExpectRefusal("GET / HTTP/1.x\r\nHost: x\r\n\r\n", 400);
  ExpectRefusal("GET / HTTP/1.1\r\nHost: x\r\nBad Header\r\n\r\n", 400);
  ExpectRefusal("GET / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", 400);
  ExpectRefusal("GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1, 2\r\n\r\n", 400);
  ExpectRefusal("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400);
  ExpectRefusal("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nnothex\r\n", 400);
  ExpectRefusal("\x16\x03\x01\x02", 400);  // the start of a TLS handshake
  ExpectRefusal("GET / HTTP/1.1\r\n\r\n", 400);
  ExpectRefusal("GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", 400);
  ExpectRefusal("GET / HTTP/1.2\r\nHost: x\r\n\r\n", 505);
  ExpectRefusal("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505);
  ExpectRefusal("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n", 501);
  ExpectRefusal("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501);
  ExpectRefusal("POST / HTTP/1.1\r\nHost: x\r\nExpect: miracles\r\nContent-Length: 1\r\n\r\n", 417);
  EXPECT_EQ(Answers("/echo", 200), 0);
  EXPECT_EQ(Answers("/echo", 413), 3) << "the route is known";
}

TEST_F(HttpLimitsTest, TakesWhatIsJustSmallEnough) {
  Start({.header_bytes_max = 1024}, {.body_bytes_max = 1000});
  RawClient client(server_->port());
  const std::string body(1000, 'b');
  const RawAnswer answer = client.AnswerTo("POST / HTTP/1.1\r\nHost: x\r\nX: " + std::string(900, 'x') +
                                           "\r\nContent-Length: 1000\r\n\r\n" + body);
  EXPECT_EQ(answer.body, "POST / " + body);
}

// Bodies of up to 1,000 bytes, and "/long" takes 1,500. Each byte of a body takes two bytes of memory.
FakeAnswers Limited(std::function<HttpResponse(const HttpRequest&)> answer = Echo) {
  return {.answer = std::move(answer), .route = "/route", .body_bytes_max = 1'000, .body_bytes_a_byte = 2};
}

std::string Post(const std::string& target, size_t length) {
  return "POST " + target + " HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(length) + "\r\n\r\n";
}

TEST_F(HttpLimitsTest, TakesWhatTheRuleOfARequestAllows) {
  Start({}, Limited());
  const std::string text(1501, 'b');
  RawClient client(server_->port());
  EXPECT_EQ(client.AnswerTo(Post("/long", 1'500) + text.substr(1)).body, "POST /long " + text.substr(1));
  client.Send("POST /long HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3e8\r\n" +
              text.substr(501) + "\r\n1f4\r\n" + text.substr(1001) + "\r\n0\r\n\r\n");
  EXPECT_EQ(client.Next().body, "POST /long " + text.substr(1));
  ExpectRefusal(Post("/long", 1'501) + text, 413);
  ExpectRefusal("POST /long HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5dd\r\n" + text, 413);
  ExpectRefusal(Post("/short", 1'001) + text, 413);
  EXPECT_EQ(server_->bodies_bytes(), 0U);
  EXPECT_EQ(Answers("/route", 413), 3);
}

TEST_F(HttpLimitsTest, AnswersARefusedRequestWithoutKeepingItsBody) {
  std::atomic<int> handled = 0;
  Start({}, Limited([&](const HttpRequest& request) { return ++handled, Echo(request); }));
  // The server reads and drops a short body. The connection stays open.
  RawClient client(server_->port());
  client.Send(Post("/none", 1'000'000));
  client.Send(std::string(500'000, 'x'));
  EXPECT_EQ(server_->bodies_bytes(), 0U);
  EXPECT_EQ(client.AnswerTo(std::string(500'000, 'x') + kGet).status, 404U);
  EXPECT_EQ(client.Next().body, "GET /a ");
  // The server doesn't wait for a long body, for a body whose client waits, or for one of unknown length.
  ExpectRefusal(Post("/none", 3'000'000), 404);
  ExpectRefusal("POST /none HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n", 404);
  ExpectRefusal("POST /none HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n", 404);
  EXPECT_EQ(handled, 1);
}

TEST_F(HttpLimitsTest, AsksForARefusalOnlyBeforeABodyThatIsNotHereYet) {
  Start();
  RawClient client(server_->port());
  EXPECT_EQ(client.AnswerTo(Post("/unwanted", 2) + "hi").body, "POST /unwanted hi");
  ExpectRefusal("POST /unwanted HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n",
                503);
  client.Send(Post("/unwanted", 2) + "h");
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(client.AnswerTo("i").status, 503U);
}

TEST_F(HttpLimitsTest, RefusesABodyForWhichThereIsNoRoomNow) {
  Start({.bodies_bytes_max = 4'000}, Limited());
  RawClient first(server_->port());
  first.Send(Post("/a", 1'000) + std::string(999, 'x'));
  RawClient second(server_->port());
  second.Send(Post("/a", 900) + std::string(899, 'y'));
  while (server_->bodies_bytes() < 3'800) std::this_thread::sleep_for(1ms);
  RawClient third(server_->port());
  std::set<std::string> retries;
  for (int i = 0; i < 50; ++i) {  // the server dropped the body, and the connection stays open
    third.Send(Post("/a", 101) + std::string(101, 'z'));
    const auto answer = third.Receive();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->status, 503U);
    EXPECT_NE(answer->body.find("raise store.memory_mib"), std::string::npos) << answer->body;
    const size_t at = answer->head.find("Retry-After: ");
    ASSERT_NE(at, std::string::npos);
    retries.insert(answer->head.substr(at, 14));
  }
  EXPECT_GT(retries.size(), 1U) << "they don't all come back at once";
  EXPECT_EQ(Answers("/route", 503), 50);
  ExpectRefusal(
      "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n65\r\n" + std::string(101, 'z'), 503);
  EXPECT_EQ(third.AnswerTo(Post("/a", 100) + std::string(100, 'z')).status, 200U) << "this one fits";
  EXPECT_EQ(first.AnswerTo("x").status, 200U);
  EXPECT_EQ(third.AnswerTo(Post("/a", 1'000) + std::string(1'000, 'z')).status, 200U)
      << "the first one has given back what it took";
  EXPECT_EQ(second.AnswerTo("y").status, 200U);
  EXPECT_EQ(server_->bodies_bytes(), 0U);
}

TEST_F(HttpLimitsTest, GivesBackWhatABodyTookHoweverTheRequestEnds) {
  Start({.request_timeout = 200ms}, Limited());
  {
    RawClient gone(server_->port());
    gone.Send(Post("/a", 1'000) + "x");
    while (server_->bodies_bytes() == 0) std::this_thread::sleep_for(1ms);
  }
  RawClient slow(server_->port());
  EXPECT_EQ(slow.AnswerTo(Post("/a", 1'000) + "x").status, 408U);
  RawClient wrong(server_->port());
  wrong.Send("POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nxyzzy\r\n");
  EXPECT_EQ(wrong.Next().status, 400U);
  for (int i = 0; i < 2'000 && server_->bodies_bytes() > 0; ++i) std::this_thread::sleep_for(1ms);
  EXPECT_EQ(server_->bodies_bytes(), 0U);
}

TEST_F(HttpLimitsTest, NamesTheRemedyWhereABodyCanNeverFit) {
  Start({.bodies_bytes_max = 600}, Limited());
  RawClient client(server_->port());
  const RawAnswer answer = client.AnswerTo(Post("/a", 301));
  EXPECT_EQ(answer.status, 413U);
  EXPECT_NE(answer.body.find(
                "longer than 300 bytes, the most that fits into the memory for bodies. That memory is 600 "
                "bytes, and each byte of this body takes 2 of them. Send less, or raise "
                "store.memory_mib"),
            std::string::npos)
      << answer.body;
}

TEST_F(HttpLimitsTest, AnswersWhatCameBeforeABadRequest) {
  Start();
  RawClient client(server_->port());
  EXPECT_EQ(client.AnswerTo(kGet + kGet + "BAD\r\n\r\n" + kGet).status, 200U);
  EXPECT_EQ(client.Next().status, 200U);
  EXPECT_EQ(client.Next().status, 400U);
  client.FinishSending();
  EXPECT_TRUE(client.SeesEnd());
}

TEST_F(HttpLimitsTest, SurvivesAnyBytes) {
  Start({.header_bytes_max = 2048, .request_timeout = 200ms}, {.body_bytes_max = 2048});
  const std::string good =
      "POST /a HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nTransfer-Encoding: chunked\r\n\r\n"
      "5; e=1\r\nhello\r\n0\r\nT: 1\r\n\r\nGET /b HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc";
  std::mt19937 random(11);
  for (int round = 0; round < 400; ++round) {
    std::string bytes = good;
    for (unsigned changes = 1 + random() % 4; changes > 0; --changes) {
      const size_t at = random() % bytes.size();
      switch (random() % 4) {
        case 0:
          bytes[at] = static_cast<char>(random() % 256);
          break;
        case 1:
          bytes.erase(at, 1 + random() % 5);
          break;
        case 2:
          bytes.insert(at, bytes.substr(random() % bytes.size(), random() % 40));
          break;
        default:
          bytes.insert(at, 1, "\r\n:; 0"[random() % 6]);
          break;
      }
    }
    RawClient client(server_->port());
    const size_t cut = random() % bytes.size();
    client.Send(bytes.substr(0, cut));
    client.Send(bytes.substr(cut));
    client.FinishSending();
    while (client.Receive()) {
    }
  }
  RawClient client(server_->port());
  EXPECT_EQ(client.AnswerTo(kGet).status, 200U);
}

TEST_F(HttpLimitsTest, LetsALargeUploadReadItsRefusal) {
  Start({}, {.body_bytes_max = 100'000});
  RawClient client(server_->port());
  client.Send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 300000\r\n\r\n");
  client.Send(std::string(300'000, 'x'));  // sent before the client reads the answer
  EXPECT_EQ(client.Next().status, 413U);
}

TEST_F(HttpLimitsTest, GivesASlowRequestUp) {
  Start({.idle_timeout = 5s, .request_timeout = 300ms});
  const auto started = std::chrono::steady_clock::now();
  for (const std::string start : {"GET / HT", "GET / HTTP/1.1\r\nHost: x\r\nX: ",
                                  "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n"}) {
    RawClient client(server_->port());
    client.Send(start);
    // A byte now and then doesn't extend the time.
    for (int i = 0; i < 6; ++i) {
      std::this_thread::sleep_for(30ms);
      client.Send("x");
    }
    EXPECT_EQ(client.Next().status, 408U) << start;
    client.FinishSending();
    EXPECT_TRUE(client.SeesEnd());
  }
  EXPECT_LT(std::chrono::steady_clock::now() - started, 4s);
  EXPECT_EQ(Answers("none", 408), 2);
  EXPECT_EQ(Answers("/echo", 408), 1) << "the route is known";
}

TEST_F(HttpLimitsTest, ClosesIdleConnections) {
  Start({.idle_timeout = 200ms});
  RawClient silent(server_->port());
  RawClient served(server_->port());
  served.Send(kGet);
  EXPECT_TRUE(served.Receive());
  EXPECT_TRUE(silent.SeesEnd(3000));
  EXPECT_TRUE(served.SeesEnd(3000));
  RawClient busy(server_->port());
  for (int i = 0; i < 5; ++i) {  // longer than the timeout, but never idle for that long
    busy.Send(kGet);
    EXPECT_TRUE(busy.Receive());
    std::this_thread::sleep_for(80ms);
  }
}

TEST_F(HttpLimitsTest, SaysThatThereAreTooManyConnections) {
  Start({.connections_max = 2});
  auto first = std::make_unique<RawClient>(server_->port());
  RawClient second(server_->port());
  for (RawClient* client : {first.get(), &second}) {
    EXPECT_EQ(client->AnswerTo(kGet).status, 200U);
  }
  {
    RawClient third(server_->port());
    const RawAnswer answer = third.Next();
    EXPECT_EQ(answer.status, 503U);
    EXPECT_NE(answer.head.find("Retry-After: 1"), std::string::npos);
  }
  first.reset();
  bool served = false;
  for (int tries = 0; tries < 50 && !served; ++tries) {
    std::this_thread::sleep_for(20ms);
    RawClient next(server_->port());
    served = next.AnswerTo(kGet).status == 200;
  }
  EXPECT_TRUE(served);
}

}  // namespace
}  // namespace seen
