#pragma once
// In how many documents of a corpus a word comes: rare words say more about what a text is.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace seen {

/// Immutable; any thread.
class IdfTable {
 public:
  /// The text form: a line "# documents N", further "#" lines are comments, then WORD<TAB>DOCUMENTS a line,
  /// words as segmentation gives them, in any order. kInvalidArgument names the line. At most 5 million
  /// words.
  static Result<std::shared_ptr<const IdfTable>> Parse(std::string_view text);
  /// A small one of English and Chinese words, for the start.
  static std::shared_ptr<const IdfTable> Bundled();
  /// Its text form.
  static std::string_view BundledText();

  /// ln((documents + 1) / (documents with the word + 1)) + 1, at most that of a word that comes in none; by
  /// the word's token hash.
  double Weight(uint64_t token_hash) const;
  uint64_t documents() const;
  size_t words() const;
  /// Of its content: equal tables give equal features.
  uint64_t version() const;

  ~IdfTable();

 private:
  IdfTable();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace seen
