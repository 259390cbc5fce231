#pragma once
// A keep-alive HTTP/1.1 client for the daemon's routes on libcurl, with TLS or without.

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "tools/common_options.h"

namespace seen {

struct HttpAnswer {
  unsigned status = 0;
  std::string body;
  std::string as_of;  // the Seen-As-Of header
};

/// Percent-encodes all bytes for a path segment, except the unreserved characters of RFC 3986.
std::string PercentEncode(std::string_view text);

/// A blocking client. One thread: make one client per thread. Opens the connection at the first request, and
/// again if the daemon has closed it. Uses no proxy and follows no redirect.
class HttpClient {
 public:
  /// `address.base`: http://HOST[:PORT] or https://HOST[:PORT], followed by at most one '/'.
  /// kInvalidArgument: another form, or a file that can't be read. `timeout`: of a whole
  /// request.
  static Result<HttpClient> Make(const DaemonAddress& address,
                                 std::chrono::milliseconds timeout = std::chrono::milliseconds(10'000));
  ~HttpClient();
  HttpClient(HttpClient&&) noexcept;
  HttpClient& operator=(HttpClient&&) noexcept;

  /// `method`: GET, POST or DELETE. `target`: path with query. A POST sends `body` as JSON. An answer with
  /// any status is a success. kUnavailable: no answer; the message names the address. kInvalidArgument: the
  /// file of CAs has none.
  Result<HttpAnswer> Ask(std::string_view method, std::string_view target, std::string_view body = {});

 private:
  struct Connection;
  explicit HttpClient(std::unique_ptr<Connection> connection);
  std::unique_ptr<Connection> connection_;
};

}  // namespace seen
