#include "flow/foreign_users.h"

#include <algorithm>

namespace seen {

bool ForeignUsers::Add(const std::vector<User>& users) {
  const MutexLock lock(mutex_);
  if (!waiting_.empty() && waiting_.size() + users.size() > kWaitingMax) return false;
  for (const User& user : users) {
    waiting_.push_back(user.ref);
    if (ids_.try_emplace(user.ref, user.user_id).second) order_.push_back(user.ref);
  }
  for (; order_.size() > kIdsMax; order_.pop_front()) ids_.erase(order_.front());
  return true;
}

void ForeignUsers::Step(PublishFlow& publish, Instant now) {
  std::vector<UserRef> due;
  {
    const MutexLock lock(mutex_);
    if (waiting_.empty() || !publish.TakesMore(kPage)) return;
    const auto count = static_cast<std::ptrdiff_t>(std::min(kPage, waiting_.size()));
    due.assign(waiting_.begin(), waiting_.begin() + count);
    waiting_.erase(waiting_.begin(), waiting_.begin() + count);
  }
  publish.AddDue(due, now);
}

std::string ForeignUsers::IdOf(const UserRef& ref) const {
  const MutexLock lock(mutex_);
  const auto found = ids_.find(ref);
  return found == ids_.end() ? std::string() : found->second;
}

}  // namespace seen
