#include "decode/json_pointer.h"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace seen {
namespace {

/// Replaces the escapes ~0 and ~1. nullopt: `step` has a tilde that is neither.
std::optional<std::string> Unescaped(std::string_view step) {
  std::string name;
  for (size_t at = 0; at < step.size(); ++at) {
    if (step[at] != '~') {
      name += step[at];
      continue;
    }
    ++at;
    if (at == step.size() || (step[at] != '0' && step[at] != '1')) return std::nullopt;
    name += step[at] == '0' ? '~' : '/';
  }
  return name;
}

}  // namespace

tl::expected<JsonPointer, std::string> ParseJsonPointer(std::string_view text) {
  const auto fail = [](std::string what) { return tl::unexpected<std::string>(std::move(what)); };
  if (!text.starts_with('/')) return fail(R"(must begin with "/", such as "/data/uid")");
  if (text.size() > JsonPointer::kBytesMax) {
    return fail("must have at most " + std::to_string(JsonPointer::kBytesMax) + " bytes");
  }
  JsonPointer pointer{std::string(text), {}};
  for (std::string_view rest = text; !rest.empty();) {
    rest.remove_prefix(1);
    auto name = Unescaped(rest.substr(0, rest.find('/')));
    if (!name) return fail(R"(has a "~" that is neither "~0" (a tilde) nor "~1" (a slash))");
    pointer.steps.push_back(std::move(*name));
    rest.remove_prefix(std::min(rest.size(), rest.find('/')));
  }
  if (pointer.steps.size() > JsonPointer::kStepsMax) {
    return fail("must have at most " + std::to_string(JsonPointer::kStepsMax) + " steps");
  }
  return pointer;
}

size_t ArrayIndexOf(std::string_view step) {
  if (step.empty() || step.size() > 9 || (step.front() == '0' && step.size() > 1)) return SIZE_MAX;
  size_t index = 0;
  for (const char digit : step) {
    if (digit < '0' || digit > '9') return SIZE_MAX;
    index = index * 10 + static_cast<size_t>(digit - '0');
  }
  return index;
}

}  // namespace seen
