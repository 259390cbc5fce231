#include "app/stop_signal.h"

#include <cstdlib>
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

}  // namespace seen
