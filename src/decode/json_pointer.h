#pragma once
// The place of a value in an event. Source: RFC 6901.

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

namespace seen {

struct JsonPointer {
  static constexpr size_t kBytesMax = 256;
  static constexpr size_t kStepsMax = 16;

  std::string text;                // "/data/a~1b/0"
  std::vector<std::string> steps;  // "data", "a/b", "0": names, or indexes of arrays
  friend bool operator==(const JsonPointer&, const JsonPointer&) = default;
};

/// Unlike in the RFC, a pointer is never empty: the whole event isn't a field. The error completes a sentence
/// about `text`: "must begin with \"/\", such as \"/data/uid\"".
tl::expected<JsonPointer, std::string> ParseJsonPointer(std::string_view text);

/// The index that `step` means, as the RFC writes it ("0", "17"; not "007", not "-"); SIZE_MAX: it isn't an
/// index.
size_t ArrayIndexOf(std::string_view step);

}  // namespace seen
