#pragma once
// From an HTTP request to its answer, over the QueryPort. No sockets. Addresses, headers and errors:
// docs/HTTP.md.

#include <functional>
#include <string>
#include <string_view>

#include "flow/query_port.h"
#include "serve/http_message.h"

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

  /// `queries` must outlive this.
  Routes(QueryPort& queries, MetricsPage metrics_page, ReadyCheck ready_check);

  HttpResponse Handle(const HttpRequest& request) const;

 private:
  QueryPort& queries_;
  MetricsPage metrics_page_;
  ReadyCheck ready_check_;
};

}  // namespace seen
