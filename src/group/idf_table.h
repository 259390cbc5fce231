#pragma once
// In how many documents of a corpus a word occurs. Rare words say more about a text.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace seen {

/// Immutable; any thread.
class IdfTable {
 public:
  /// The text form: a line "# documents N", then a line WORD<TAB>DOCUMENTS for each word, in any order. Other
  /// "#" lines are comments. Words are as segmentation gives them, at most 5 million. kInvalidArgument: the
  /// message names the line.
  static Result<std::shared_ptr<const IdfTable>> Parse(std::string_view text);
  /// A small table of English and Chinese words, to start with.
  static std::shared_ptr<const IdfTable> Bundled();
  /// The bundled table's text form.
  static std::string_view BundledText();

  /// ln((documents + 1) / (documents with the word + 1)) + 1, by the word's token hash. An unknown word has
  /// the weight of a word in no document, which is the greatest.
  double Weight(uint64_t token_hash) const;
  uint64_t documents() const;
  size_t words() const;
  /// A hash of the content: equal tables give equal features.
  uint64_t version() const;

  ~IdfTable();

 private:
  IdfTable();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace seen
