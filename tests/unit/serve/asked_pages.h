#pragma once

#include <string_view>
#include <utility>

#include "serve/routes.h"

namespace seen {

/// An answer as a server counts it.
struct Answered : HttpResponse {
  std::string_view route;
};

/// Asks the pages as a server does whose request is here as a whole. An answer that comes later must come at
/// once.
inline Answered Asked(const HttpPages& pages, const HttpRequest& request) {
  RoutedRequest routed = pages.Find(request);
  HttpResponse response = routed.refusal ? std::move(*routed.refusal) : pages.Answer(routed);
  if (const auto later = response.later) later([&](HttpResponse answer) { response = std::move(answer); });
  return {std::move(response), routed.route};
}

/// What the pages say against a request whose body isn't here yet.
inline std::optional<HttpResponse> RefusedBody(const HttpPages& pages, const HttpRequest& head) {
  RoutedRequest routed = pages.Find(head);
  return routed.refusal ? std::move(routed.refusal) : pages.RefuseBody(routed);
}

}  // namespace seen
