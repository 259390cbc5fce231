#pragma once
// Reports the daemon's state to systemd. Uses the protocol of sd_notify(3): one datagram to $NOTIFY_SOCKET,
// without libsystemd.

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace seen {

/// Without a service manager every call does nothing. Never blocks. Any thread.
class ServiceManager {
 public:
  /// Reads $NOTIFY_SOCKET, $WATCHDOG_USEC and $WATCHDOG_PID.
  ServiceManager();

  bool present() const { return !socket_.empty(); }
  void Ready() const { (void)Send("READY=1"); }
  void Stopping() const { (void)Send("STOPPING=1"); }
  /// One line for `systemctl status`; line breaks become spaces.
  void Status(std::string_view text) const;
  void Alive() const { (void)Send("WATCHDOG=1"); }

  /// How often to call Alive(): half of systemd's limit. nullopt: systemd doesn't watch this process.
  std::optional<std::chrono::microseconds> watchdog_interval() const { return watchdog_interval_; }

 private:
  bool Send(std::string_view message) const;

  std::string socket_;  // a path, or an abstract name after '@'; empty: none
  std::optional<std::chrono::microseconds> watchdog_interval_;
};

}  // namespace seen
