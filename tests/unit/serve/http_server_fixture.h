#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "serve/http_server.h"
#include "unit/serve/raw_client.h"

namespace seen {

/// The answer's body is the request's method, target and body.
inline HttpResponse Echo(const HttpRequest& request) {
  HttpResponse response;
  response.content_type = "text/plain";
  response.headers.emplace_back("X-Echo", "yes");
  response.body =
      std::string(request.method) + " " + std::string(request.target) + " " + std::string(request.body);
  return response;
}

struct FakeAnswers {
  std::function<HttpResponse(const HttpRequest&)> answer = Echo;
  std::string_view route = "/echo";
  size_t body_bytes_max = 4 << 20;
  size_t body_bytes_a_byte = 1;
};

/// "/none" doesn't exist. "/long" takes half as much again as the others. The body of "/unwanted" is refused.
class FakePages final : public HttpPages {
 public:
  explicit FakePages(FakeAnswers answers = {}) : answers_(std::move(answers)) {}
  RoutedRequest Find(const HttpRequest& head) const override {
    RoutedRequest routed{.request = head, .route = answers_.route};
    routed.body_bytes_a_byte = answers_.body_bytes_a_byte;
    routed.body_bytes_max = answers_.body_bytes_max * (head.target == "/long" ? 3 : 2) / 2;
    if (head.target == "/none") routed.refusal = Problem(404, "no such page", head.target);
    return routed;
  }
  std::optional<HttpResponse> RefuseBody(const RoutedRequest& routed) const override {
    if (routed.request.target != "/unwanted") return std::nullopt;
    return Problem(503, "not now", routed.request.target);
  }
  HttpResponse Answer(const RoutedRequest& routed) const override { return answers_.answer(routed.request); }

 private:
  FakeAnswers answers_;
};

/// A server of FakePages.
class HttpServerTest : public testing::Test {
 protected:
  void Start(HttpOptions options = {}, FakeAnswers answers = {}) {
    pages_ = FakePages(std::move(answers));
    if (options.listen == HttpOptions{}.listen) options.listen = "127.0.0.1:0";
    auto server = HttpServer::Start(
        options, pages_, [this](std::string_view route, unsigned status, std::chrono::nanoseconds) {
          const std::lock_guard lock(mutex_);
          ++answers_[{std::string(route), status}];
        });
    ASSERT_TRUE(server) << server.error().message;
    server_ = std::move(*server);
  }
  void Start(HttpOptions options, std::function<HttpResponse(const HttpRequest&)> answer) {
    Start(std::move(options), FakeAnswers{.answer = std::move(answer)});
  }
  int Answers(const std::string& route, unsigned status) {
    const std::lock_guard lock(mutex_);
    return answers_[{route, status}];
  }
  /// Sends `bytes` on a new connection. The server must answer with `status` and end the connection.
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

  FakePages pages_;
  std::mutex mutex_;
  std::map<std::pair<std::string, unsigned>, int> answers_;
  std::unique_ptr<HttpServer> server_;
};

inline const std::string kGet = "GET /a HTTP/1.1\r\nHost: x\r\n\r\n";

}  // namespace seen
