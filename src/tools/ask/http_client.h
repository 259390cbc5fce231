#pragma once
// A small keep-alive HTTP/1.1 client for the daemon's routes, with TLS or without.

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace seen {

struct HttpAnswer {
  unsigned status = 0;
  std::string body;
  std::string content_type;
  std::string as_of;  // the Seen-As-Of header
};

/// Percent-encodes all bytes for a path segment, except the unreserved characters of RFC 3986.
std::string PercentEncode(std::string_view text);

/// A daemon's address, with a client's token and CAs for it.
struct DaemonAddress {
  std::string base = "http://127.0.0.1:8080";
  std::string token_file;  // holds a token; empty: no token is sent
  std::string ca;          // PEM file of CAs, of which one signed its certificate; empty: the machine's CAs
};

/// A blocking client. One thread: make one client per thread. Opens the connection at the first request, and
/// again if the daemon has closed it.
class HttpClient {
 public:
  /// `address.base`: http://HOST[:PORT] or https://HOST[:PORT], followed by at most one '/'.
  /// kInvalidArgument: another form, or a file that can't be read. `option`: the option that gave the
  /// address, for error messages.
  static Result<HttpClient> Make(const DaemonAddress& address,
                                 std::chrono::milliseconds timeout = std::chrono::milliseconds(10'000),
                                 std::string_view option = "--http");
  /// The same without a token.
  static Result<HttpClient> Make(std::string_view base,
                                 std::chrono::milliseconds timeout = std::chrono::milliseconds(10'000),
                                 std::string_view option = "--http") {
    return Make(DaemonAddress{std::string(base), "", ""}, timeout, option);
  }
  ~HttpClient();
  HttpClient(HttpClient&&) noexcept;
  HttpClient& operator=(HttpClient&&) noexcept;

  /// Sends this header with each request from now on.
  void AddHeader(std::string name, std::string value);

  /// `target`: path with query. An answer with any status is a success. kUnavailable: no answer; the message
  /// names the address.
  Result<HttpAnswer> Get(std::string_view target);
  Result<HttpAnswer> PostJson(std::string_view target, std::string body);
  Result<HttpAnswer> Delete(std::string_view target);

 private:
  struct Connection;
  explicit HttpClient(std::unique_ptr<Connection> connection);
  std::unique_ptr<Connection> connection_;
};

}  // namespace seen
