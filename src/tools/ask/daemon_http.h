#pragma once
// A client for the daemon's routes.

#include <chrono>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "http_client/http_client.h"
#include "tools/common_options.h"

namespace seen {

struct HttpAnswer : HttpReply {
  std::string as_of;  // the Seen-As-Of header
};

/// Blocking. One thread: make one client per thread.
class DaemonHttp {
 public:
  /// `address.base`: http://HOST[:PORT] or https://HOST[:PORT], followed by at most one '/'.
  /// kInvalidArgument: another form, or a file that can't be read. `timeout`: of a whole
  /// request.
  static Result<DaemonHttp> Make(const DaemonAddress& address,
                                 std::chrono::milliseconds timeout = std::chrono::milliseconds(10'000));

  /// `method`: GET, POST or DELETE. `target`: path with query. A POST sends `body` as JSON. An answer with
  /// any status is a success. kUnavailable: no answer; the message names the address. kInvalidArgument: the
  /// file of CAs has none.
  Result<HttpAnswer> Ask(std::string_view method, std::string_view target, std::string_view body = {});

 private:
  DaemonHttp(HttpClient connection, std::string host)
      : connection_(std::move(connection)), host_(std::move(host)) {}
  HttpClient connection_;
  std::string host_;
};

}  // namespace seen
