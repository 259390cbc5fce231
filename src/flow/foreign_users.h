#pragma once
// Users of one partition whose snapshot another process has written (owner/output_guard.h). They become due.

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "flow/publish_flow.h"
#include "flow/store_port.h"

namespace seen {

/// Thread-safe, except Step.
class ForeignUsers {
 public:
  static constexpr size_t kWaitingMax = 4096;
  struct User {
    UserRef ref;
    std::string user_id;
  };

  /// False: too many users wait, and none of `users` was added. Offer them again.
  bool Add(const std::vector<User>& users);
  /// Publisher thread: makes a page of them due.
  void Step(PublishFlow& publish, Instant now);
  /// The id of a user, if the user is one of the last that were added; else empty. Needed for erased users,
  /// whose id the state may not have.
  std::string IdOf(const UserRef& ref) const;

 private:
  static constexpr size_t kPage = 256;
  static constexpr size_t kIdsMax = 4 * kWaitingMax;

  mutable Mutex mutex_;
  std::deque<UserRef> waiting_ GUARDED_BY(mutex_);
  std::map<UserRef, std::string> ids_ GUARDED_BY(mutex_);
  std::deque<UserRef> order_ GUARDED_BY(mutex_);  // of ids_, the oldest first
};

}  // namespace seen
