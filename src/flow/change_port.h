#pragma once
// What HTTP changes: events into the input topic, so that every replica and every replay agrees. Implemented
// by app/changes.h over a producer; faked in serve's tests.

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "base/result.h"

namespace seen {

inline constexpr size_t kRemovedItemsMax = 1'000;  // taken back by one event

/// Where the event stands. It has taken effect in a daemon whose next offset of the partition is beyond it.
struct ChangePlace {
  int32_t partition = 0;
  int64_t offset = 0;
};

/// Any thread. Ids are UTF-8 of 1 to kIdBytesMax bytes.
class ChangePort {
 public:
  /// Runs once, maybe before the call returns, from any thread; must not block. kUnavailable: try again,
  /// which is harmless even if the event was written.
  using Done = std::function<void(const Result<ChangePlace>& place)>;

  virtual ~ChangePort() = default;
  /// Forgets the user in every filter.
  virtual void Erase(std::string_view user_id, Done done) = 0;
  /// Takes the items back in every filter: 1 to kRemovedItemsMax of them.
  virtual void Remove(std::string_view user_id, std::span<const std::string_view> items, Done done) = 0;
  /// Makes this daemon's group the owner of the outputs. The place is in the topic of the cluster. kRefused:
  /// it is none of the groups that could be.
  virtual void Promote(Done done) = 0;
};

}  // namespace seen
