#pragma once
// A keep-alive HTTP/1.1 connection to one server, on libcurl, with TLS or without.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

namespace seen {

struct HttpReply {
  unsigned status = 0;
  std::string body;
};

struct HttpProblem {
  enum class Kind : uint8_t { kNoAnswer, kTls, kBadCa };
  Kind kind = Kind::kNoAnswer;
  std::string message;  // "http://127.0.0.1:8080/v1/status: Connection refused"
};

/// Percent-encodes all bytes for a path segment, except the unreserved characters of RFC 3986.
std::string PercentEncode(std::string_view text);

/// The host of an address "http://HOST[:PORT]" or "https://HOST[:PORT]", followed by a path if `allows_path`,
/// else by at most one '/'. Empty: another form.
std::string HostOfAddress(std::string_view address, bool allows_path);

/// Blocking. One thread at a time, except for Stop. Opens the connection at the first request, and again if
/// the server has closed it. Uses no proxy and follows no redirect.
class HttpClient {
 public:
  struct Options {
    std::string address;           // one that HostOfAddress takes
    std::string ca;                // file of the CAs that are trusted, in PEM; empty: the machine's
    std::string certificate, key;  // files of this client's, in PEM; empty: none
    std::string user, password;    // of basic authentication; empty: none
    std::vector<std::string> headers;
    std::string user_agent;
    std::chrono::milliseconds timeout{10'000};  // of a whole request
    size_t body_bytes_max = 0;                  // of an answer
  };
  explicit HttpClient(Options options);
  ~HttpClient();
  HttpClient(HttpClient&&) noexcept;
  HttpClient& operator=(HttpClient&&) noexcept;

  /// `method`: GET, POST or DELETE. `target`: path with query. A POST sends `body`. An answer with any status
  /// is a success.
  tl::expected<HttpReply, HttpProblem> Ask(std::string_view method, std::string_view target,
                                           std::string_view body = {});
  /// Ends a request under way within about a second, and all later ones at once: kNoAnswer. Any thread.
  void Stop();
  /// A header of the last answer; empty: it had none.
  std::string HeaderOf(const std::string& name) const;

 private:
  struct Handle;
  std::unique_ptr<Handle> handle_;
};

}  // namespace seen
