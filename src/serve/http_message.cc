#include "serve/http_message.h"

#include <nlohmann/json.hpp>

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

}  // namespace

std::string_view ReasonPhrase(unsigned status) {
  switch (status) {
    case 200:
      return "OK";
    case 202:
      return "Accepted";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 413:
      return "Content Too Large";
    case 415:
      return "Unsupported Media Type";
    case 417:
      return "Expectation Failed";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 503:
      return "Service Unavailable";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "Unknown";
  }
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
  response.route = kRouteNone;
  // Details and targets repeat what a client sent, which may not be UTF-8.
  response.body = problem.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  if (status == 503) response.headers.emplace_back("Retry-After", "1");
  return response;
}

HttpResponse Problem(const Error& error, std::string_view target) {
  return Problem(StatusOf(error.code), error.message, target);
}

}  // namespace seen
