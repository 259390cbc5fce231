#pragma once
// HOST:PORT: the form in which configurations and daemons name an address to listen on.

#include <string>
#include <string_view>

namespace seen {

struct HostPort {
  std::string host;  // without brackets: "::1" for "[::1]:80"
  std::string port;  // empty: the text has no port
};

inline HostPort SplitHostPort(std::string_view text) {
  const size_t colon = text.rfind(':');
  const bool has_port = colon != std::string_view::npos && text.find(']', colon) == std::string_view::npos;
  std::string_view host = text.substr(0, has_port ? colon : text.size());
  const std::string_view port = has_port ? text.substr(colon + 1) : std::string_view();
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  return {std::string(host), std::string(port)};
}

}  // namespace seen
