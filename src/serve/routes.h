#pragma once
// From an HTTP request to its answer, over the QueryPort and the ChangePort. No sockets. Addresses, headers
// and errors: docs/HTTP.md.

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "flow/change_port.h"
#include "serve/fill_port.h"
#include "serve/gate.h"
#include "serve/http_message.h"
#include "serve/peer_port.h"
#include "serve/query_port.h"
#include "serve/readiness.h"
#include "serve/reload_port.h"
#include "serve/state_copies_port.h"

namespace seen {

/// Thread-safe as long as what it is given is.
class Routes {
 public:
  using MetricsPage = std::function<std::string()>;  // Prometheus text format 0.0.4
  using ReadyCheck = std::function<Readiness()>;

  /// `queries` and `changes` must outlive this, and what is answered later.
  Routes(QueryPort& queries, ChangePort& changes, MetricsPage metrics_page, ReadyCheck ready_check);

  /// The other daemons, and this one among them. What it points to outlives this.
  struct Cluster {
    std::string instance;               // of this daemon: Seen-Answered-By
    std::string token;                  // asked of daemons that pass requests on; empty: of none
    const RoutePort* routes = nullptr;  // nullptr: nobody is known
    ForwardPort* forwarder = nullptr;   // nullptr: nothing is passed on
  };
  /// Before the first request.
  void SetCluster(Cluster cluster) { cluster_ = std::move(cluster); }
  /// Both must outlive this, or be replaced by nullptr while nobody asks. Before that their pages answer 503.
  void SetStateCopies(StateCopiesPort* copies) { copies_.store(copies); }

  void SetFills(FillPort* fills) { fills_.store(fills); }

  /// Must outlive this.
  void SetReload(ReloadPort* reload) { reload_.store(reload); }

  /// What the server asks before it reads a body: a request that is refused anyway costs none.
  /// `gate`: of the listener that the request came in by; the default has all pages and lets everybody in.
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
