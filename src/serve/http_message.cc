#include "serve/http_message.h"

#include <ctime>
#include <nlohmann/json.hpp>
#include <random>

#include "base/text.h"

namespace seen {
namespace {

unsigned StatusOf(Code code) {
  switch (code) {
    case Code::kInvalidArgument:
    case Code::kMalformed:
      return 400;
    case Code::kNotFound:
      return 404;
    case Code::kUnavailable:
    case Code::kDenied:
    case Code::kNoSpace:
    case Code::kRefused:
      return 503;
    case Code::kCorrupt:
      break;
  }
  return 500;
}

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

std::string_view ReasonPhrase(unsigned status) {
  constexpr std::pair<unsigned, std::string_view> kPhrases[] = {
      {200, "OK"},
      {202, "Accepted"},
      {400, "Bad Request"},
      {401, "Unauthorized"},
      {403, "Forbidden"},
      {404, "Not Found"},
      {405, "Method Not Allowed"},
      {408, "Request Timeout"},
      {413, "Content Too Large"},
      {415, "Unsupported Media Type"},
      {417, "Expectation Failed"},
      {429, "Too Many Requests"},
      {431, "Request Header Fields Too Large"},
      {500, "Internal Server Error"},
      {501, "Not Implemented"},
      {503, "Service Unavailable"},
      {505, "HTTP Version Not Supported"},
  };
  for (const auto& [known, phrase] : kPhrases) {
    if (known == status) return phrase;
  }
  return "Unknown";
}

HttpResponse Problem(unsigned status, std::string_view detail, std::string_view target) {
  nlohmann::ordered_json problem;
  problem["type"] = "about:blank";
  problem["title"] = ReasonPhrase(status);
  problem["status"] = status;
  problem["detail"] = detail;
  if (!target.empty()) problem["instance"] = target.substr(0, 2048);

  HttpResponse response;
  response.status = status;
  response.content_type = kProblemJson;
  // Details and targets repeat what a client sent, which may not be UTF-8.
  response.body = JsonText(problem) + "\n";
  if (status == 503) response.headers.emplace_back("Retry-After", "1");
  return response;
}

HttpResponse TryLater(std::string_view detail, std::string_view target) {
  constexpr unsigned kRetryAfterMaxS = 3;
  thread_local std::minstd_rand random{std::random_device{}()};
  HttpResponse response = Problem(503, detail, target);
  response.headers.back().second = std::to_string(1 + random() % kRetryAfterMaxS);
  return response;
}

HttpResponse Problem(const Error& error, std::string_view target) {
  return Problem(StatusOf(error.code), error.message, target);
}

void AppendResponse(const HttpResponse& response, const WireOptions& options, std::string& out) {
  out.append("HTTP/1.1 ").append(std::to_string(response.status)).append(" ");
  out.append(ReasonPhrase(response.status)).append("\r\n");
  AppendHeader("Date", DateNow(), out);
  if (!response.content_type.empty()) AppendHeader("Content-Type", response.content_type, out);
  const size_t length = options.head && response.head_bytes ? *response.head_bytes : response.body.size();
  AppendHeader("Content-Length", std::to_string(length), out);
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
