#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "serve/http_server.h"
#include "unit/serve/raw_client.h"

namespace seen {

/// An echo server: the answer's body is the request's method, target and body.
class HttpServerTest : public testing::Test {
 protected:
  void Start(HttpOptions options = {}, HttpServer::Handler handler = Echo, HttpServer::BodyRules rules = {}) {
    if (options.listen == HttpOptions{}.listen) options.listen = "127.0.0.1:0";
    auto server = HttpServer::Start(
        options, std::move(handler),
        [this](std::string_view route, unsigned status, std::chrono::nanoseconds) {
          const std::lock_guard lock(mutex_);
          ++answers_[{std::string(route), status}];
        },
        std::move(rules));
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

  std::mutex mutex_;
  std::map<std::pair<std::string, unsigned>, int> answers_;
  std::unique_ptr<HttpServer> server_;
};

inline const std::string kGet = "GET /a HTTP/1.1\r\nHost: x\r\n\r\n";

}  // namespace seen
