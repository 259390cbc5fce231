#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "app/process.h"

namespace seen {
namespace {

/// A service manager's end of the socket.
class Listener {
 public:
  explicit Listener(const std::string& name) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, name.data(), name.size());
    if (name[0] == '@') {
      address.sun_path[0] = '\0';
    } else {
      path_ = name;
    }
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
    descriptor_ = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
    EXPECT_EQ(::bind(descriptor_, reinterpret_cast<const sockaddr*>(&address), length), 0)
        << std::strerror(errno);
    ::setenv("NOTIFY_SOCKET", name.c_str(), 1);
  }
  ~Listener() {
    ::close(descriptor_);
    if (!path_.empty()) ::unlink(path_.c_str());
    ::unsetenv("NOTIFY_SOCKET");
  }
  std::string Receive() const {
    char buffer[512];
    const ssize_t got = ::recv(descriptor_, buffer, sizeof buffer, 0);
    return got < 0 ? "" : std::string(buffer, static_cast<size_t>(got));
  }

 private:
  int descriptor_ = -1;
  std::string path_;
};

TEST(ServiceManager, IsToldOverAPathAndOverAnAbstractName) {
  for (const std::string& name : {fmt::format("{}/seen-notify-{}", testing::TempDir(), ::getpid()),
                                  fmt::format("@seen-notify-{}", ::getpid())}) {
    const Listener listener(name);
    const ServiceManager manager;
    EXPECT_TRUE(manager.present());
    manager.Ready();
    EXPECT_EQ(listener.Receive(), "READY=1");
    manager.Status("catching up\nlag 7");
    EXPECT_EQ(listener.Receive(), "STATUS=catching up lag 7");
    manager.Alive();
    EXPECT_EQ(listener.Receive(), "WATCHDOG=1");
    manager.Stopping();
    EXPECT_EQ(listener.Receive(), "STOPPING=1");
  }
}

TEST(ServiceManager, DoesNothingWhereThereIsNone) {
  ::unsetenv("NOTIFY_SOCKET");
  const ServiceManager none;
  EXPECT_FALSE(none.present());
  none.Ready();
  for (const std::string& name : {std::string("relative"), std::string("@"), "/" + std::string(200, 'x')}) {
    ::setenv("NOTIFY_SOCKET", name.c_str(), 1);
    EXPECT_FALSE(ServiceManager().present()) << name;
  }
  ::setenv("NOTIFY_SOCKET", "/nowhere/notify", 1);
  ServiceManager().Ready();
  ::unsetenv("NOTIFY_SOCKET");
}

TEST(ServiceManager, IsToldTwiceAsOftenAsItsWatchdogAsksOfThisProcess) {
  ::setenv("WATCHDOG_USEC", "30000000", 1);
  EXPECT_EQ(ServiceManager().watchdog_interval(), std::chrono::seconds(15));
  ::setenv("WATCHDOG_PID", std::to_string(::getpid()).c_str(), 1);
  EXPECT_EQ(ServiceManager().watchdog_interval(), std::chrono::seconds(15));
  ::setenv("WATCHDOG_PID", "1", 1);
  EXPECT_EQ(ServiceManager().watchdog_interval(), std::nullopt);
  ::unsetenv("WATCHDOG_PID");
  for (const char* const wrong : {"", "0", "-5", "3s", "99999999999999999999"}) {
    ::setenv("WATCHDOG_USEC", wrong, 1);
    EXPECT_EQ(ServiceManager().watchdog_interval(), std::nullopt) << wrong;
  }
  ::unsetenv("WATCHDOG_USEC");
}

}  // namespace
}  // namespace seen
