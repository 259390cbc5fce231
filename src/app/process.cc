#include "app/process.h"

#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <utility>

#include "base/log.h"

namespace seen {

StopSignal::StopSignal(std::chrono::milliseconds patience, const std::atomic<int>& exit_status,
                       std::function<void()> on_hangup) {
  sigemptyset(&signals_);
  sigaddset(&signals_, SIGTERM);
  sigaddset(&signals_, SIGINT);
  sigaddset(&signals_, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
  // If a peer goes away, a write fails. The process goes on.
  std::signal(SIGPIPE, SIG_IGN);
  waiter_ = std::thread([this, patience, &exit_status, on_hangup = std::move(on_hangup)] {
    int signals_seen = 0;
    std::chrono::steady_clock::time_point leave_at = std::chrono::steady_clock::time_point::max();
    while (!done_.load()) {
      const auto now = std::chrono::steady_clock::now();
      if (requested() && leave_at == std::chrono::steady_clock::time_point::max()) leave_at = now + patience;
      if (now >= leave_at) {
        log::Warning("exiting without waiting any longer", {{"exit_status", exit_status.load()}});
        std::_Exit(exit_status.load());
      }
      const timespec slice{0, 100'000'000};
      const int number = sigtimedwait(&signals_, nullptr, &slice);
      if (number <= 0) continue;
      if (number == SIGHUP) {
        on_hangup();
        continue;
      }
      if (++signals_seen > 1) std::_Exit(128 + number);
      log::Info("stopping", {{"signal", number == SIGTERM ? "SIGTERM" : "SIGINT"}});
      Request();
    }
  });
}

StopSignal::~StopSignal() {
  done_.store(true);
  waiter_.join();
}

void StopSignal::Request() {
  {
    const MutexLock lock(mutex_);
    requested_.store(true, std::memory_order_release);
  }
  changed_.NotifyAll();
}

bool StopSignal::WaitFor(std::chrono::milliseconds timeout) {
  const auto until = std::chrono::steady_clock::now() + timeout;
  const MutexLock lock(mutex_);
  while (!requested() && changed_.WaitUntil(mutex_, until)) {
  }
  return requested();
}

size_t RaiseFileLimit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return std::numeric_limits<size_t>::max();
  const rlim_t before = limit.rlim_cur;
  limit.rlim_cur = limit.rlim_max;
  if (before < limit.rlim_max && ::setrlimit(RLIMIT_NOFILE, &limit) != 0) limit.rlim_cur = before;
  return limit.rlim_cur / 8 * 3;
}

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

namespace {
constexpr std::chrono::milliseconds kTryEvery{500};
constexpr std::string_view kRemedy =
    "free space on this disk (df -h; df -i for its inodes), or enlarge it. The daemon goes on by itself";
}  // namespace

bool SpaceWait::Wait(const Error& error) {
  reporter_.NoSpaceAtOpening();
  status_.SetProblem("waiting for space: " + error.message + ". Remedy: " + std::string(kRemedy));
  if (!since_) {
    since_ = std::chrono::steady_clock::now();
    log::Error("waiting for space", {{"reason", error.message}, {"remedy", kRemedy}});
  }
  return !stop_.WaitFor(kTryEvery);
}

void SpaceWait::Ended() {
  if (!since_) return;
  const auto waited = std::chrono::steady_clock::now() - *since_;
  since_.reset();
  status_.SetProblem("starting");
  log::Info("there is space again; the start goes on",
            {{"waited_s", std::chrono::duration_cast<std::chrono::seconds>(waited).count()}});
}

}  // namespace seen
