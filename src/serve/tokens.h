#pragma once
// Bearer tokens: who may ask for which pages. A token is kept as its SHA-256 alone, so that no dump of the
// process holds it.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace seen {

/// Each role may do what the one before it may.
enum class Role {
  kNone,   // no token: pages that are open to all
  kRead,   // look-ups, status, metrics
  kWrite,  // changes of a user: taking items back, erasing
  kAdmin,  // what changes the daemon or its group
};

std::string_view RoleName(Role role);

/// Immutable. Any thread.
class TokenTable {
 public:
  /// A line a token, `ROLE NAME TOKEN`: role read, write or admin; name of 1 to 64 and token of 16 to 256
  /// characters of a-z, A-Z, 0-9 and "._~+/=-". Empty lines and those that begin with # are skipped. A name
  /// may have several tokens: so one replaces another without a gap. kInvalidArgument names the line, never
  /// the token.
  static Result<TokenTable> Parse(std::string_view text);

  struct Holder {
    Role role = Role::kNone;
    std::string name;
  };
  /// nullptr: no such token. Takes as long for every token, wherever the first difference is.
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

/// Whether two secrets are the same, in a time that depends on their lengths alone. Any thread.
bool EqualSecrets(std::string_view a, std::string_view b);

}  // namespace seen
