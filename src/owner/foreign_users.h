#pragma once
// Users of one partition whose snapshot another process has written (owner/output_guard.h). They are
// published again.

#include <compare>
#include <cstddef>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "model/filter_number.h"
#include "model/hashes.h"

namespace seen {

/// Any thread.
class ForeignUsers {
 public:
  static constexpr size_t kWaitingMax = 4096;
  static constexpr size_t kPage = 256;
  struct User {
    FilterId filter;
    UserKey user;
    std::string user_id;
  };

  /// False: too many users wait, and none of `users` was added. Offer them again.
  bool Add(std::vector<User> users);
  /// Takes at most kPage users who are due.
  std::vector<User> Take();
  /// The id of a user, if the user is one of the last that were added; else empty. Needed for erased users,
  /// whose id the state may not have.
  std::string IdOf(FilterId filter, const UserKey& user) const;

 private:
  using Key = std::pair<FilterId, UserKey>;
  static constexpr size_t kIdsMax = 4 * kWaitingMax;

  mutable Mutex mutex_;
  std::deque<User> waiting_ GUARDED_BY(mutex_);
  std::map<Key, std::string> ids_ GUARDED_BY(mutex_);
  std::deque<Key> order_ GUARDED_BY(mutex_);  // of ids_, the oldest first
};

}  // namespace seen
