#pragma once
// In how many documents of a corpus a word occurs. Rare words say more about a text.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace seen {

/// Logarithms in whole numbers. Libraries and machines differ in a double's last bit, and a weight decides a
/// bit of a SimHash.
/// ln((documents + 1) / (count + 1)) + 1, in units of 1/kOne.
class InverseFrequency {
 public:
  static constexpr uint64_t kDocumentsMax = 1'000'000'000'000'000;
  static constexpr uint32_t kOne = 1 << 16;

  InverseFrequency() = default;
  explicit InverseFrequency(uint64_t documents) : documents_log2_(Log2(documents + 1)) {}
  /// `count` <= documents.
  uint32_t Weight(uint64_t count) {
    if (count != last_count_) {
      last_count_ = count;
      last_log2_ = Log2(count + 1);
    }
    constexpr uint64_t kLn2 = 2977044472;  // ln 2 times 2^32
    return static_cast<uint32_t>(((documents_log2_ - last_log2_) * kLn2) >> 40) + kOne;
  }

 private:
  __extension__ using Wide = unsigned __int128;

  /// The logarithm times 2^24, rounded down. `x` > 0.
  static uint64_t Log2(uint64_t x) {
    const int whole = 63 - __builtin_clzll(x);
    uint64_t mantissa = x << (63 - whole);  // 1 to 2, times 2^63
    auto log2 = static_cast<uint64_t>(whole);
    for (int bit = 0; bit < 24; ++bit) {
      const auto square = static_cast<Wide>(mantissa) * mantissa >> 63;
      const bool two = (square >> 64) != 0;
      log2 = log2 << 1 | static_cast<uint64_t>(two);
      mantissa = static_cast<uint64_t>(two ? square >> 1 : square);
    }
    return log2;
  }

  uint64_t documents_log2_ = 0;
  uint64_t last_count_ = 0, last_log2_ = 0;  // kept: many words of a table have equal counts
};

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

struct IdfSource {
  std::shared_ptr<const IdfTable> table;
  std::string text;  // the text of `table`
};
/// Reads items.idf_file; nullopt: the bundled table. kInvalidArgument names key, file, line and remedy.
Result<IdfSource> ReadIdfFile(const std::optional<std::string>& path);

}  // namespace seen
