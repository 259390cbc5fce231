#include "flow/heavy_users.h"

#include <algorithm>

namespace seen {
namespace {
constexpr size_t kIdBytesShown = 16;  // enough to recognise, not a dump of ids
}

void HeavyUsers::Remember(FilterIndex filter_index, const UserKey& user, std::string_view user_id,
                          uint64_t items, bool limited) {
  const MutexLock lock(mutex_);
  const size_t gone = std::erase_if(
      shown_, [&](const Entry& entry) { return entry.filter_index == filter_index && entry.user == user; });
  const bool was_limited = limited_.contains({filter_index, user});
  if (gone == 0 && limited == was_limited && items <= least_.load(std::memory_order_relaxed)) return;
  if (items > 0) {
    const auto at =
        std::upper_bound(shown_.begin(), shown_.end(), items,
                         [](uint64_t wanted, const Entry& entry) { return wanted > entry.items; });
    if (at != shown_.end() || shown_.size() < kShown) {
      shown_.insert(at, {filter_index, user, std::string(user_id.substr(0, kIdBytesShown)), items});
      if (shown_.size() > kShown) shown_.pop_back();
    }
  }
  if (!limited) {
    limited_.erase({filter_index, user});
  } else if (limited_.size() < kLimitedMax) {
    limited_.emplace(filter_index, user);
  }
  least_.store(shown_.size() < kShown ? 0 : shown_.back().items, std::memory_order_relaxed);
  uint64_t bits = 0;
  for (const Entry& entry : shown_) bits |= BitOf(entry.user);
  for (const auto& [index, key] : limited_) {
    bits |= BitOf(key);
    if (bits == ~uint64_t{0}) break;
  }
  bits_.store(bits, std::memory_order_relaxed);
}

std::vector<std::pair<size_t, HeavyUser>> HeavyUsers::Heaviest() const {
  const MutexLock lock(mutex_);
  std::vector<std::pair<size_t, HeavyUser>> heaviest;
  heaviest.reserve(shown_.size());
  for (const Entry& entry : shown_) {
    heaviest.push_back({entry.filter_index, {{}, entry.user_id_start, entry.items}});
  }
  return heaviest;
}

uint64_t HeavyUsers::Limited() const {
  const MutexLock lock(mutex_);
  return limited_.size();
}

}  // namespace seen
