#pragma once
// Snapshots of the users that were met last, within bounds.

#include <cstddef>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "seen/snapshot.h"

namespace seen::client {

/// Drops the least recently used user where there would be too many users or bytes. Any thread.
class SnapshotCache {
 public:
  enum class Outcome {
    kFound,
    kNothingSeen,  // the topic holds no snapshot of the user
    kMiss,         // it may hold one, but it isn't here: ask over HTTP
  };
  struct Found {
    Outcome outcome;
    Snapshot snapshot;  // Empty() but for kFound
  };

  SnapshotCache(std::size_t users_max, std::size_t bytes_max)
      : users_max_(users_max), bytes_max_(bytes_max) {}

  /// The last record of a key replaces all earlier ones.
  void Put(const std::string& user, Snapshot snapshot) {
    const std::lock_guard lock(mutex_);
    Replace(user, std::move(snapshot));
  }
  /// A tombstone: nothing is known of the user.
  void Forget(const std::string& user) {
    const std::lock_guard lock(mutex_);
    Erase(user);
  }
  /// A record was refused: the snapshot before it stays; without one the user is unknown, which isn't
  /// "nothing seen".
  void Refused(const std::string& user) {
    const std::lock_guard lock(mutex_);
    if (places_.count(user) == 0) Replace(user, std::nullopt);
  }

  Found Find(const std::string& user) {
    const std::lock_guard lock(mutex_);
    const auto place = places_.find(user);
    if (place == places_.end()) return {dropped_ ? Outcome::kMiss : Outcome::kNothingSeen, Snapshot::Empty()};
    users_.splice(users_.begin(), users_, place->second);
    const auto& snapshot = place->second->second;
    if (!snapshot) return {Outcome::kMiss, Snapshot::Empty()};
    return {Outcome::kFound, *snapshot};
  }

  std::size_t users() const {
    const std::lock_guard lock(mutex_);
    return places_.size();
  }
  std::size_t bytes() const {
    const std::lock_guard lock(mutex_);
    return bytes_;
  }

 private:
  using User = std::pair<std::string, std::optional<Snapshot>>;  // nullopt: unknown
  static constexpr std::size_t kBytesBesides = 400;              // of a user: list, map, Snapshot itself

  static std::size_t BytesOf(const User& user) {
    return kBytesBesides + 2 * user.first.size() + (user.second ? user.second->bytes().size() : 0);
  }

  void Replace(const std::string& name, std::optional<Snapshot> snapshot) {
    Erase(name);
    users_.emplace_front(name, std::move(snapshot));
    places_[name] = users_.begin();
    bytes_ += BytesOf(users_.front());
    while (places_.size() > users_max_ || bytes_ > bytes_max_) {
      Erase(std::string(users_.back().first));
      dropped_ = true;
    }
  }

  void Erase(const std::string& name) {
    const auto place = places_.find(name);
    if (place == places_.end()) return;
    bytes_ -= BytesOf(*place->second);
    users_.erase(place->second);
    places_.erase(place);
  }

  const std::size_t users_max_;
  const std::size_t bytes_max_;
  mutable std::mutex mutex_;  // of all below
  std::list<User> users_;     // the most recently used first
  std::unordered_map<std::string, std::list<User>::iterator> places_;
  std::size_t bytes_ = 0;
  bool dropped_ = false;  // any user, ever: from then on who isn't here is a miss
};

}  // namespace seen::client
