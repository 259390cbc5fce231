#pragma once
// From an HTTP request to its answer, over the QueryPort and the ChangePort. No sockets. Addresses, headers
// and errors: docs/HTTP.md.

#include <functional>
#include <string>
#include <string_view>

#include "flow/change_port.h"
#include "serve/http_message.h"
#include "serve/query_port.h"

namespace seen {

struct Readiness {
  bool ready = false;
  std::string reason;  // for people; empty when ready
};

/// Thread-safe as long as what it is given is.
class Routes {
 public:
  using MetricsPage = std::function<std::string()>;  // Prometheus text format 0.0.4
  using ReadyCheck = std::function<Readiness()>;

  /// `queries` and `changes` must outlive this, and what is answered later.
  Routes(QueryPort& queries, ChangePort& changes, MetricsPage metrics_page, ReadyCheck ready_check);

  HttpResponse Handle(const HttpRequest& request) const;

 private:
  QueryPort& queries_;
  ChangePort& changes_;
  MetricsPage metrics_page_;
  ReadyCheck ready_check_;
};

}  // namespace seen
