#include "serve/http_wire.h"

#include <ctime>

#include "base/result.h"

namespace seen {
namespace {

/// IMF-fixdate (RFC 9110 section 5.6.7), formatted once a second in each thread.
std::string_view DateNow() {
  thread_local std::time_t made_at = -1;
  thread_local char text[64] = "";
  const std::time_t now = std::time(nullptr);
  if (now != made_at) {
    std::tm utc{};
    gmtime_r(&now, &utc);
    std::strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &utc);
    made_at = now;
  }
  return text;
}

void AppendHeader(std::string_view name, std::string_view value, std::string& out) {
  Check(value.find_first_of("\r\n") == std::string_view::npos, "a header value is one line");
  out.append(name).append(": ").append(value).append("\r\n");
}

}  // namespace

void AppendResponse(const HttpResponse& response, const WireOptions& options, std::string& out) {
  out.append("HTTP/1.1 ").append(std::to_string(response.status)).append(" ");
  out.append(ReasonPhrase(response.status)).append("\r\n");
  AppendHeader("Date", DateNow(), out);
  if (!response.content_type.empty()) AppendHeader("Content-Type", response.content_type, out);
  AppendHeader("Content-Length", std::to_string(response.body.size()), out);
  AppendHeader("Cache-Control", "no-store", out);  // an answer is true as of now
  for (const auto& [name, value] : response.headers) AppendHeader(name, value, out);
  if (!options.keep_alive) {
    AppendHeader("Connection", "close", out);
  } else if (options.http_1_0) {
    AppendHeader("Connection", "keep-alive", out);
  }
  out.append("\r\n");
  if (!options.head) out.append(response.body);
}

}  // namespace seen
