#include "owner/foreign_users.h"

#include <algorithm>
#include <iterator>

namespace seen {

bool ForeignUsers::Add(std::vector<User> users) {
  const MutexLock lock(mutex_);
  if (!waiting_.empty() && waiting_.size() + users.size() > kWaitingMax) return false;
  for (User& user : users) {
    const Key key{user.filter, user.user};
    if (ids_.try_emplace(key, user.user_id).second) order_.push_back(key);
    waiting_.push_back(std::move(user));
  }
  for (; order_.size() > kIdsMax; order_.pop_front()) ids_.erase(order_.front());
  return true;
}

std::vector<ForeignUsers::User> ForeignUsers::Take() {
  const MutexLock lock(mutex_);
  const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(std::min(kPage, waiting_.size()));
  std::vector<User> due(std::make_move_iterator(waiting_.begin()), std::make_move_iterator(end));
  waiting_.erase(waiting_.begin(), end);
  return due;
}

std::string ForeignUsers::IdOf(FilterId filter, const UserKey& user) const {
  const MutexLock lock(mutex_);
  const auto found = ids_.find({filter, user});
  return found == ids_.end() ? std::string() : found->second;
}

}  // namespace seen
