#pragma once
// Answers from the index of items, as of index time. Any thread.

#include <atomic>
#include <optional>
#include <string_view>
#include <vector>

#include "items/group_rules.h"
#include "items/item_index_port.h"
#include "model/item_group.h"

namespace seen {

class GroupLookup {
 public:
  GroupLookup(const GroupRules& rules, const ItemIndex& index) : rules_(rules), index_(index) {}

  /// The writer calls it when it has taken an item.
  void SetIndexTime(TimeMs time) { index_time_.store(time.value, std::memory_order_relaxed); }

  Result<std::vector<NearItem>> Similar(const ItemFeatures& features, size_t limit,
                                        std::string_view except) const;
  Result<std::optional<ItemGroup>> Group(std::string_view item_id) const;

 private:
  TimeMs Now() const { return {index_time_.load(std::memory_order_relaxed)}; }

  const GroupRules& rules_;
  const ItemIndex& index_;
  std::atomic<int64_t> index_time_{0};
};

}  // namespace seen
