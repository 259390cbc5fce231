#pragma once
// cluster.peers: the addresses that requests may be passed on to.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace seen {

class PeerRules {
 public:
  /// "HOST", "HOST:PORT" or "ADDRESS/PREFIX", several with commas. kInvalidArgument, naming the entry.
  static Result<PeerRules> Parse(std::string_view text);
  /// Of HOST:PORT. A name is compared as it is written: nobody is asked what it stands for.
  bool Allows(std::string_view address) const;

 private:
  struct Rule {
    std::string host;
    std::string port;  // empty: any
    int prefix = -1;   // of `host`, a numeric address; -1: it is compared whole
  };
  std::vector<Rule> rules_;
};

}  // namespace seen
