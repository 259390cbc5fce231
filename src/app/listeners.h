#pragma once
// The daemon's two listeners over one set of pages: http.listen for look-ups, admin.listen for all pages.

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/result.h"
#include "config/config.h"
#include "serve/credentials.h"
#include "serve/http_server.h"
#include "serve/metrics.h"
#include "serve/routes.h"

namespace seen {

/// Start, SetLimits and Stop: one thread.
class Listeners {
 public:
  /// `connections_max`: at most so many, whatever http.connections_max says. `credentials`, `pages` and
  /// `metrics` outlive this object. Errors as HttpServer::Start.
  static Result<std::unique_ptr<Listeners>> Start(const Config& config, size_t bodies_bytes,
                                                  size_t connections_max, const Credentials& credentials,
                                                  const PageSources& pages, Metrics& metrics);

  /// The port of http.listen.
  uint16_t port() const { return http_->port(); }
  /// Sets the limits that the keys `http.client_…` give.
  void SetLimits(const HttpConfig& http);
  /// Requests under way may finish. A second call does nothing.
  void Stop();

 private:
  Listeners() = default;
  std::unique_ptr<const Routes> query_pages_;
  std::unique_ptr<const Routes> admin_pages_;
  std::unique_ptr<HttpServer> http_;
  std::unique_ptr<HttpServer> admin_;  // only with admin.listen
};

/// The files that the section `access` names.
CredentialFiles CredentialFilesOf(const AccessConfig& access);

}  // namespace seen
