#pragma once
// Keeps web pages of other origins from changing anything. A browser sends their requests to loopback as
// well. With DNS rebinding, a page even reads the answers, because its own name leads to this machine.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "serve/http_message.h"

namespace seen {

/// Immutable. Any thread.
class KnownHosts {
 public:
  KnownHosts() = default;  // addresses and localhost
  /// Besides these, `names`: with commas between; and the host of `reached_at`, HOST:PORT.
  KnownHosts(std::string_view names, std::string_view reached_at);

  /// Why the head of a change may be that of a page elsewhere, with the remedy; nullopt: it isn't. No browser
  /// leaves the host out, so other clients may.
  std::optional<std::string> WhyForeign(const HttpRequest& head) const;

 private:
  bool IsKnown(std::string_view host) const;
  bool IsConfigured(std::string_view host) const;

  std::vector<std::string> configured_;
  std::string own_;
};

}  // namespace seen
