#pragma once
// An old filter behind HTTP: each request is posted, and the answer lists the items that are kept or dropped.

#include <chrono>
#include <memory>
#include <string>

#include "base/result.h"
#include "tools/ask/http_client.h"
#include "tools/compare/old_filter.h"

namespace seen {

enum class RouteBody : uint8_t {
  kLine,   // the request's line, unchanged
  kItems,  // {"items":[...]}, as for POST .../unseen
};

struct RouteOptions {
  std::string url;      // http://HOST:PORT/PATH; {user} and {filter} in the path are percent-encoded
  std::string kept;     // a JSON pointer to the list of items that the old filter keeps,
  std::string dropped;  // or to the list of items that it drops; only one of them
  RouteBody body = RouteBody::kLine;
  std::string headers_file;  // one header per line, "Authorization: Bearer ..."
  std::chrono::milliseconds timeout{10'000};
};

class RouteFilter final : public OldFilter {
 public:
  /// Sends nothing yet. kInvalidArgument: wrong options.
  static Result<std::unique_ptr<RouteFilter>> Make(const RouteOptions& options);

  /// Posts one request after another. An answer other than 2xx is an error of its request.
  Result<std::vector<Result<OldAnswer>>> Ask(std::span<const CompareRequest> requests) override;

 private:
  RouteFilter(RouteOptions options, std::string path, HttpClient http)
      : options_(std::move(options)), path_(std::move(path)), http_(std::move(http)) {}
  Result<OldAnswer> AskOne(const CompareRequest& request);

  const RouteOptions options_;
  const std::string path_;
  HttpClient http_;
};

}  // namespace seen
