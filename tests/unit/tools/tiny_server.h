#pragma once

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <string>
#include <thread>

namespace seen {

/// Answers each request on loopback with what `answer` returns. If `answer` returns "", closes the
/// connection.
class TinyServer {
 public:
  using Answer = std::function<std::string(int request_number, const std::string& request)>;

  explicit TinyServer(Answer answer)
      : answer_(std::move(answer)), listener_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(listen(listener_, 8), 0);
    socklen_t size = sizeof address;
    getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { Serve(); });
  }
  ~TinyServer() {
    shutdown(listener_, SHUT_RDWR);
    thread_.join();
    close(listener_);
  }
  std::string base() const { return "http://127.0.0.1:" + std::to_string(port_); }
  int connections() const { return connections_; }

  static std::string Response(int status, const std::string& body, const std::string& headers = "") {
    return "HTTP/1.1 " + std::to_string(status) + " X\r\nContent-Length: " + std::to_string(body.size()) +
           "\r\n" + headers + "\r\n" + body;
  }

 private:
  void Serve() {
    while (true) {
      const int client = accept(listener_, nullptr, nullptr);
      if (client < 0) return;
      ++connections_;
      std::string pending;
      char bytes[4096];
      for (ssize_t got; (got = read(client, bytes, sizeof bytes)) > 0;) {
        pending.append(bytes, static_cast<size_t>(got));
        const size_t head = pending.find("\r\n\r\n");
        if (head == std::string::npos) continue;
        size_t body = 0;
        if (const size_t at = pending.find("Content-Length: "); at < head)
          body = std::stoul(pending.substr(at + 16));
        if (pending.size() < head + 4 + body) continue;
        const std::string response = answer_(requests_++, pending);
        pending.clear();
        if (response.empty()) break;
        EXPECT_EQ(write(client, response.data(), response.size()), static_cast<ssize_t>(response.size()));
      }
      close(client);
    }
  }

  Answer answer_;
  int listener_;
  uint16_t port_ = 0;
  int requests_ = 0;
  std::atomic<int> connections_ = 0;
  std::thread thread_;
};

}  // namespace seen
