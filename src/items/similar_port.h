#pragma once
// Finds the items that are similar to a text that isn't stored. Implemented by run/items_taker.h; faked in
// serve's tests.

#include <string_view>
#include <vector>

#include "base/result.h"
#include "group/item_features.h"
#include "model/item_group.h"

namespace seen {

inline constexpr size_t kSimilarMax = 100;  // of one answer

struct SimilarQuestion {
  ItemText text;
  std::string_view except;  // an item id to leave out; empty: none
  size_t limit = 10;        // 1 to kSimilarMax
};

struct SimilarAnswer {
  std::vector<NearItem> similar;  // nearest first
  bool cut = false;               // only the beginning of the text counted
};

/// Any thread.
class SimilarPort {
 public:
  virtual ~SimilarPort() = default;
  /// kNotFound: this daemon groups nothing. kUnavailable: the language's index isn't here, or hasn't caught
  /// up: answer 503 with Retry-After.
  virtual Result<SimilarAnswer> Similar(const SimilarQuestion& question) = 0;
};

}  // namespace seen
