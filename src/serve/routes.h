#pragma once
// The routes of a listener: which page a request leads to, who may ask for it, and how long its body may be.
// The rows are in routes.cc.

#include <utility>

#include "serve/gate.h"
#include "serve/http_server.h"
#include "serve/pages.h"

namespace seen {

/// Thread-safe if the sources are.
class Routes final : public HttpPages {
 public:
  /// `sources` must outlive this, and answers that come later. The default gate has all pages and lets
  /// everybody in.
  explicit Routes(const PageSources& sources, Gate gate = Gate())
      : sources_(sources), gate_(std::move(gate)) {}

  RoutedRequest Find(const HttpRequest& head) const override;
  bool IsPassedOn(const HttpRequest& head) const override { return gate_.IsPassedOn(head); }
  std::optional<HttpResponse> RefuseBody(const RoutedRequest& routed) const override;
  /// What this daemon can't answer now about a user, another daemon answers, if there is one.
  HttpResponse Answer(const RoutedRequest& routed) const override;

 private:
  const PageSources& sources_;
  const Gate gate_;
};

}  // namespace seen
