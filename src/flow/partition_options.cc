#include "flow/partition_options.h"

#include <algorithm>

#include "base/result.h"

namespace seen {

FilterMasks::FilterMasks(const PartitionOptions& options) {
  Check(!options.filters.empty() && options.filters.size() <= kFiltersMax, "1 to 16 filters");
  for (size_t i = 0; i < options.filters.size(); ++i) {
    const FilterPolicy& filter = options.filters[i];
    const auto bit = static_cast<FilterMask>(1u << i);
    const auto add = [&](bool is_one, FilterMask& mask) {
      if (is_one) mask = static_cast<FilterMask>(mask | bit);
    };
    by_id.push_back(FilterIndex(i));
    add((options.covered >> i & 1) != 0, all);
    add(filter.snapshot.has_value(), published);
    add(filter.window_by == WindowBy::kItemCreatedAt, by_creation);
    add(options.groups != nullptr && filter.similar != Similar::kOff, similar);
  }
  std::sort(by_id.begin(), by_id.end(),
            [&](size_t a, size_t b) { return options.filters[a].id < options.filters[b].id; });
}

}  // namespace seen
