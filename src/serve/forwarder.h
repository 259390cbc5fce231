#pragma once
// Passes requests on to other daemons over HTTP/1.1, on connections that it keeps.

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "owner/route_port.h"
#include "query/daemon_status.h"
#include "serve/http_message.h"

namespace seen {

struct TlsContext;

/// A request as it is passed on.
struct ForwardedRequest {
  std::string address;  // HOST:PORT
  std::string method;
  std::string target;
  std::string body;
  std::string content_type;
  std::chrono::milliseconds deadline{0};
  std::string client = {};  // the address of whom this daemon asks for
};

/// Any thread.
class ForwardPort {
 public:
  virtual ~ForwardPort() = default;
  /// Whether a request may go to this address.
  virtual bool Allows(const std::string& address) const = 0;
  /// True: a request to this address got no answer within the last second, so others are asked first.
  virtual bool IsSilent(const std::string& address) const = 0;
  /// Calls `give` once, from any thread: with the other daemon's answer, or with 503 and the reason.
  using Give = std::function<void(HttpResponse)>;
  virtual void Forward(ForwardedRequest request, Give give) = 0;
};

/// The cluster's daemons, this one among them. The objects pointed to outlive this.
struct Cluster {
  std::string instance;               // of this daemon: Seen-Answered-By
  const RoutePort* routes = nullptr;  // nullptr: nobody is known
  ForwardPort* forwarder = nullptr;   // nullptr: nothing is passed on
};

/// Whether another daemon may answer a request about the user.
bool CanPassOn(const Cluster& cluster, const HttpRequest& request, std::string_view user_id);
/// The answer of another daemon, later. nullopt: there is none to ask. Owners are asked before replicas, and
/// those that don't answer last.
std::optional<HttpResponse> PassOn(const Cluster& cluster, const HttpRequest& request,
                                   std::string_view user_id);

/// It has one thread, which waits only for its sockets. So a daemon that hangs doesn't delay answers of the
/// others.
class Forwarder final : public ForwardPort {
 public:
  struct Options {
    std::function<bool(std::string_view address)> allows;
    std::string instance;                              // of this daemon, for the others' logs
    std::string token;                                 // the other daemons ask for it
    std::function<std::shared_ptr<TlsContext>()> tls;  // called for each connection; empty, or nullptr: plain
    size_t under_way_max = 64;                         // to one daemon; 503 beyond
    size_t bytes_max = 16 << 20;                       // of requests and answers under way; 503 beyond
  };
  explicit Forwarder(Options options);
  /// Requests under way get 503.
  ~Forwarder() override;
  Forwarder(const Forwarder&) = delete;
  Forwarder& operator=(const Forwarder&) = delete;

  bool Allows(const std::string& address) const override;
  bool IsSilent(const std::string& address) const override;
  void Forward(ForwardedRequest request, Give give) override;

  ForwardFigures figures() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace seen
