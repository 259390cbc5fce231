#include "tools/ask/http_client.h"

#include <fmt/format.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <charconv>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "serve/tls.h"
#include "tools/whole_file.h"

namespace seen {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using boost::system::error_code;

constexpr uint64_t kBodyBytesMax = uint64_t{256} << 20;

}  // namespace

// Beast's time limits apply only to asynchronous operations. So each step is started, then run to its end.
struct HttpClient::Connection {
  std::string host;
  std::string port;
  std::chrono::milliseconds timeout;
  std::string option;
  std::shared_ptr<TlsContext> tls_context;  // nullptr: plain
  std::vector<std::pair<std::string, std::string>> headers;
  asio::io_context io{1};
  beast::tcp_stream stream{io};
  std::optional<asio::ssl::stream<beast::tcp_stream&>> tls;  // of the open connection
  beast::flat_buffer buffer;
  bool open = false;

  error_code Run(const error_code& outcome) {
    io.restart();
    io.run();
    return outcome;
  }

  error_code Connect() {
    asio::ip::tcp::resolver resolver(io);
    error_code outcome;
    const auto addresses = resolver.resolve(host, port, outcome);
    if (outcome) return outcome;
    stream.expires_after(timeout);
    stream.async_connect(addresses, [&](const error_code& e, const auto&) { outcome = e; });
    Run(outcome);
    if (outcome) return outcome;
    open = true;
    buffer.clear();
    error_code ignored;
    stream.socket().set_option(asio::ip::tcp::no_delay(true), ignored);
    if (tls_context) outcome = ShakeHands();
    if (outcome) Close();
    return outcome;
  }

  error_code ShakeHands() {
    tls.emplace(stream, tls_context->context);
    ExpectHost(*tls, host);
    error_code outcome;
    stream.expires_after(timeout);
    tls->async_handshake(asio::ssl::stream_base::client, [&](const error_code& e) { outcome = e; });
    return Run(outcome);
  }

  void Close() {
    error_code ignored;
    tls.reset();
    stream.socket().close(ignored);
    open = false;
  }

  std::string Remedy(const error_code& outcome) const {
    if (outcome.category() == asio::error::get_ssl_category() ||
        outcome == asio::ssl::error::stream_truncated) {
      return fmt::format(
          "does the server speak TLS, with a certificate for {} that a CA of --ca signed ({})?", host,
          option);
    }
    return fmt::format("is {} running there ({})?", option == "--http" ? "seend" : "the server", option);
  }

  error_code Exchange(http::request<http::string_body>& request, http::response<http::string_body>& response,
                      bool& anything_read) {
    error_code outcome;
    stream.expires_after(timeout);
    const auto written = [&](const error_code& e, size_t) { outcome = e; };
    if (tls) {
      http::async_write(*tls, request, written);
    } else {
      http::async_write(stream, request, written);
    }
    Run(outcome);
    if (outcome) return outcome;
    http::response_parser<http::string_body> parser;
    parser.body_limit(kBodyBytesMax);
    parser.header_limit(64 * 1024);
    stream.expires_after(timeout);
    if (tls) {
      http::async_read(*tls, buffer, parser, written);
    } else {
      http::async_read(stream, buffer, parser, written);
    }
    Run(outcome);
    anything_read = parser.got_some();
    if (!outcome) response = parser.release();
    return outcome;
  }

  Result<HttpAnswer> Ask(http::verb verb, std::string_view target, std::string body,
                         const char* content_type) {
    http::request<http::string_body> request(verb, {target.data(), target.size()}, 11);
    request.set(http::field::host, host + ":" + port);
    request.set(http::field::user_agent, "seenctl");
    for (const auto& [name, value] : headers) request.set(name, value);
    if (content_type != nullptr) request.set(http::field::content_type, content_type);
    request.body() = std::move(body);
    if (verb == http::verb::post) request.prepare_payload();

    http::response<http::string_body> response;
    error_code outcome;
    for (int attempt = 0; attempt < 2; ++attempt) {
      const bool fresh = !open;
      outcome = open ? error_code() : Connect();
      bool anything_read = false;
      if (!outcome) outcome = Exchange(request, response, anything_read);
      if (!outcome) break;
      Close();
      // The daemon closes idle connections. The client notices this only at the next request, when no answer
      // comes. Then the client tries once more on a new connection.
      if (fresh || anything_read) break;
    }
    if (outcome) {
      return Fail(Code::kUnavailable, fmt::format("{}://{}:{}{}: {}; {}", tls_context ? "https" : "http",
                                                  host, port, target, outcome.message(), Remedy(outcome)));
    }
    if (response.need_eof()) Close();
    const auto header = [&](auto name) {
      const auto value = response[name];
      return std::string(value.data(), value.size());
    };
    return HttpAnswer{.status = response.result_int(),
                      .body = std::move(response.body()),
                      .content_type = header(http::field::content_type),
                      .as_of = header("Seen-As-Of")};
  }
};

std::string PercentEncode(std::string_view text) {
  constexpr std::string_view kUnreserved =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
  std::string encoded;
  for (const char c : text) {
    if (kUnreserved.find(c) != std::string_view::npos) {
      encoded.push_back(c);
    } else {
      encoded += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  // A server reads the segment "." as this folder, and ".." as its parent.
  if (encoded == ".") return "%2E";
  if (encoded == "..") return "%2E%2E";
  return encoded;
}

HttpClient::HttpClient(std::unique_ptr<Connection> connection) : connection_(std::move(connection)) {}
HttpClient::~HttpClient() = default;
HttpClient::HttpClient(HttpClient&&) noexcept = default;
HttpClient& HttpClient::operator=(HttpClient&&) noexcept = default;

Result<HttpClient> HttpClient::Make(const DaemonAddress& address, std::chrono::milliseconds timeout,
                                    std::string_view option) {
  const std::string_view base = address.base;
  const auto fail = [&] {
    return Fail(Code::kInvalidArgument,
                fmt::format("{}: {}: expected http://HOST:PORT or https://HOST:PORT", option, base));
  };
  const bool is_tls = base.starts_with("https://");
  if (!is_tls && !base.starts_with("http://")) return fail();
  std::string_view place = base.substr(base.find("://") + 3);
  if (place.ends_with('/')) place.remove_suffix(1);
  const size_t bracket = place.rfind(']');
  const size_t colon = place.rfind(':');
  const bool with_port =
      colon != std::string_view::npos && (bracket == std::string_view::npos || colon > bracket);
  std::string_view host = place.substr(0, with_port ? colon : place.size());
  const std::string_view port = with_port ? place.substr(colon + 1) : is_tls ? "443" : "80";
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  unsigned number = 0;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  if (host.empty() || host.find_first_of("/@?#[] ") != std::string_view::npos || error != std::errc{} ||
      end != port.data() + port.size() || number < 1 || number > std::numeric_limits<uint16_t>::max()) {
    return fail();
  }
  auto connection = std::make_unique<Connection>();
  connection->host = host;
  connection->port = port;
  connection->timeout = timeout;
  connection->option = option;
  if (is_tls) {
    auto tls = MakeClientTls(address.ca);
    if (!tls) return Fail(Code::kInvalidArgument, "--ca: " + tls.error().message);
    connection->tls_context = std::move(*tls);
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
    connection->headers.emplace_back("Authorization", "Bearer " + *token);
  }
  return HttpClient(std::move(connection));
}

void HttpClient::AddHeader(std::string name, std::string value) {
  connection_->headers.emplace_back(std::move(name), std::move(value));
}

Result<HttpAnswer> HttpClient::Get(std::string_view target) {
  return connection_->Ask(http::verb::get, target, {}, nullptr);
}

Result<HttpAnswer> HttpClient::PostJson(std::string_view target, std::string body) {
  return connection_->Ask(http::verb::post, target, std::move(body), "application/json");
}

Result<HttpAnswer> HttpClient::Delete(std::string_view target) {
  return connection_->Ask(http::verb::delete_, target, {}, nullptr);
}

}  // namespace seen
