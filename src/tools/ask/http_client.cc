#include "tools/ask/http_client.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <new>

#include "tools/read_files.h"

namespace seen {
namespace {

constexpr size_t kBodyBytesMax = size_t{256} << 20;

size_t AppendBody(const char* bytes, size_t, size_t count, void* body) {
  auto& text = *static_cast<std::string*>(body);
  if (text.size() + count > kBodyBytesMax) return 0;  // curl then fails with CURLE_WRITE_ERROR
  text.append(bytes, count);
  return count;
}

bool IsAboutTls(CURLcode code) {
  return code == CURLE_SSL_CONNECT_ERROR || code == CURLE_PEER_FAILED_VERIFICATION ||
         code == CURLE_SSL_CERTPROBLEM || code == CURLE_SSL_CIPHER || code == CURLE_USE_SSL_FAILED;
}

}  // namespace

struct HttpClient::Connection {
  std::string base;  // without the '/' at the end
  std::string host;
  std::string ca;
  std::chrono::milliseconds timeout;
  curl_slist* headers = nullptr;
  CURL* handle = nullptr;
  char problem[CURL_ERROR_SIZE] = "";

  Connection() {
    static const CURLcode begun = curl_global_init(CURL_GLOBAL_DEFAULT);
    if (begun == CURLE_OK) handle = curl_easy_init();
    if (handle == nullptr) throw std::bad_alloc();
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() {
    curl_easy_cleanup(handle);
    curl_slist_free_all(headers);
  }

  void AddHeader(const std::string& line) { headers = curl_slist_append(headers, line.c_str()); }

  // Options that belong to one request are left from the request before. So each request sets all of them.
  void Prepare(const std::string& url, const std::string& method, std::string_view body, std::string& into) {
    curl_easy_reset(handle);  // keeps the connection
    curl_easy_setopt(handle, CURLOPT_URL, url.c_str());
    curl_easy_setopt(handle, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(handle, CURLOPT_PROXY, "");  // otherwise http_proxy of the environment
    curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(handle, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
    curl_easy_setopt(handle, CURLOPT_USERAGENT, "seenctl");
    curl_easy_setopt(handle, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(handle, CURLOPT_TIMEOUT_MS, static_cast<long>(timeout.count()));
    curl_easy_setopt(handle, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
    if (!ca.empty()) {
      curl_easy_setopt(handle, CURLOPT_CAINFO, ca.c_str());
      curl_easy_setopt(handle, CURLOPT_CAPATH, nullptr);  // only these CAs, not the machine's
    }
    curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, AppendBody);
    curl_easy_setopt(handle, CURLOPT_WRITEDATA, &into);
    curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, problem);
    if (method == "POST") {
      curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
      curl_easy_setopt(handle, CURLOPT_POSTFIELDS, body.empty() ? "" : body.data());
    } else if (method != "GET") {
      curl_easy_setopt(handle, CURLOPT_CUSTOMREQUEST, method.c_str());
    }
  }

  Error ProblemOf(const std::string& url, CURLcode code) const {
    const std::string words = *problem != '\0' ? problem : curl_easy_strerror(code);
    if (code == CURLE_SSL_CACERT_BADFILE) {
      return {Code::kInvalidArgument,
              fmt::format("--ca: CA {}: {}; give a PEM file of certificates that are trusted", ca, words)};
    }
    const std::string remedy = IsAboutTls(code)
                                   ? fmt::format(
                                         "does the server speak TLS, with a certificate for {} that a CA of "
                                         "--ca signed (--http)?",
                                         host)
                                   : "is seend running there (--http)?";
    return {Code::kUnavailable, fmt::format("{}: {}; {}", url, words, remedy)};
  }
};

std::string PercentEncode(std::string_view text) {
  // A server reads the segment "." as this folder, and ".." as its parent.
  if (text == ".") return "%2E";
  if (text == "..") return "%2E%2E";
  if (text.empty()) return {};
  const std::unique_ptr<char, decltype(&curl_free)> encoded(
      curl_easy_escape(nullptr, text.data(), static_cast<int>(text.size())), curl_free);
  return encoded.get();
}

HttpClient::HttpClient(std::unique_ptr<Connection> connection) : connection_(std::move(connection)) {}
HttpClient::~HttpClient() = default;
HttpClient::HttpClient(HttpClient&&) noexcept = default;
HttpClient& HttpClient::operator=(HttpClient&&) noexcept = default;

Result<HttpClient> HttpClient::Make(const DaemonAddress& address, std::chrono::milliseconds timeout) {
  std::string_view base = address.base;
  const auto fail = [&] {
    return Fail(Code::kInvalidArgument,
                fmt::format("--http: {}: expected http://HOST:PORT or https://HOST:PORT", address.base));
  };
  const bool is_tls = base.starts_with("https://");
  if (!is_tls && !base.starts_with("http://")) return fail();
  if (base.ends_with('/')) base.remove_suffix(1);
  const size_t start = address.base.find("://") + 3;
  const std::string_view place = base.size() > start ? base.substr(start) : std::string_view();
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
  connection->base = base;
  connection->host = host;
  connection->timeout = timeout;
  if (is_tls && !address.ca.empty()) {
    if (auto readable = ReadWhole(address.ca); !readable)
      return Fail(Code::kInvalidArgument, "--ca: CA " + readable.error().message);
    connection->ca = address.ca;
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
    connection->AddHeader("Authorization: Bearer " + *token);
  }
  connection->AddHeader("Content-Type: application/json");
  connection->AddHeader("Accept:");
  connection->AddHeader("Expect:");  // otherwise a large body waits for the server's "100 Continue"
  return HttpClient(std::move(connection));
}

Result<HttpAnswer> HttpClient::Ask(std::string_view method, std::string_view target, std::string_view body) {
  Connection& connection = *connection_;
  HttpAnswer answer;
  const std::string url = connection.base + std::string(target);
  connection.Prepare(url, std::string(method), body, answer.body);
  const CURLcode code = curl_easy_perform(connection.handle);
  if (code != CURLE_OK) return Fail(connection.ProblemOf(url, code));
  long status = 0;
  curl_easy_getinfo(connection.handle, CURLINFO_RESPONSE_CODE, &status);
  answer.status = static_cast<unsigned>(status);
  curl_header* as_of = nullptr;
  if (curl_easy_header(connection.handle, "Seen-As-Of", 0, CURLH_HEADER, -1, &as_of) == CURLHE_OK)
    answer.as_of = as_of->value;
  return answer;
}

}  // namespace seen
