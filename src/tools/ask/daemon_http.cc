#include "tools/ask/daemon_http.h"

#include <fmt/format.h>

#include "tools/read_files.h"

namespace seen {

Result<DaemonHttp> DaemonHttp::Make(const DaemonAddress& address, std::chrono::milliseconds timeout) {
  std::string host = HostOfAddress(address.base, false);
  if (host.empty()) {
    return Fail(Code::kInvalidArgument,
                fmt::format("--http: {}: expected http://HOST:PORT or https://HOST:PORT", address.base));
  }
  HttpClient::Options options;
  options.address = address.base;
  options.headers = {"Content-Type: application/json"};
  options.user_agent = "seenctl";
  options.timeout = timeout;
  options.body_bytes_max = size_t{256} << 20;
  if (address.base.starts_with("https://") && !address.ca.empty()) {
    if (auto readable = ReadWhole(address.ca); !readable)
      return Fail(Code::kInvalidArgument, "--ca: CA " + readable.error().message);
    options.ca = address.ca;
  }
  if (!address.token_file.empty()) {
    auto token = ReadWhole(address.token_file);
    if (!token) return Fail(Code::kInvalidArgument, "--token-file: " + token.error().message);
    while (token->ends_with('\n') || token->ends_with('\r')) token->pop_back();
    if (token->empty() || token->find_first_of("\r\n ") != std::string::npos) {
      return Fail(
          Code::kInvalidArgument,
          fmt::format(
              "--token-file: {}: expected only the token, which is the third word of a line in access.tokens",
              address.token_file));
    }
    options.headers.push_back("Authorization: Bearer " + *token);
  }
  return DaemonHttp(HttpClient(std::move(options)), std::move(host));
}

Result<HttpAnswer> DaemonHttp::Ask(std::string_view method, std::string_view target, std::string_view body) {
  auto answer = connection_.Ask(method, target, body);
  if (answer) return HttpAnswer{std::move(*answer), connection_.HeaderOf("Seen-As-Of")};
  const HttpProblem& problem = answer.error();
  switch (problem.kind) {
    case HttpProblem::Kind::kBadCa:
      return Fail(
          Code::kInvalidArgument,
          fmt::format("--ca: CA {}; give a PEM file of certificates that are trusted", problem.message));
    case HttpProblem::Kind::kTls:
      return Fail(Code::kUnavailable, fmt::format("{}; does the server speak TLS, with a certificate for {} "
                                                  "that a CA of --ca signed (--http)?",
                                                  problem.message, host_));
    case HttpProblem::Kind::kNoAnswer:
      break;
  }
  return Fail(Code::kUnavailable, problem.message + "; is seend running there (--http)?");
}

}  // namespace seen
