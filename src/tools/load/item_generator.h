#pragma once
// Items with plausible texts in English and Chinese, some of them copies of earlier ones with edits that an
// editor or a reposter makes. The same options give the same items in any order.

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
  std::string id_prefix = "";  // empty: the ids that ExposureGenerator shows
};

/// How a copy was made from its original.
enum class CopyEdit : uint8_t {
  kVerbatim,  // other markup, case, spaces and links: the same text after normalisation
  kWords,     // some words are others
  kSentence,  // a sentence more
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
    std::optional<uint64_t> original;  // number of the item it is a copy of, itself no copy
    CopyEdit edit = CopyEdit::kVerbatim;
  };
  /// `number` from 0.
  Item Make(uint64_t number, TimeMs created_at) const;
  std::string IdOf(uint64_t number) const;
  /// The number itself, but for a copy.
  uint64_t OriginalOf(uint64_t number) const;

 private:
  ItemGeneratorOptions options_;
};

}  // namespace seen
