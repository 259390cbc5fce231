#pragma once
// Bearer tokens: who may ask for which pages. Only a token's SHA-256 is kept, so that no dump of the process
// holds the token.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace seen {

/// Each role may do what the role before it may do.
enum class Role {
  kNone,   // no token: pages that are open to all
  kRead,   // look-ups, status, metrics
  kWrite,  // changes of a user: taking items back, erasing
  kAdmin,  // changes of the daemon or its group
};

std::string_view RoleName(Role role);

/// Immutable. Any thread.
class TokenTable {
 public:
  /// A line a token, `ROLE NAME TOKEN`. Role: read, write or admin. Name: 1 to 64 characters of a-z, A-Z, 0-9
  /// and "._~+/=-"; token: 16 to 256 of the same characters. Empty lines and lines that begin with # are
  /// skipped. A name may have several tokens, so that one replaces another without a gap. kInvalidArgument
  /// names the line, never the token.
  static Result<TokenTable> Parse(std::string_view text);

  struct Holder {
    Role role = Role::kNone;
    std::string name;
  };
  /// nullptr: no such token. Takes equally long for every token, wherever the first difference is.
  const Holder* Find(std::string_view token) const;

  size_t size() const { return entries_.size(); }

 private:
  using Digest = std::array<uint8_t, 32>;
  struct Entry {
    Digest digest{};
    Holder holder;
  };
  static Digest DigestOf(std::string_view token);
  std::vector<Entry> entries_;
};

/// Whether two secrets are the same. The time depends only on their lengths. Any thread.
bool EqualSecrets(std::string_view a, std::string_view b);

}  // namespace seen
