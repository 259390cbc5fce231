#pragma once
// HTTP/1.1 over Boost.Beast: sockets, limits and time-outs. Pages give the answers (routes.h).

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "serve/http_message.h"

namespace seen {

struct TlsContext;

struct HttpOptions {
  std::string key = "http.listen";                    // of the configuration, for errors
  std::string listen = "127.0.0.1:8080";              // ADDRESS:PORT or [ADDRESS]:PORT; port 0: any free one
  unsigned threads = 2;                               // at least 1
  size_t header_bytes_max = 16 * 1024;                // request line and headers; 431 beyond
  size_t bodies_bytes_max = 64 * 1024 * 1024;         // all bodies together, with what reading them takes
  std::chrono::milliseconds idle_timeout{60'000};     // between requests: the connection is closed
  std::chrono::milliseconds request_timeout{10'000};  // from a request's first byte to its last: 408; and for
                                                      // the client to take an answer
  std::chrono::milliseconds stop_timeout{2'000};      // how long Stop() waits for requests under way
  size_t connections_max = 1024;                      // 503 beyond
  size_t client_connections_max = 1024;               // of one client (http_clients.h); 503 beyond
  size_t client_bodies_bytes_max = SIZE_MAX;          // of one client, of bodies_bytes_max; 503 beyond
  uint32_t client_requests_per_s_max = 1'000'000'000;  // of one client; 429 beyond
  size_t pipeline_max = 64;                            // answers gathered before they are written
};

/// What a server serves. Called from several threads at once, in the sessions' threads. It may block for a
/// disk read, but no longer.
class HttpPages {
 public:
  virtual ~HttpPages() = default;
  /// Called once the header is complete. Finds the request's page, and refuses who may not ask for it.
  virtual RoutedRequest Find(const HttpRequest& head) const = 0;
  /// Whether another daemon of the cluster passes the request on, and has proved it.
  virtual bool IsPassedOn(const HttpRequest& /*head*/) const { return false; }
  /// Called before the server reads a body that hasn't come with the header. A refusal saves the body.
  virtual std::optional<HttpResponse> RefuseBody(const RoutedRequest& request) const = 0;
  /// Called once the whole request is here, unless it was refused.
  virtual HttpResponse Answer(const RoutedRequest& request) const = 0;
};

class HttpServer {
 public:
  /// Called for every answer, also for those that the server itself gives (400, 408, 413, 431, 505 and
  /// others). Their route is kRouteNone, unless the request's route is known. `duration`: from the request's
  /// last byte to the finished answer. Any of the threads.
  using Observer =
      std::function<void(std::string_view route, unsigned status, std::chrono::nanoseconds duration)>;

  /// Called for each connection; nullptr: the connection is plain.
  using TlsOfNow = std::function<std::shared_ptr<TlsContext>()>;

  /// Listens and serves from its own threads until Stop(). kInvalidArgument: `options.listen` can't be
  /// listened on (not an address, taken, not allowed). The message names `options.key` and the remedy.
  /// `pages` outlives the server. Without `tls`, all connections are plain.
  static Result<std::unique_ptr<HttpServer>> Start(const HttpOptions& options, const HttpPages& pages,
                                                   Observer observer = {}, TlsOfNow tls = {});
  ~HttpServer();  // Stop()
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  /// What bodies take now, of `bodies_bytes_max`. Any thread.
  size_t bodies_bytes() const;

  /// The limits apply from here on. Any thread.
  void SetClientLimits(size_t connections_max, uint32_t requests_per_s_max);

  /// The port listened on, also if port 0 was asked for.
  uint16_t port() const;

  /// Closes the port and idle connections. Lets requests under way finish for `stop_timeout`, then joins the
  /// threads. Any thread but one that answers; a second call does nothing.
  void Stop();

 private:
  struct Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace seen
