#pragma once
// An answer's bytes as they go over the connection.

#include <string>

#include "serve/http_message.h"

namespace seen {

struct WireOptions {
  bool head = false;      // length only, no body
  bool http_1_0 = false;  // the client's version: the answer must say keep-alive
  bool keep_alive = true;
};

/// Appends status line, headers and body to `out`. Any thread.
void AppendResponse(const HttpResponse& response, const WireOptions& options, std::string& out);

}  // namespace seen
