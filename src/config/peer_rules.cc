#include "config/peer_rules.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "config/config_keys.h"

namespace seen {
namespace {

// In network byte order: 4 or 16 bytes; empty if `host` isn't a numeric address.
std::string AddressBytes(const std::string& host) {
  std::string bytes(16, '\0');
  if (::inet_pton(AF_INET6, host.c_str(), bytes.data()) == 1) return bytes;
  bytes.resize(4);
  return ::inet_pton(AF_INET, host.c_str(), bytes.data()) == 1 ? bytes : std::string();
}

bool IsWithin(const std::string& host, const std::string& network, int prefix) {
  const std::string a = AddressBytes(host);
  const std::string b = AddressBytes(network);
  if (a.empty() || a.size() != b.size()) return false;
  for (int bit = 0; bit < prefix; ++bit) {
    const auto byte = static_cast<size_t>(bit / 8);
    if (((a[byte] ^ b[byte]) >> (7 - bit % 8) & 1) != 0) return false;
  }
  return true;
}

}  // namespace

Result<PeerRules> PeerRules::Parse(std::string_view text) {
  PeerRules rules;
  while (!text.empty()) {
    const std::string_view entry = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), entry.size() + 1));
    const auto bad = [&] {
      return Fail(Code::kInvalidArgument,
                  fmt::format("\"{}\": must be HOST, HOST:PORT or ADDRESS/PREFIX, several separated by "
                              "commas; example: 10.0.0.0/24,seend-3:8080",
                              entry));
    };
    Rule rule;
    const size_t slash = entry.find('/');
    if (slash == std::string_view::npos) {
      auto [host, port] = SplitHostPort(entry);
      rule.host = std::move(host);
      rule.port = std::move(port);
      const bool names_port = !rule.port.empty() || entry.ends_with(':');
      if (rule.host.empty() || (names_port && !ProblemOf(kHostPort, std::string(entry)).empty()))
        return bad();
    } else {
      rule.host = entry.substr(0, slash);
      const std::string_view prefix = entry.substr(slash + 1);
      const auto [end, failed] = std::from_chars(prefix.data(), prefix.data() + prefix.size(), rule.prefix);
      const auto bits = static_cast<int>(8 * AddressBytes(rule.host).size());
      if (bits == 0 || failed != std::errc() || end != prefix.data() + prefix.size() || rule.prefix < 0 ||
          rule.prefix > bits)
        return bad();
    }
    rules.rules_.push_back(std::move(rule));
  }
  return rules;
}

bool PeerRules::Allows(std::string_view address) const {
  const HostPort asked = SplitHostPort(address);
  if (asked.port.empty()) return false;
  return std::any_of(rules_.begin(), rules_.end(), [&](const Rule& rule) {
    if (!rule.port.empty() && rule.port != asked.port) return false;
    return rule.prefix < 0 ? rule.host == asked.host : IsWithin(asked.host, rule.host, rule.prefix);
  });
}

}  // namespace seen
