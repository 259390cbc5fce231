#include "http_client/http_client.h"

#include <curl/curl.h>

#include <atomic>
#include <charconv>
#include <limits>
#include <new>
#include <utility>

namespace seen {
namespace {

bool IsAboutTls(CURLcode code) {
  return code == CURLE_SSL_CONNECT_ERROR || code == CURLE_PEER_FAILED_VERIFICATION ||
         code == CURLE_SSL_CERTPROBLEM || code == CURLE_SSL_CIPHER || code == CURLE_USE_SSL_FAILED;
}

struct Body {
  std::string& text;
  size_t bytes_max;
};

size_t AppendBody(const char* bytes, size_t, size_t count, void* to) {
  auto& body = *static_cast<Body*>(to);
  if (body.text.size() + count > body.bytes_max) return 0;  // curl then fails with CURLE_WRITE_ERROR
  body.text.append(bytes, count);
  return count;
}

// curl calls it at least once a second. Not 0: the request ends.
int EndsNow(void* stopped, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  return static_cast<std::atomic<bool>*>(stopped)->load() ? 1 : 0;
}

}  // namespace

std::string PercentEncode(std::string_view text) {
  // A server reads the segment "." as this folder, and ".." as its parent.
  if (text == ".") return "%2E";
  if (text == "..") return "%2E%2E";
  if (text.empty()) return {};
  const std::unique_ptr<char, decltype(&curl_free)> encoded(
      curl_easy_escape(nullptr, text.data(), static_cast<int>(text.size())), curl_free);
  return encoded.get();
}

std::string HostOfAddress(std::string_view address, bool allows_path) {
  const bool is_tls = address.starts_with("https://");
  if (!is_tls && !address.starts_with("http://")) return {};
  address.remove_prefix(address.find("://") + 3);
  const size_t slash = address.find('/');
  if (slash != std::string_view::npos) {
    if (!allows_path && slash + 1 != address.size()) return {};
    if (address.find_first_of("?# ", slash) != std::string_view::npos) return {};
    address = address.substr(0, slash);
  }
  const size_t bracket = address.rfind(']');
  const size_t colon = address.rfind(':');
  const bool with_port =
      colon != std::string_view::npos && (bracket == std::string_view::npos || colon > bracket);
  std::string_view host = address.substr(0, with_port ? colon : address.size());
  const std::string_view port = with_port ? address.substr(colon + 1) : is_tls ? "443" : "80";
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  unsigned number = 0;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  if (host.find_first_of("/@?#[] ") != std::string_view::npos || error != std::errc{} ||
      end != port.data() + port.size() || number < 1 || number > std::numeric_limits<uint16_t>::max()) {
    return {};
  }
  return std::string(host);
}

struct HttpClient::Handle {
  explicit Handle(Options given) : options(std::move(given)) {
    static const CURLcode begun = curl_global_init(CURL_GLOBAL_DEFAULT);
    if (begun == CURLE_OK) curl = curl_easy_init();
    if (curl == nullptr) throw std::bad_alloc();
    if (options.address.ends_with('/')) options.address.pop_back();
    for (const std::string& line : options.headers) headers = curl_slist_append(headers, line.c_str());
    headers = curl_slist_append(headers, "Accept:");
    headers = curl_slist_append(headers, "Expect:");  // else a large body waits for "100 Continue"
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() {
    curl_easy_cleanup(curl);
    curl_slist_free_all(headers);
  }

  // Options that belong to one request are left from the request before. So each request sets all of them.
  void Prepare(const std::string& url, const std::string& method, std::string_view body, Body& into) {
    curl_easy_reset(curl);  // keeps the connection
    curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
    curl_easy_setopt(curl, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(curl, CURLOPT_PROXY, "");  // otherwise http_proxy of the environment
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
    curl_easy_setopt(curl, CURLOPT_USERAGENT, options.user_agent.c_str());
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, static_cast<long>(options.timeout.count()));
    curl_easy_setopt(curl, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
    if (!options.ca.empty()) {
      curl_easy_setopt(curl, CURLOPT_CAINFO, options.ca.c_str());
      curl_easy_setopt(curl, CURLOPT_CAPATH, nullptr);  // only these CAs, not the machine's
    }
    if (!options.certificate.empty()) curl_easy_setopt(curl, CURLOPT_SSLCERT, options.certificate.c_str());
    if (!options.key.empty()) curl_easy_setopt(curl, CURLOPT_SSLKEY, options.key.c_str());
    if (!options.user.empty()) {
      curl_easy_setopt(curl, CURLOPT_HTTPAUTH, static_cast<long>(CURLAUTH_BASIC));
      curl_easy_setopt(curl, CURLOPT_USERNAME, options.user.c_str());
      curl_easy_setopt(curl, CURLOPT_PASSWORD, options.password.c_str());
    }
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, AppendBody);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, &into);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, words);
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, EndsNow);
    curl_easy_setopt(curl, CURLOPT_XFERINFODATA, &stopped);
    if (method == "POST") {
      curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
      curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body.empty() ? "" : body.data());
    } else if (method != "GET") {
      curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, method.c_str());
    }
  }

  Options options;
  curl_slist* headers = nullptr;
  CURL* curl = nullptr;
  char words[CURL_ERROR_SIZE] = "";  // of the last problem
  std::atomic<bool> stopped{false};
};

HttpClient::HttpClient(Options options) : handle_(std::make_unique<Handle>(std::move(options))) {}
HttpClient::~HttpClient() = default;
HttpClient::HttpClient(HttpClient&&) noexcept = default;
HttpClient& HttpClient::operator=(HttpClient&&) noexcept = default;

tl::expected<HttpReply, HttpProblem> HttpClient::Ask(std::string_view method, std::string_view target,
                                                     std::string_view body) {
  Handle& handle = *handle_;
  HttpReply answer;
  Body into{answer.body, handle.options.body_bytes_max};
  const std::string url = handle.options.address + std::string(target);
  handle.Prepare(url, std::string(method), body, into);
  const CURLcode code = curl_easy_perform(handle.curl);
  if (code != CURLE_OK) {
    const std::string words = *handle.words != '\0' ? handle.words : curl_easy_strerror(code);
    if (code == CURLE_SSL_CACERT_BADFILE)
      return tl::unexpected(HttpProblem{HttpProblem::Kind::kBadCa, handle.options.ca + ": " + words});
    return tl::unexpected(HttpProblem{
        IsAboutTls(code) ? HttpProblem::Kind::kTls : HttpProblem::Kind::kNoAnswer, url + ": " + words});
  }
  long status = 0;
  curl_easy_getinfo(handle.curl, CURLINFO_RESPONSE_CODE, &status);
  answer.status = static_cast<unsigned>(status);
  return answer;
}

void HttpClient::Stop() { handle_->stopped.store(true); }

std::string HttpClient::HeaderOf(const std::string& name) const {
  curl_header* header = nullptr;
  if (curl_easy_header(handle_->curl, name.c_str(), 0, CURLH_HEADER, -1, &header) != CURLHE_OK) return {};
  return header->value;
}

}  // namespace seen
