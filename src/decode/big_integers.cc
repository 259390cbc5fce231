#include "decode/big_integers.h"

#include <algorithm>
#include <string_view>

namespace seen {
namespace {

// As long as the shortest integer that it replaces.
constexpr std::string_view kMarker = "1.23456789012345e303";
constexpr std::string_view kUnsignedMax = "18446744073709551615";
constexpr std::string_view kSignedMin = "9223372036854775808";
static_assert(kMarker.size() == kUnsignedMax.size() && kMarker.size() == kSignedMin.size() + 1);

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsNumberPart(char c) { return IsDigit(c) || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E'; }

/// `token`: a run of number characters. True: an integer by JSON's grammar, and beyond 64 bits.
bool IsBigInteger(std::string_view token) {
  const bool negative = token.front() == '-';
  const std::string_view digits = token.substr(negative ? 1 : 0);
  if (digits.empty() || digits.front() == '0' || !std::all_of(digits.begin(), digits.end(), IsDigit))
    return false;
  const std::string_view limit = negative ? kSignedMin : kUnsignedMax;
  return digits.size() != limit.size() ? digits.size() > limit.size() : digits > limit;
}

}  // namespace

bool ReplaceBigIntegers(std::span<char> json) {
  bool changed = false;
  bool in_string = false;
  for (size_t at = 0; at < json.size(); ++at) {
    const char c = json[at];
    if (in_string) {
      if (c == '\\') ++at;
      in_string = c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (IsNumberPart(c)) {
      size_t end = at;
      while (end < json.size() && IsNumberPart(json[end])) ++end;
      const std::span<char> token = json.subspan(at, end - at);
      if (IsBigInteger({token.data(), token.size()})) {
        std::fill(std::copy(kMarker.begin(), kMarker.end(), token.begin()), token.end(), ' ');
        changed = true;
      }
      at = end - 1;
    }
  }
  return changed;
}

}  // namespace seen
