#pragma once
// An HTTP request and its answer as plain values, so that the pages are tested without sockets.

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace seen {

/// Views are valid while the request is being handled.
struct HttpRequest {
  std::string_view method;     // as sent: "GET", "HEAD", "POST", ...
  std::string_view target;     // as sent, percent-encoded: "/v1/filters/default/users/u%201"
  std::string_view body = {};  // whole; transfer coding removed
  std::string_view content_type = {};
  std::string_view hop = {};            // Seen-Hop: the daemon that passed this on; empty: a client asks
  std::string_view token = {};          // Seen-Token: the secret that daemons share
  std::string_view deadline_ms = {};    // Seen-Deadline-Ms: how long the asker waits
  std::string_view authorization = {};  // Authorization, as sent
  std::string_view remote = {};         // the client's ADDRESS:PORT
  std::string_view host = {};           // Host: HOST or HOST:PORT
  std::string_view origin = {};         // Origin: of the web page that asks; empty: none does
  std::string_view encoding = {};       // Content-Encoding
  std::string_view client = {};         // Seen-Client: the address of whom a daemon asks for
};

struct HttpResponse {
  unsigned status = 200;
  std::string content_type;
  std::vector<std::pair<std::string, std::string>> headers;  // besides those the server writes itself
  std::string body;  // also for HEAD: the server sends its length only

  /// If this is set, the answer comes later, and nothing else of this response counts. The server calls
  /// `later` once. `give` takes the answer: once, from any thread, maybe before `later` returns, and before
  /// the server goes. Views of the request are invalid by then.
  std::function<void(std::function<void(HttpResponse)> give)> later = {};

  std::optional<size_t> head_bytes = {};  // for HEAD, if `body` isn't here: its length
};

/// The route label if no route matched, or if the server refused before it asked the routes.
inline constexpr std::string_view kRouteNone = "none";

struct Page;  // a row of serve/routes.cc

/// A request that was matched with its route. The server keeps it from the end of the header to the answer.
struct RoutedRequest {
  HttpRequest request;                           // without its body, until the body is here
  std::string_view route = kRouteNone;           // a constant: the pattern that matched; a label of metrics
  const Page* page = nullptr;                    // nullptr: none
  std::array<std::string_view, 2> parameters{};  // what "{...}" of the pattern stand for, percent-encoded
  std::string asked_by{};                        // the name of the token's holder
  size_t body_bytes_max = 0;                     // 413 beyond
  size_t body_bytes_a_byte = 1;  // memory that a byte of the body takes until the answer, itself included
  std::optional<HttpResponse> refusal{};  // answered instead; nobody looks at the body
};

/// "Not Found" for 404; "Unknown" for a status this program never sends.
std::string_view ReasonPhrase(unsigned status);

// Errors as RFC 9457 problem documents.

inline constexpr std::string_view kProblemJson = "application/problem+json";

/// `target`: the request's target, for `instance`; empty if it isn't known. 503 gets `Retry-After: 1`.
HttpResponse Problem(unsigned status, std::string_view detail, std::string_view target);

/// A 503 for a client that another one may answer later. `Retry-After` differs from client to client, so that
/// they don't all come back at once.
HttpResponse TryLater(std::string_view detail, std::string_view target);

/// The same for an error of the QueryPort: 404, 400, 503 or 500 by its code.
HttpResponse Problem(const Error& error, std::string_view target);

// An answer's bytes.

struct WireOptions {
  bool head = false;      // length only, no body
  bool http_1_0 = false;  // the client's version: the answer must say keep-alive
  bool keep_alive = true;
};

/// Appends status line, headers and body to `out`. Any thread.
void AppendResponse(const HttpResponse& response, const WireOptions& options, std::string& out);

}  // namespace seen
