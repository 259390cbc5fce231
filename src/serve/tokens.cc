#include "serve/tokens.h"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/sha.h>

#include <algorithm>

namespace seen {
namespace {

constexpr size_t kTokensMax = 1'000;
constexpr size_t kNameBytesMax = 64;
constexpr size_t kTokenBytesMin = 16;
constexpr size_t kTokenBytesMax = 256;

bool IsPlain(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("._~+/=-").find(c) != std::string_view::npos;
  });
}

std::string_view TakeWord(std::string_view& line) {
  const size_t begin = std::min(line.find_first_not_of(" \t"), line.size());
  const size_t end = std::min(line.find_first_of(" \t", begin), line.size());
  const std::string_view word = line.substr(begin, end - begin);
  line.remove_prefix(end);
  return word;
}

Role ParseRole(std::string_view word) {
  for (const Role role : {Role::kRead, Role::kWrite, Role::kAdmin}) {
    if (word == RoleName(role)) return role;
  }
  return Role::kNone;
}

}  // namespace

std::string_view RoleName(Role role) {
  switch (role) {
    case Role::kNone:
      return "none";
    case Role::kRead:
      return "read";
    case Role::kWrite:
      return "write";
    case Role::kAdmin:
      return "admin";
  }
  return "none";
}

Result<TokenTable> TokenTable::Parse(std::string_view text) {
  TokenTable table;
  for (size_t number = 1; !text.empty(); ++number) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.ends_with('\r')) line.remove_suffix(1);
    const auto bad = [number](std::string_view what) {
      return Fail(Code::kInvalidArgument,
                  fmt::format("line {}: {}; a line is ROLE NAME TOKEN, e.g. \"read recall-stage TOKEN\"",
                              number, what));
    };
    const std::string_view role_word = TakeWord(line);
    if (role_word.empty() || role_word.starts_with('#')) continue;
    const std::string_view name = TakeWord(line);
    const std::string_view token = TakeWord(line);
    const Role role = ParseRole(role_word);
    if (role == Role::kNone) return bad("the role must be read, write or admin");
    if (name.empty() || name.size() > kNameBytesMax || !IsPlain(name)) {
      return bad("the name must be 1 to 64 characters of a-z, A-Z, 0-9 and ._~+/=-");
    }
    if (token.size() < kTokenBytesMin || token.size() > kTokenBytesMax || !IsPlain(token)) {
      return bad("the token must be 16 to 256 characters of a-z, A-Z, 0-9 and ._~+/=-");
    }
    if (!TakeWord(line).empty()) return bad("there is a fourth word");
    const Digest digest = DigestOf(token);
    const auto same = [&](const Entry& entry) { return entry.digest == digest; };
    if (std::any_of(table.entries_.begin(), table.entries_.end(), same)) {
      return bad("another line has the same token");
    }
    if (table.entries_.size() == kTokensMax) return bad("there are more than 1000 tokens");
    table.entries_.push_back({digest, {role, std::string(name)}});
  }
  if (table.entries_.empty()) {
    return Fail(Code::kInvalidArgument,
                "there is no token; a line is ROLE NAME TOKEN, e.g. \"read recall-stage TOKEN\"");
  }
  return table;
}

const TokenTable::Holder* TokenTable::Find(std::string_view token) const {
  const Digest digest = DigestOf(token);
  const Holder* found = nullptr;
  for (const Entry& entry : entries_) {  // all entries: the time must not tell which one it was
    if (CRYPTO_memcmp(entry.digest.data(), digest.data(), digest.size()) == 0) found = &entry.holder;
  }
  return found;
}

TokenTable::Digest TokenTable::DigestOf(std::string_view token) {
  Digest digest{};
  SHA256(reinterpret_cast<const unsigned char*>(token.data()), token.size(), digest.data());
  return digest;
}

bool EqualSecrets(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace seen
