// What the server takes from no client: too much, too slow, too many, no HTTP.

#include <atomic>
#include <random>
#include <thread>

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
  EXPECT_FALSE(client.SeesEnd(50));  // there are bytes, of which this reads only some
  std::this_thread::sleep_for(1500ms);
  EXPECT_LT(handled, 200);  // what sockets' buffers and 1 MiB take, and no more
}

TEST_F(HttpLimitsTest, RefusesWhatIsTooLargeOrNoHttp) {
  Start({.header_bytes_max = 1024, .body_bytes_max = 1000});
  const std::string long_text(2000, 'x');
  ExpectRefusal("GET /" + long_text + " HTTP/1.1\r\nHost: x\r\n\r\n", 431);
  ExpectRefusal("GET / HTTP/1.1\r\nHost: x\r\nX: " + long_text + "\r\n\r\n", 431);
  ExpectRefusal("GET / HTTP/1.1\r\nHost: x\r\nX: " + long_text, 431);  // no end in sight
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
  ExpectRefusal("\x16\x03\x01\x02", 400);  // TLS
  ExpectRefusal("GET / HTTP/1.1\r\n\r\n", 400);
  ExpectRefusal("GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", 400);
  ExpectRefusal("GET / HTTP/1.2\r\nHost: x\r\n\r\n", 505);
  ExpectRefusal("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505);
  ExpectRefusal("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n", 501);
  ExpectRefusal("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501);
  ExpectRefusal("POST / HTTP/1.1\r\nHost: x\r\nExpect: miracles\r\nContent-Length: 1\r\n\r\n", 417);
  EXPECT_EQ(Answers("/echo", 200), 0);
  EXPECT_EQ(Answers("none", 413), 3);
}

TEST_F(HttpLimitsTest, TakesWhatIsJustSmallEnough) {
  Start({.header_bytes_max = 1024, .body_bytes_max = 1000});
  RawClient client(server_->port());
  const std::string body(1000, 'b');
  client.Send("POST / HTTP/1.1\r\nHost: x\r\nX: " + std::string(900, 'x') +
              "\r\nContent-Length: 1000\r\n\r\n" + body);
  const auto answer = client.Receive();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->body, "POST / " + body);
}

TEST_F(HttpLimitsTest, TakesMoreWhereABodyIsAText) {
  Start({.header_bytes_max = 1024, .body_bytes_max = 1000, .text_bytes_max = 1500});
  const std::string text(1501, 'b');
  const std::string head = "POST /v1/similar HTTP/1.1\r\nHost: x\r\n";
  RawClient client(server_->port());
  client.Send(head + "Content-Length: 1500\r\n\r\n" + text.substr(1));
  EXPECT_EQ(client.Receive().value_or(RawAnswer{}).body, "POST /v1/similar " + text.substr(1));
  ExpectRefusal(head + "Content-Length: 1501\r\n\r\n" + text, 413);
  ExpectRefusal(head + "Transfer-Encoding: chunked\r\n\r\n5dd\r\n" + text, 413);
}

TEST_F(HttpLimitsTest, AnswersWhatCameBeforeABadRequest) {
  Start();
  RawClient client(server_->port());
  client.Send(kGet + kGet + "BAD\r\n\r\n" + kGet);
  EXPECT_EQ(client.Receive().value_or(RawAnswer{}).status, 200U);
  EXPECT_EQ(client.Receive().value_or(RawAnswer{}).status, 200U);
  EXPECT_EQ(client.Receive().value_or(RawAnswer{}).status, 400U);
  client.FinishSending();
  EXPECT_TRUE(client.SeesEnd());
}

TEST_F(HttpLimitsTest, SurvivesAnyBytes) {
  Start({.header_bytes_max = 2048, .body_bytes_max = 2048, .request_timeout = 200ms});
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
  client.Send(kGet);
  EXPECT_EQ(client.Receive().value_or(RawAnswer{}).status, 200U);
}

TEST_F(HttpLimitsTest, LetsALargeUploadReadItsRefusal) {
  Start({.body_bytes_max = 100'000});
  RawClient client(server_->port());
  client.Send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 300000\r\n\r\n");
  client.Send(std::string(300'000, 'x'));  // sent before the answer is looked at
  EXPECT_EQ(client.Receive().value_or(RawAnswer{}).status, 413U);
}

TEST_F(HttpLimitsTest, GivesASlowRequestUp) {
  Start({.idle_timeout = 5s, .request_timeout = 300ms});
  const auto started = std::chrono::steady_clock::now();
  for (const std::string start : {"GET / HT", "GET / HTTP/1.1\r\nHost: x\r\nX: ",
                                  "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n"}) {
    RawClient client(server_->port());
    client.Send(start);
    // A byte now and then doesn't help.
    for (int i = 0; i < 6; ++i) {
      std::this_thread::sleep_for(30ms);
      client.Send("x");
    }
    const auto answer = client.Receive();
    ASSERT_TRUE(answer) << start;
    EXPECT_EQ(answer->status, 408U);
    client.FinishSending();
    EXPECT_TRUE(client.SeesEnd());
  }
  EXPECT_LT(std::chrono::steady_clock::now() - started, 4s);
  EXPECT_EQ(Answers("none", 408), 3);
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
  for (int i = 0; i < 5; ++i) {  // longer than the time-out, but never idle for it
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
    client->Send(kGet);
    EXPECT_EQ(client->Receive().value_or(RawAnswer{}).status, 200U);
  }
  {
    RawClient third(server_->port());
    const auto answer = third.Receive();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->status, 503U);
    EXPECT_NE(answer->head.find("Retry-After: 1"), std::string::npos);
  }
  first.reset();
  bool served = false;
  for (int tries = 0; tries < 50 && !served; ++tries) {
    std::this_thread::sleep_for(20ms);
    RawClient next(server_->port());
    next.Send(kGet);
    served = next.Receive().value_or(RawAnswer{}).status == 200;
  }
  EXPECT_TRUE(served);
}

}  // namespace
}  // namespace seen
