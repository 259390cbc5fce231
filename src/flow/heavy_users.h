#pragma once
// Which users of a partition have the most items, and how many users reached the daily limit. Counts only
// users whose seen set was read since the partition was opened, for a snapshot or for a look-up. Bounded
// memory; events cost nothing.

#include <atomic>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "flow/partition_status.h"
#include "model/hashes.h"

namespace seen {

/// Any thread. A user's newest reading counts, so a user who shrinks or is erased leaves the list.
class HeavyUsers {
 public:
  static constexpr size_t kShown = 10;
  static constexpr size_t kLimitedMax = 10'000;  // beyond, further ones aren't counted

  /// Notes a seen set that was just read: how many fingerprints it keeps, and whether some day is at its
  /// limit. Costs a few instructions, unless the user is or was one of those remembered.
  void Note(FilterIndex filter_index, const UserKey& user, std::string_view user_id, uint64_t items,
            bool limited) {
    const bool remembered = (bits_.load(std::memory_order_relaxed) & BitOf(user)) != 0;
    if (items <= least_.load(std::memory_order_relaxed) && !remembered && !limited) [[likely]]
      return;
    Remember(filter_index, user, user_id, items, limited);
  }

  /// Most items first.
  std::vector<std::pair<size_t, HeavyUser>> Heaviest() const;  // with their filters' indexes
  uint64_t Limited() const;

 private:
  struct Entry {
    FilterIndex filter_index;
    UserKey user;
    std::string user_id_start;
    uint64_t items;
  };
  static uint64_t BitOf(const UserKey& user) { return uint64_t{1} << (user.low % 64); }
  void Remember(FilterIndex filter_index, const UserKey& user, std::string_view user_id, uint64_t items,
                bool limited);

  // Read without the mutex, to see whether a reading can matter.
  std::atomic<uint64_t> least_{0};  // items of the last user shown; 0 while there is space
  std::atomic<uint64_t> bits_{0};   // bits of the users remembered

  mutable Mutex mutex_;
  std::vector<Entry> shown_ GUARDED_BY(mutex_);  // most items first
  std::set<std::pair<size_t, UserKey>> limited_ GUARDED_BY(mutex_);
};

}  // namespace seen
