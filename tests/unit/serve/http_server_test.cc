#include <atomic>
#include <random>
#include <thread>

#include "unit/serve/http_server_fixture.h"

namespace seen {
namespace {

using namespace std::chrono_literals;

TEST_F(HttpServerTest, KeepsAConnectionForManyRequests) {
  Start();
  RawClient client(server_->port());
  for (int i = 0; i < 3; ++i) {
    const RawAnswer answer = client.AnswerTo("GET /" + std::to_string(i) + " HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_EQ(answer.status, 200U);
    EXPECT_EQ(answer.body, "GET /" + std::to_string(i) + " ");
    EXPECT_NE(answer.head.find("\r\nX-Echo: yes\r\n"), std::string::npos);
    EXPECT_NE(answer.head.find("\r\nContent-Type: text/plain\r\n"), std::string::npos);
    EXPECT_NE(answer.head.find("\r\nDate: "), std::string::npos);
    EXPECT_EQ(answer.head.find("Connection"), std::string::npos);
  }
  EXPECT_EQ(Answers("/echo", 200), 3);
}

TEST_F(HttpServerTest, ClosesWhereTheClientWantsIt) {
  Start();
  for (const std::string request :
       {"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "GET / HTTP/1.0\r\n\r\n"}) {
    RawClient client(server_->port());
    const RawAnswer answer = client.AnswerTo(request);
    EXPECT_NE(answer.head.find("Connection: close"), std::string::npos);
    EXPECT_TRUE(client.SeesEnd());
  }
  RawClient client(server_->port());
  for (int i = 0; i < 2; ++i) {
    const RawAnswer answer = client.AnswerTo("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    EXPECT_NE(answer.head.find("Connection: keep-alive"), std::string::npos);
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
    // Round 0 sends one byte at a time. Later rounds send random pieces.
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

TEST_F(HttpServerTest, AsksForTheBodyOfAClientThatWaits) {
  Start({}, {.body_bytes_max = 1000});
  RawClient client(server_->port());
  client.Send(kGet + "POST /w HTTP/1.1\r\nHost: x\r\nExpect: 100-Continue\r\nContent-Length: 5\r\n\r\n");
  EXPECT_EQ(client.Next().body, "GET /a ");
  EXPECT_EQ(client.Next().status, 100U);
  EXPECT_EQ(client.AnswerTo("hello").body, "POST /w hello");
  // No 100 Continue for a body that has already arrived, or for a body that the server refuses.
  client.Send("POST /w HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\nhi");
  EXPECT_EQ(client.Next().body, "POST /w hi");
  client.Send("POST /w HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 5000\r\n\r\n");
  EXPECT_EQ(client.Next().status, 413U);
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

TEST_F(HttpServerTest, TurnsAnExceptionIntoAnAnswer) {
  Start({}, [](const HttpRequest&) -> HttpResponse { throw std::runtime_error("broken"); });
  RawClient client(server_->port());
  EXPECT_EQ(client.AnswerTo(kGet + kGet).status, 500U);
  EXPECT_EQ(client.Next().status, 500U);
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
  const RawAnswer answer = busy.Next();
  EXPECT_EQ(answer.status, 200U);
  EXPECT_NE(answer.head.find("Connection: close"), std::string::npos);
  EXPECT_TRUE(busy.SeesEnd());
  EXPECT_TRUE(idle.SeesEnd());
  stopper.join();
  EXPECT_LT(std::chrono::steady_clock::now() - started, 1500ms);
  EXPECT_FALSE(RawClient(port).connected());
  server_->Stop();  // a second Stop does nothing
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
  EXPECT_EQ(client.AnswerTo(kGet).status, 200U);
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
  const FakePages pages;
  for (const auto& [listen, message] : cases) {
    const auto server = HttpServer::Start({.listen = listen}, pages);
    ASSERT_FALSE(server) << listen;
    EXPECT_EQ(server.error().code, Code::kInvalidArgument);
    EXPECT_TRUE(server.error().message.starts_with(message)) << server.error().message;
  }
  EXPECT_TRUE(HttpServer::Start({.listen = "localhost:0"}, pages));
}

/// A server that answers "/later..." when the test says so, and all other targets at once.
class LaterTest : public HttpServerTest {
 protected:
  void StartLater(HttpOptions options = {}) {
    Start(options, [this](const HttpRequest& request) {
      if (!request.target.starts_with("/later")) return Echo(request);
      HttpResponse response;
      response.later = [this, target = std::string(request.target)](auto give) {
        const std::lock_guard lock(waiting_mutex_);
        waiting_.emplace_back(target, std::move(give));
      };
      return response;
    });
  }
  bool WaitForRequests(size_t count) {
    for (int i = 0; i < 1000; ++i) {
      {
        const std::lock_guard lock(waiting_mutex_);
        if (waiting_.size() >= count) return true;
      }
      std::this_thread::sleep_for(10ms);
    }
    return false;
  }
  void GiveAll() {
    const std::lock_guard lock(waiting_mutex_);
    for (auto& [target, give] : waiting_) {
      HttpResponse response;
      response.status = 202;
      response.content_type = "text/plain";
      response.body = "later " + target;
      give(std::move(response));
    }
    waiting_.clear();
  }

  std::mutex waiting_mutex_;
  std::vector<std::pair<std::string, std::function<void(HttpResponse)>>> waiting_;
};

TEST_F(LaterTest, HoldsNobodyUp) {
  HttpOptions options;
  options.threads = 1;
  StartLater(options);
  RawClient waits(server_->port());
  waits.Send("DELETE /later HTTP/1.1\r\nHost: x\r\n\r\n");
  ASSERT_TRUE(WaitForRequests(1));
  RawClient other(server_->port());
  other.Send(kGet);
  ASSERT_TRUE(other.Receive());
  GiveAll();
  const RawAnswer answer = waits.Next();
  EXPECT_EQ(answer.status, 202U);
  EXPECT_EQ(answer.body, "later /later");
  EXPECT_EQ(Answers("/echo", 202), 1);
  waits.Send(kGet);  // the connection stays open
  EXPECT_TRUE(waits.Receive());
}

TEST_F(LaterTest, KeepsAPipelineInOrder) {
  StartLater();
  RawClient client(server_->port());
  const auto get = [](const std::string& target) { return "GET " + target + " HTTP/1.1\r\nHost: x\r\n\r\n"; };
  client.Send(get("/1") + get("/later2") + get("/3") + get("/later4") + get("/5"));
  auto answer = client.Receive();  // a ready answer doesn't wait for later answers
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->body, "GET /1 ");
  for (const std::string expected : {"later /later2", "GET /3 ", "later /later4", "GET /5 "}) {
    if (expected.starts_with("later")) {
      ASSERT_TRUE(WaitForRequests(1));
      GiveAll();
    }
    answer = client.Receive();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->body, expected);
  }
}

TEST_F(LaterTest, ClosesWhereTheClientWantsIt) {
  StartLater();
  RawClient client(server_->port());
  client.Send("GET /later HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  ASSERT_TRUE(WaitForRequests(1));
  GiveAll();
  const RawAnswer answer = client.Next();
  EXPECT_NE(answer.head.find("Connection: close"), std::string::npos);
  EXPECT_TRUE(client.SeesEnd());
}

TEST_F(LaterTest, SurvivesAClientThatLeaves) {
  StartLater();
  {
    RawClient client(server_->port());
    client.Send("GET /later HTTP/1.1\r\nHost: x\r\n\r\n");
    ASSERT_TRUE(WaitForRequests(1));
  }
  GiveAll();
  RawClient other(server_->port());
  other.Send(kGet);
  EXPECT_TRUE(other.Receive());
}

TEST_F(LaterTest, AnswersWhileStopping) {
  StartLater();
  RawClient client(server_->port());
  client.Send("GET /later HTTP/1.1\r\nHost: x\r\n\r\n");
  ASSERT_TRUE(WaitForRequests(1));
  std::thread stopping([this] { server_->Stop(); });
  std::this_thread::sleep_for(50ms);
  GiveAll();
  EXPECT_TRUE(client.Receive());
  stopping.join();
}

TEST_F(HttpServerTest, WritesLongAnswersWholeAndInOrder) {
  Start({}, [](const HttpRequest& request) {
    HttpResponse response = Echo(request);
    if (request.target == "/long") response.body.assign(3 << 20, 'x');
    return response;
  });
  RawClient client(server_->port());
  const auto ask = [](const std::string& method, const std::string& target) {
    return method + " " + target + " HTTP/1.1\r\nHost: x\r\n\r\n";
  };
  client.Send(ask("GET", "/a") + ask("GET", "/long") + ask("HEAD", "/long") + ask("GET", "/long") +
              ask("GET", "/b"));
  EXPECT_EQ(client.Next().body, "GET /a ");
  EXPECT_EQ(client.Next().body, std::string(3 << 20, 'x'));
  const auto head = client.Receive(false);
  ASSERT_TRUE(head);
  EXPECT_NE(head->head.find("\r\nContent-Length: 3145728\r\n"), std::string::npos);
  EXPECT_EQ(client.Next().body.size(), 3U << 20);
  EXPECT_EQ(client.Next().body, "GET /b ");
}

}  // namespace
}  // namespace seen
