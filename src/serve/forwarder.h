#pragma once
// Passes requests on to other daemons over HTTP/1.1, on connections that it keeps.

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "serve/peer_port.h"

namespace seen {

struct TlsContext;

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
    size_t bytes_max = 16 << 20;                       // of requests under way; 503 beyond
    size_t answer_bytes_max = 8 << 20;
  };
  explicit Forwarder(Options options);
  /// Requests under way get 503.
  ~Forwarder() override;
  Forwarder(const Forwarder&) = delete;
  Forwarder& operator=(const Forwarder&) = delete;

  bool Allows(const std::string& address) const override;
  bool IsSilent(const std::string& address) const override;
  void Forward(ForwardedRequest request, std::function<void(HttpResponse)> give) override;

  ForwardFigures figures() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace seen
