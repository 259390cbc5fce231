#include "app/listeners.h"

#include <algorithm>

#include "base/log.h"

namespace seen {
namespace {

// For operators and Prometheus, not for a fleet of recall servers.
constexpr size_t kAdminConnectionsMax = 256;
constexpr unsigned kAdminThreads = 1;

}  // namespace

CredentialFiles CredentialFilesOf(const AccessConfig& access) {
  return {access.certificate, access.key, access.ca, access.tokens};
}

Result<std::unique_ptr<Listeners>> Listeners::Start(const Config& config, size_t bodies_bytes,
                                                    size_t connections_max, const Credentials& credentials,
                                                    const PageSources& pages, Metrics& metrics) {
  std::unique_ptr<Listeners> listeners(new Listeners());
  Gate::Options gate;
  gate.tokens = [&credentials] { return credentials.tokens(); };
  gate.cluster_token = config.cluster.token;
  gate.hosts = KnownHosts(config.http.hosts, ReachedAt(config, 0));
  gate.audit_hashes_users = config.access.audit_hashes_users;
  listeners->admin_pages_ = std::make_unique<const Routes>(pages, Gate(gate));
  gate.queries_only = config.admin.listen.has_value();
  gate.elsewhere = "admin.listen";
  listeners->query_pages_ = std::make_unique<const Routes>(pages, Gate(gate));

  const auto start = [&](const HttpOptions& options, const Routes& routes) {
    return HttpServer::Start(
        options, routes,
        [&metrics](std::string_view route, unsigned code, std::chrono::nanoseconds duration) {
          metrics.HttpAnswered(route, code, duration);
        },
        [&credentials] { return credentials.server_tls(); });
  };
  HttpOptions http;
  http.listen = config.http.listen;
  http.threads = config.http.threads;
  http.connections_max = std::min(config.http.connections_max, connections_max);
  if (http.connections_max < config.http.connections_max) {
    log::Warning("the limit on open files allows fewer connections than http.connections_max",
                 {{"connections_max", http.connections_max},
                  {"remedy", "raise the hard limit (ulimit -Hn; LimitNOFILE of systemd)"}});
  }
  http.client_connections_max = config.http.client_connections_max;
  http.client_requests_per_s_max = config.http.client_requests_per_s_max;
  // Two listeners share the memory for bodies.
  http.bodies_bytes_max = config.admin.listen ? bodies_bytes * 3 / 4 : bodies_bytes;
  http.client_bodies_bytes_max = http.bodies_bytes_max * 3 / 4;
  auto server = start(http, *listeners->query_pages_);
  if (!server) return Fail(server.error());
  listeners->http_ = std::move(*server);
  if (!config.admin.listen) return listeners;

  HttpOptions admin;
  admin.key = "admin.listen";
  admin.listen = *config.admin.listen;
  admin.threads = kAdminThreads;
  admin.connections_max = kAdminConnectionsMax;
  admin.client_connections_max = kAdminConnectionsMax;
  admin.bodies_bytes_max = bodies_bytes - http.bodies_bytes_max;
  server = start(admin, *listeners->admin_pages_);
  if (!server) return Fail(server.error());
  listeners->admin_ = std::move(*server);
  log::Info("admin pages have a port of their own",
            {{"listen", *config.admin.listen}, {"port", static_cast<int>(listeners->admin_->port())}});
  return listeners;
}

void Listeners::SetLimits(const HttpConfig& http) {
  http_->SetClientLimits(http.client_connections_max, http.client_requests_per_s_max);
}

void Listeners::Stop() {
  if (http_) http_->Stop();
  if (admin_) admin_->Stop();
}

}  // namespace seen
