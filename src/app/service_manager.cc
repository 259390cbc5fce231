#include "app/service_manager.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace seen {
namespace {

std::string_view Environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

std::optional<int64_t> ParseNumber(std::string_view text) {
  int64_t number = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || failed != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

ServiceManager::ServiceManager() {
  const std::string_view socket = Environment("NOTIFY_SOCKET");
  if (socket.size() > 1 && socket.size() < sizeof(sockaddr_un::sun_path) &&
      (socket[0] == '/' || socket[0] == '@')) {
    socket_ = socket;
  }
  const auto microseconds = ParseNumber(Environment("WATCHDOG_USEC"));
  const std::string_view pid = Environment("WATCHDOG_PID");
  const bool is_ours = pid.empty() || ParseNumber(pid) == static_cast<int64_t>(getpid());
  if (microseconds && *microseconds > 0 && is_ours)
    watchdog_interval_ = std::chrono::microseconds(*microseconds / 2);
}

void ServiceManager::Status(std::string_view text) const {
  std::string message = "STATUS=";
  message += text;
  for (char& c : message) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  (void)Send(message);
}

bool ServiceManager::Send(std::string_view message) const {
  if (socket_.empty()) return false;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, socket_.data(), socket_.size());
  if (socket_[0] == '@') address.sun_path[0] = '\0';  // unix(7): the abstract namespace
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket_.size());
  const int descriptor = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor < 0) return false;
  const ssize_t sent = ::sendto(descriptor, message.data(), message.size(), MSG_NOSIGNAL,
                                reinterpret_cast<const sockaddr*>(&address), length);
  ::close(descriptor);
  return sent == static_cast<ssize_t>(message.size());
}

}  // namespace seen
