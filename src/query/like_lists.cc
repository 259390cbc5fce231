#include "query/like_lists.h"

#include <algorithm>

namespace seen {

void LikeLists::Read(std::span<const Fingerprint> items, const ItemGroups& groups) {
  constexpr size_t kAhead = 16;  // look-ups whose memory is being prefetched
  items_.assign(items.begin(), items.end());
  all_.clear();
  starts_.resize(items.size() + 1);
  for (size_t i = 0; i < std::min(kAhead, items.size()); ++i) groups.Prefetch(items[i]);
  for (size_t i = 0; i < items.size(); ++i) {
    if (i + kAhead < items.size()) groups.Prefetch(items[i + kAhead]);
    starts_[i] = static_cast<uint32_t>(all_.size());
    groups.AppendLike(items[i], all_);
  }
  starts_[items.size()] = static_cast<uint32_t>(all_.size());
}

}  // namespace seen
