#pragma once
// Takes out of a text what reposts add: source lines, calls to read on, hashtags. The patterns are the
// operator's, in the syntax of RE2, which matches in linear time whatever the pattern and the text.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace re2 {
class RE2;
}

namespace seen {

/// Immutable; any thread.
class Boilerplate {
 public:
  static constexpr size_t kPatternsMax = 32;
  static constexpr size_t kPatternBytesMax = 512;

  /// nullptr for no patterns. kInvalidArgument: names the pattern by its number, the mistake and the remedy.
  static Result<std::shared_ptr<const Boilerplate>> Compile(std::vector<std::string> patterns);
  ~Boilerplate();

  /// Returns `text` with a space for each match, pattern by pattern in their order. The result is `text`
  /// itself, or a view of `buffer`. Linear in the text for each pattern.
  std::string_view Strip(std::string_view text, std::string& buffer) const;
  const std::vector<std::string>& patterns() const { return patterns_; }

 private:
  Boilerplate() = default;
  std::vector<std::string> patterns_;
  std::vector<std::unique_ptr<re2::RE2>> compiled_;
};

}  // namespace seen
