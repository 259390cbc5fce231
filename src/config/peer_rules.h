#pragma once
// cluster.peers: the addresses to which a daemon may pass on requests.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace seen {

class PeerRules {
 public:
  /// "HOST", "HOST:PORT" or "ADDRESS/PREFIX", separated by commas. kInvalidArgument names the wrong entry.
  static Result<PeerRules> Parse(std::string_view text);
  /// `address`: HOST:PORT. Compares a name as text, without a DNS look-up.
  bool Allows(std::string_view address) const;

 private:
  struct Rule {
    std::string host;
    std::string port;  // empty: any
    int prefix = -1;   // bits of the network `host`, a numeric address; -1: `host` is compared whole
  };
  std::vector<Rule> rules_;
};

}  // namespace seen
