#pragma once
// Items with plausible texts in English and Chinese. Some are copies of earlier items, with the edits of an
// editor or a reposter. The same options give the same items in any order.

#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "tools/load/random.h"

namespace seen {

struct ItemGeneratorOptions {
  uint64_t seed = 1;
  double copies = 0.2;         // share of items that are copies, 0 to 0.9
  double chinese = 0.25;       // share of texts, 0 to 1
  uint32_t sentences = 12;     // of a text; 1 to 1000
  std::string id_prefix = "";  // empty: the same ids as ExposureGenerator
};

/// How a copy was made from its original.
enum class CopyEdit : uint8_t {
  kVerbatim,  // other markup, case, spaces and links: the same text after normalization
  kWords,     // some words replaced
  kSentence,  // one sentence added
};

/// Any thread.
class ItemGenerator {
 public:
  /// kInvalidArgument names the option, its value and the range.
  static Status Validate(const ItemGeneratorOptions& options);
  explicit ItemGenerator(ItemGeneratorOptions options) : options_(std::move(options)) {}

  struct Item {
    std::string id;
    std::string payload;               // JSON: schemas/item.schema.json
    std::optional<uint64_t> original;  // number of the copied item, which is no copy itself
    CopyEdit edit = CopyEdit::kVerbatim;
  };
  /// `number` from 0.
  Item Make(uint64_t number, TimeMs created_at) const;
  std::string IdOf(uint64_t number) const;
  /// For a copy, the number of its original; otherwise `number` itself.
  uint64_t OriginalOf(uint64_t number) const;

 private:
  ItemGeneratorOptions options_;
};

}  // namespace seen
