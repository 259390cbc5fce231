#include "serve/known_hosts.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <strings.h>

#include <algorithm>

#include "base/text.h"

namespace seen {
namespace {

bool EqualNames(std::string_view a, std::string_view b) {
  return a.size() == b.size() && strncasecmp(a.data(), b.data(), a.size()) == 0;
}

/// The host of HOST, HOST:PORT or [ADDRESS]:PORT; empty if the text is none of these.
std::string_view HostOf(std::string_view authority) {
  if (authority.starts_with('[')) {
    const size_t end = authority.find(']');
    if (end == std::string_view::npos) return {};
    const std::string_view rest = authority.substr(end + 1);
    return rest.empty() || rest.starts_with(':') ? authority.substr(0, end + 1) : std::string_view();
  }
  std::string_view host = authority.substr(0, authority.find(':'));
  const std::string_view port = authority.substr(host.size());
  if (port.find_first_not_of("0123456789", 1) != std::string_view::npos) return {};
  if (host.ends_with('.')) host.remove_suffix(1);  // the root of names
  return host;
}

bool IsAddress(std::string_view host) {
  in6_addr bytes{};
  if (!host.starts_with('[')) return inet_pton(AF_INET, std::string(host).c_str(), &bytes) == 1;
  const std::string_view inside = host.substr(1, host.size() - 2);
  return inet_pton(AF_INET6, std::string(inside.substr(0, inside.find('%'))).c_str(), &bytes) == 1;
}

/// "HOST:PORT" of "http://HOST:PORT/..."; empty: there is none.
std::string_view AuthorityOf(std::string_view url) {
  const size_t scheme = url.find("://");
  if (scheme == std::string_view::npos) return {};
  url.remove_prefix(scheme + 3);
  return url.substr(0, url.find_first_of("/?#"));
}

}  // namespace

KnownHosts::KnownHosts(std::string_view names, std::string_view reached_at)
    : own_(SplitHostPort(reached_at).host) {
  while (!names.empty()) {
    const std::string_view name = names.substr(0, names.find(','));
    names.remove_prefix(std::min(names.size(), name.size() + 1));
    configured_.emplace_back(name);
  }
}

bool KnownHosts::IsConfigured(std::string_view host) const {
  return std::any_of(configured_.begin(), configured_.end(),
                     [&](const std::string& name) { return EqualNames(host, name); });
}

bool KnownHosts::IsKnown(std::string_view host) const {
  constexpr std::string_view kLoopback = "localhost";
  return !host.empty() &&
         (EqualNames(host, kLoopback) || IsAddress(host) || EqualNames(host, own_) || IsConfigured(host));
}

std::optional<std::string> KnownHosts::WhyForeign(const HttpRequest& head) const {
  // A target in absolute form goes before the header: RFC 9112 section 3.2.2.
  const bool is_absolute = !head.target.starts_with('/');
  const std::string_view host = is_absolute ? AuthorityOf(head.target) : head.host;
  if (!host.empty() && !IsKnown(HostOf(host))) {
    return fmt::format(
        "Host: {}: this daemon doesn't have that name, so the request may come from a web page elsewhere. "
        "Ask by "
        "address, or give http.hosts the name",
        host.substr(0, 256));
  }
  if (head.origin.empty()) return std::nullopt;
  const std::string_view origin = AuthorityOf(head.origin);
  if (!origin.empty() && (EqualNames(origin, host) || IsConfigured(HostOf(origin)))) return std::nullopt;
  return fmt::format(
      "Origin: {}: web pages of other origins may change nothing here. If the page is yours, give http.hosts "
      "the name of its host",
      head.origin.substr(0, 256));
}

}  // namespace seen
