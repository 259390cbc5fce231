#include "serve/http_server.h"

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <mutex>
#include <random>
#include <thread>

#include "unit/serve/raw_client.h"

namespace seen {
namespace {

using namespace std::chrono_literals;

/// Serves an echo: the body is method, target and the request's body.
class HttpServerTest : public testing::Test {
 protected:
  void Start(HttpOptions options = {}, HttpServer::Handler handler = Echo) {
    if (options.listen == HttpOptions{}.listen) options.listen = "127.0.0.1:0";
    auto server =
        HttpServer::Start(options, std::move(handler),
                          [this](std::string_view route, unsigned status, std::chrono::nanoseconds) {
                            const std::lock_guard lock(mutex_);
                            ++answers_[{std::string(route), status}];
                          });
    ASSERT_TRUE(server) << server.error().message;
    server_ = std::move(*server);
  }
  static HttpResponse Echo(const HttpRequest& request) {
    HttpResponse response;
    response.content_type = "text/plain";
    response.route = "/echo";
    response.headers.emplace_back("X-Echo", "yes");
    response.body =
        std::string(request.method) + " " + std::string(request.target) + " " + std::string(request.body);
    return response;
  }
  int Answers(const std::string& route, unsigned status) {
    const std::lock_guard lock(mutex_);
    return answers_[{route, status}];
  }
  /// Sends `bytes` on a connection of its own; what is answered must end the connection.
  void ExpectRefusal(const std::string& bytes, unsigned status) {
    RawClient client(server_->port());
    client.Send(bytes);
    const auto answer = client.Receive();
    ASSERT_TRUE(answer) << bytes.substr(0, 100);
    EXPECT_EQ(answer->status, status) << bytes.substr(0, 100) << answer->body;
    EXPECT_NE(answer->head.find("application/problem+json"), std::string::npos);
    EXPECT_NE(answer->head.find("Connection: close"), std::string::npos);
    client.FinishSending();
    EXPECT_TRUE(client.SeesEnd()) << bytes.substr(0, 100);
  }

  std::mutex mutex_;
  std::map<std::pair<std::string, unsigned>, int> answers_;
  std::unique_ptr<HttpServer> server_;
};

const std::string kGet = "GET /a HTTP/1.1\r\nHost: x\r\n\r\n";

TEST_F(HttpServerTest, KeepsAConnectionForManyRequests) {
  Start();
  RawClient client(server_->port());
  for (int i = 0; i < 3; ++i) {
    client.Send("GET /" + std::to_string(i) + " HTTP/1.1\r\nHost: x\r\n\r\n");
    const auto answer = client.Receive();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->status, 200U);
    EXPECT_EQ(answer->body, "GET /" + std::to_string(i) + " ");
    EXPECT_NE(answer->head.find("\r\nX-Echo: yes\r\n"), std::string::npos);
    EXPECT_NE(answer->head.find("\r\nContent-Type: text/plain\r\n"), std::string::npos);
    EXPECT_NE(answer->head.find("\r\nDate: "), std::string::npos);
    EXPECT_EQ(answer->head.find("Connection"), std::string::npos);
  }
  EXPECT_EQ(Answers("/echo", 200), 3);
}

TEST_F(HttpServerTest, ClosesWhereTheClientWantsIt) {
  Start();
  for (const std::string request :
       {"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "GET / HTTP/1.0\r\n\r\n"}) {
    RawClient client(server_->port());
    client.Send(request);
    const auto answer = client.Receive();
    ASSERT_TRUE(answer);
    EXPECT_NE(answer->head.find("Connection: close"), std::string::npos);
    EXPECT_TRUE(client.SeesEnd());
  }
  RawClient client(server_->port());
  for (int i = 0; i < 2; ++i) {
    client.Send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    const auto answer = client.Receive();
    ASSERT_TRUE(answer);
    EXPECT_NE(answer->head.find("Connection: keep-alive"), std::string::npos);
  }
}

TEST_F(HttpServerTest, AnswersAPipelineInOrder) {
  Start();
  std::string requests;
  for (int i = 0; i < 100; ++i) {
    const std::string body(static_cast<size_t>(i), 'b');
    requests += i % 3 == 0 ? "GET /" + std::to_string(i) + " HTTP/1.1\r\nHost: x\r\n\r\n"
                           : "POST /" + std::to_string(i) +
                                 " HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(body.size()) +
                                 "\r\n\r\n" + body;
  }
  RawClient client(server_->port());
  ASSERT_TRUE(client.Send(requests));
  for (int i = 0; i < 100; ++i) {
    const auto answer = client.Receive();
    ASSERT_TRUE(answer) << i;
    const std::string method = i % 3 == 0 ? "GET" : "POST";
    const std::string body(i % 3 == 0 ? 0 : static_cast<size_t>(i), 'b');
    EXPECT_EQ(answer->body, method + " /" + std::to_string(i) + " " + body);
  }
}

TEST_F(HttpServerTest, HoldsLittleForAPipeliningClientThatDoesNotRead) {
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

TEST_F(HttpServerTest, GivesTheSameAnswersHoweverTheBytesArrive) {
  Start();
  const std::string requests =
      "\r\n\r\nPOST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello"
      "POST /b HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6; ext=1\r\n "
      "world\r\n0\r\n\r\n"
      "POST /c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
      "POST /d HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nz\r\n0\r\nTrailer: 1\r\n\r\n"
      "GET /e HTTP/1.1\r\nHost: x\r\n\r\n";
  const std::vector<std::string> bodies = {"POST /a hello", "POST /b hello world", "POST /c ", "POST /d z",
                                           "GET /e "};
  std::mt19937 random(7);
  for (int round = 0; round < 40; ++round) {
    RawClient client(server_->port());
    // Round 0: a byte at a time. After that in random pieces.
    for (size_t at = 0; at < requests.size();) {
      const size_t piece = round == 0 ? 1 : 1 + random() % (round % 2 == 0 ? 4 : 64);
      ASSERT_TRUE(client.Send(requests.substr(at, piece)));
      at += piece;
      if (round < 8) std::this_thread::sleep_for(100us);
    }
    for (const std::string& body : bodies) {
      const auto answer = client.Receive();
      ASSERT_TRUE(answer) << round << " " << body;
      EXPECT_EQ(answer->status, 200U);
      EXPECT_EQ(answer->body, body) << round;
    }
  }
}

TEST_F(HttpServerTest, AnswersHeadWithTheLengthAlone) {
  Start();
  RawClient client(server_->port());
  client.Send("HEAD /abc HTTP/1.1\r\nHost: x\r\n\r\n" + kGet);
  const auto head = client.Receive(false);
  ASSERT_TRUE(head);
  EXPECT_NE(head->head.find("Content-Length: 10\r\n"), std::string::npos);
  const auto next = client.Receive();
  ASSERT_TRUE(next);
  EXPECT_EQ(next->body, "GET /a ");
}

TEST_F(HttpServerTest, RefusesWhatIsTooLargeOrNoHttp) {
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

TEST_F(HttpServerTest, TakesWhatIsJustSmallEnough) {
  Start({.header_bytes_max = 1024, .body_bytes_max = 1000});
  RawClient client(server_->port());
  const std::string body(1000, 'b');
  client.Send("POST / HTTP/1.1\r\nHost: x\r\nX: " + std::string(900, 'x') +
              "\r\nContent-Length: 1000\r\n\r\n" + body);
  const auto answer = client.Receive();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->body, "POST / " + body);
}

TEST_F(HttpServerTest, AnswersWhatCameBeforeABadRequest) {
  Start();
  RawClient client(server_->port());
  client.Send(kGet + kGet + "BAD\r\n\r\n" + kGet);
  EXPECT_EQ(client.Receive().value_or(RawAnswer{}).status, 200U);
  EXPECT_EQ(client.Receive().value_or(RawAnswer{}).status, 200U);
  EXPECT_EQ(client.Receive().value_or(RawAnswer{}).status, 400U);
  client.FinishSending();
  EXPECT_TRUE(client.SeesEnd());
}

TEST_F(HttpServerTest, SurvivesAnyBytes) {
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

TEST_F(HttpServerTest, LetsALargeUploadReadItsRefusal) {
  Start({.body_bytes_max = 100'000});
  RawClient client(server_->port());
  client.Send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 300000\r\n\r\n");
  client.Send(std::string(300'000, 'x'));  // sent before the answer is looked at
  EXPECT_EQ(client.Receive().value_or(RawAnswer{}).status, 413U);
}

TEST_F(HttpServerTest, AsksForTheBodyOfAClientThatWaits) {
  Start({.body_bytes_max = 1000});
  RawClient client(server_->port());
  client.Send(kGet + "POST /w HTTP/1.1\r\nHost: x\r\nExpect: 100-Continue\r\nContent-Length: 5\r\n\r\n");
  EXPECT_EQ(client.Receive().value_or(RawAnswer{}).body, "GET /a ");
  EXPECT_EQ(client.Receive().value_or(RawAnswer{}).status, 100U);
  client.Send("hello");
  EXPECT_EQ(client.Receive().value_or(RawAnswer{}).body, "POST /w hello");
  // Neither for one it won't take, nor for one that is there.
  client.Send("POST /w HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\nhi");
  EXPECT_EQ(client.Receive().value_or(RawAnswer{}).body, "POST /w hi");
  client.Send("POST /w HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 5000\r\n\r\n");
  EXPECT_EQ(client.Receive().value_or(RawAnswer{}).status, 413U);
}

TEST_F(HttpServerTest, GivesASlowRequestUp) {
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

TEST_F(HttpServerTest, ClosesIdleConnections) {
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

TEST_F(HttpServerTest, ServesManyConnectionsAtOnce) {
  Start();
  std::atomic<int> good = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      std::vector<std::unique_ptr<RawClient>> clients;
      for (int c = 0; c < 8; ++c) clients.push_back(std::make_unique<RawClient>(server_->port()));
      for (int round = 0; round < 20; ++round) {
        const std::string target = "/" + std::to_string(t) + "/" + std::to_string(round);
        for (auto& client : clients) client->Send("GET " + target + " HTTP/1.1\r\nHost: x\r\n\r\n");
        for (auto& client : clients) {
          const auto answer = client->Receive();
          if (answer && answer->body == "GET " + target + " ") ++good;
        }
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(good, 8 * 8 * 20);
  EXPECT_EQ(Answers("/echo", 200), good);
}

TEST_F(HttpServerTest, SaysThatThereAreTooManyConnections) {
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

TEST_F(HttpServerTest, TurnsAnExceptionIntoAnAnswer) {
  Start({}, [](const HttpRequest&) -> HttpResponse { throw std::runtime_error("broken"); });
  RawClient client(server_->port());
  client.Send(kGet + kGet);
  EXPECT_EQ(client.Receive().value_or(RawAnswer{}).status, 500U);
  EXPECT_EQ(client.Receive().value_or(RawAnswer{}).status, 500U);
}

TEST_F(HttpServerTest, FinishesRequestsUnderWayWhenStopped) {
  std::atomic<bool> inside = false;
  Start({}, [&](const HttpRequest& request) {
    inside = true;
    std::this_thread::sleep_for(200ms);
    return Echo(request);
  });
  const uint16_t port = server_->port();
  RawClient idle(port);
  RawClient busy(port);
  busy.Send(kGet);
  while (!inside) std::this_thread::sleep_for(1ms);
  const auto started = std::chrono::steady_clock::now();
  std::thread stopper([&] { server_->Stop(); });
  const auto answer = busy.Receive();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 200U);
  EXPECT_NE(answer->head.find("Connection: close"), std::string::npos);
  EXPECT_TRUE(busy.SeesEnd());
  EXPECT_TRUE(idle.SeesEnd());
  stopper.join();
  EXPECT_LT(std::chrono::steady_clock::now() - started, 1500ms);
  EXPECT_FALSE(RawClient(port).connected());
  server_->Stop();  // does nothing
}

TEST_F(HttpServerTest, StopsWithinItsTimeWhateverClientsDo) {
  Start({.stop_timeout = 300ms});
  RawClient half(server_->port());
  half.Send("GET / HT");
  RawClient served(server_->port());
  served.Send(kGet);
  EXPECT_TRUE(served.Receive());
  std::atomic<bool> go_on = true;
  std::thread flood([&, port = server_->port()] {
    while (go_on) {
      RawClient client(port);
      if (!client.connected()) break;
      client.Send(kGet + kGet);
      client.Receive(true, 100);
    }
  });
  std::this_thread::sleep_for(50ms);
  const auto started = std::chrono::steady_clock::now();
  server_->Stop();
  EXPECT_LT(std::chrono::steady_clock::now() - started, 2s);
  go_on = false;
  flood.join();
  EXPECT_FALSE(half.Receive(true, 1000));
}

TEST_F(HttpServerTest, ListensOnIpv6) {
  Start({.listen = "[::1]:0"});
  RawClient client(server_->port(), true);
  if (!client.connected()) GTEST_SKIP() << "no IPv6 here";
  client.Send(kGet);
  EXPECT_EQ(client.Receive().value_or(RawAnswer{}).status, 200U);
}

TEST_F(HttpServerTest, SaysWhyItCannotListen) {
  Start();
  const std::string taken = "127.0.0.1:" + std::to_string(server_->port());
  const std::vector<std::pair<std::string, std::string>> cases = {
      {taken, "http.listen: can't listen on " + taken + ": another program listens there"},
      {"192.0.2.1:0", "http.listen: can't listen on 192.0.2.1:0: this machine has no such address"},
      {"", "http.listen: \"\" is not ADDRESS:PORT"},
      {"8080", "http.listen: \"8080\" is not ADDRESS:PORT"},
      {":8080", "http.listen: \":8080\" is not ADDRESS:PORT"},
      {"127.0.0.1", "http.listen: \"127.0.0.1\" is not ADDRESS:PORT"},
      {"127.0.0.1:", "http.listen: \"127.0.0.1:\" is not ADDRESS:PORT"},
      {"127.0.0.1:65536", "http.listen: \"127.0.0.1:65536\" is not ADDRESS:PORT"},
      {"127.0.0.1:80x", "http.listen: \"127.0.0.1:80x\" is not ADDRESS:PORT"},
      {"::1:8080", "http.listen: \"::1:8080\" is not ADDRESS:PORT"},
      {"[127.0.0.1]:8080", "http.listen: \"[127.0.0.1]:8080\" is not ADDRESS:PORT"},
      {"example.org:80", "http.listen: \"example.org:80\" is not ADDRESS:PORT"},
  };
  for (const auto& [listen, message] : cases) {
    const auto server = HttpServer::Start({.listen = listen}, Echo);
    ASSERT_FALSE(server) << listen;
    EXPECT_EQ(server.error().code, Code::kInvalidArgument);
    EXPECT_TRUE(server.error().message.starts_with(message)) << server.error().message;
  }
  EXPECT_TRUE(HttpServer::Start({.listen = "localhost:0"}, Echo));
}

}  // namespace
}  // namespace seen
