#pragma once
// The newest snapshot of each user in each partition of a filter with updates.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "seen/result.h"
#include "seen/snapshot.h"

namespace seen::client::internal {

class UserSnapshots {
 public:
  struct OfUser {
    std::string user;
    std::int32_t partition;
    std::optional<Snapshot> snapshot;
    bool refused;  // a newer one was, and `snapshot` is the one before it
  };

  /// `hash`: of the user. nullopt: a tombstone. An error: the bytes are refused.
  std::optional<Error> Take(std::uint64_t hash, std::string_view user, std::int32_t partition,
                            std::optional<std::string_view> bytes) {
    OfUser its{std::string(user), partition, std::nullopt, false};
    const auto [first, last] = by_hash_.equal_range(hash);
    const auto found = std::find_if(first, last, [&its](const auto& one) {
      return one.second.partition == its.partition && one.second.user == its.user;
    });
    if (found != last) {
      bytes_ -= BytesOf(found->second);
      its.snapshot = std::move(found->second.snapshot);
      by_hash_.erase(found);
    }
    if (!bytes) return std::nullopt;
    std::optional<Error> error;
    if (auto snapshot = Snapshot::ParseCopyWithUpdates(*bytes)) {
      its.snapshot = *std::move(snapshot);
    } else {
      its.refused = true;
      error = snapshot.error();
    }
    bytes_ += BytesOf(its);
    by_hash_.emplace(hash, std::move(its));
    return error;
  }

  /// Calls `visit(OfUser)` for each partition that has one of the user.
  template <typename Visit>
  void ForEach(std::uint64_t hash, std::string_view user, Visit visit) const {
    const auto [first, last] = by_hash_.equal_range(hash);
    for (auto found = first; found != last; ++found) {
      if (found->second.user == user) visit(found->second);
    }
  }

  std::size_t size() const { return by_hash_.size(); }
  std::size_t bytes() const { return bytes_; }

 private:
  static constexpr std::size_t kBytesBesides = 64;  // the node of the map, what malloc takes

  static std::size_t BytesOf(const OfUser& its) {
    return kBytesBesides + sizeof(OfUser) + its.user.size() +
           (its.snapshot ? its.snapshot->bytes().size() : 0);
  }

  std::unordered_multimap<std::uint64_t, OfUser> by_hash_;
  std::size_t bytes_ = 0;
};

}  // namespace seen::client::internal
