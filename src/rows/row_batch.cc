#include "rows/row_batch.h"

#include <algorithm>

namespace seen {

bool RowBatch::Deletes(std::string_view key) const {
  const auto after = std::upper_bound(ranges_.begin(), ranges_.end(), key,
                                      [this](std::string_view k, const Place& r) { return k < At(r).key; });
  return after != ranges_.begin() && key < At(*std::prev(after)).value;
}

}  // namespace seen
