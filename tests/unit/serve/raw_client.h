#pragma once
// A TCP client that sends bytes as they are, so that tests can break the protocol.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

namespace seen {

struct RawAnswer {
  unsigned status = 0;
  std::string head;
  std::string body;
};

class RawClient {
 public:
  explicit RawClient(uint16_t port, bool v6 = false) : fd_(socket(v6 ? AF_INET6 : AF_INET, SOCK_STREAM, 0)) {
    int failed = 0;
    if (v6) {
      sockaddr_in6 address{};
      address.sin6_family = AF_INET6;
      address.sin6_port = htons(port);
      address.sin6_addr = in6addr_loopback;
      failed = connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address);
    } else {
      sockaddr_in address{};
      address.sin_family = AF_INET;
      address.sin_port = htons(port);
      address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      failed = connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address);
    }
    connected_ = failed == 0;
  }
  ~RawClient() { close(fd_); }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  bool connected() const { return connected_; }

  /// False: the server closed or reset the connection.
  bool Send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
    return true;
  }
  void FinishSending() { shutdown(fd_, SHUT_WR); }

  /// The next answer. `has_body` is false for the answer to a HEAD. nullopt: the connection ended, or
  /// `timeout_ms` passed.
  std::optional<RawAnswer> Receive(bool has_body = true, int timeout_ms = 5'000) {
    while (input_.find("\r\n\r\n") == std::string::npos) {
      if (!More(timeout_ms)) return std::nullopt;
    }
    const size_t head_end = input_.find("\r\n\r\n") + 4;
    RawAnswer answer;
    answer.head = input_.substr(0, head_end);
    answer.status = static_cast<unsigned>(std::atoi(answer.head.c_str() + 9));
    const size_t length_at = answer.head.find("Content-Length: ");
    const size_t length = !has_body || length_at == std::string::npos
                              ? 0
                              : static_cast<size_t>(std::atoi(answer.head.c_str() + length_at + 16));
    while (input_.size() < head_end + length) {
      if (!More(timeout_ms)) return std::nullopt;
    }
    answer.body = input_.substr(head_end, length);
    input_.erase(0, head_end + length);
    return answer;
  }
  /// The next answer, or one of status 0 if none comes.
  RawAnswer Next() { return Receive().value_or(RawAnswer{}); }
  /// The next answer after the client has sent `bytes`, also if the server didn't take all of them.
  RawAnswer AnswerTo(std::string_view bytes) {
    Send(bytes);
    return Next();
  }
  /// Whether the server ends the connection within `timeout_ms` without another byte, and without a reset.
  bool SeesEnd(int timeout_ms = 5'000) {
    if (!input_.empty()) return false;
    return !More(timeout_ms) && ended_;
  }

 private:
  bool More(int timeout_ms) {
    pollfd waiting{fd_, POLLIN, 0};
    if (poll(&waiting, 1, timeout_ms) != 1) return false;
    char bytes[64 * 1024];
    const ssize_t received = recv(fd_, bytes, sizeof bytes, 0);
    ended_ = received == 0;
    if (received <= 0) return false;
    input_.append(bytes, static_cast<size_t>(received));
    return true;
  }

  int fd_;
  bool connected_ = false;
  bool ended_ = false;
  std::string input_;
};

}  // namespace seen
