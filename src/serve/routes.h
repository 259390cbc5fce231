#pragma once
// Answers HTTP requests over the QueryPort and the ChangePort, without sockets. Addresses, headers and
// errors: docs/HTTP.md.

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "flow/change_port.h"
#include "owner/route_port.h"
#include "query/fill_port.h"
#include "query/query_port.h"
#include "serve/forwarder.h"
#include "serve/gate.h"
#include "serve/http_message.h"
#include "serve/readiness.h"
#include "serve/reload_port.h"
#include "serve/state_copies_port.h"

namespace seen {

/// Thread-safe if all that it is given is thread-safe.
class Routes {
 public:
  using MetricsPage = std::function<std::string()>;  // Prometheus text format 0.0.4
  using ReadyCheck = std::function<Readiness()>;

  /// `queries` and `changes` must outlive this, and answers that come later.
  Routes(QueryPort& queries, ChangePort& changes, MetricsPage metrics_page, ReadyCheck ready_check);

  /// The cluster's daemons, this one among them. The objects pointed to outlive this.
  struct Cluster {
    std::string instance;               // of this daemon: Seen-Answered-By
    std::string token;                  // daemons that pass requests on must send it; empty: they needn't
    const RoutePort* routes = nullptr;  // nullptr: nobody is known
    ForwardPort* forwarder = nullptr;   // nullptr: nothing is passed on
  };
  /// Call it before the first request.
  void SetCluster(Cluster cluster) { cluster_ = std::move(cluster); }
  /// Both must outlive this, or be replaced by nullptr while nobody asks. Until they are set, their pages
  /// answer 503.
  void SetStateCopies(StateCopiesPort* copies) { copies_.store(copies); }

  void SetFills(FillPort* fills) { fills_.store(fills); }

  /// Must outlive this.
  void SetReload(ReloadPort* reload) { reload_.store(reload); }

  /// The server asks this before it reads a body, so that a request that is refused anyway costs no body.
  /// `gate`: of the listener that the request came in by. The default gate has all pages and lets everybody
  /// in.
  BodyRule RuleFor(const HttpRequest& head, const Gate& gate = Gate()) const;
  HttpResponse Handle(const HttpRequest& request, const Gate& gate = Gate()) const;

 private:
  std::vector<std::string> PeersFor(const HttpRequest& request, std::string_view user_id) const;
  HttpResponse Forward(std::vector<std::string> addresses, const HttpRequest& request) const;
  std::optional<HttpResponse> RefuseHop(const HttpRequest& request) const;
  QueryPort& queries_;
  ChangePort& changes_;
  MetricsPage metrics_page_;
  ReadyCheck ready_check_;
  Cluster cluster_;
  std::atomic<StateCopiesPort*> copies_{nullptr};
  std::atomic<FillPort*> fills_{nullptr};
  std::atomic<ReloadPort*> reload_{nullptr};
};

}  // namespace seen
