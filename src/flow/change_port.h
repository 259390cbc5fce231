#pragma once
// Changes over HTTP. They become events in the input topic, so that every replica and every replay agrees.
// Implemented by app/changes.h over a producer; faked in serve's tests.

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "base/result.h"

namespace seen {

inline constexpr size_t kRemovedItemsMax = 1'000;  // the most items that one event takes back

/// Where the event stands in the log. It has taken effect in a daemon once the daemon's next offset of the
/// partition is greater.
struct ChangePlace {
  int32_t partition = 0;
  int64_t offset = 0;
};

/// Any thread. Ids are UTF-8 of 1 to kIdBytesMax bytes.
class ChangePort {
 public:
  /// Runs once, on any thread, maybe before the call returns. Must not block. kUnavailable: try again; this
  /// is harmless even if the event was written.
  using Done = std::function<void(const Result<ChangePlace>& place)>;

  virtual ~ChangePort() = default;
  /// Forgets the user in every filter.
  virtual void Erase(std::string_view user_id, Done done) = 0;
  /// Takes the items back in every filter: 1 to kRemovedItemsMax of them.
  virtual void Remove(std::string_view user_id, std::span<const std::string_view> items, Done done) = 0;
  /// Makes this daemon's group the owner of the outputs. The place is in the topic of the cluster.
  /// kUnavailable: also where there is no such topic.
  virtual void Promote(Done done) = 0;
};

}  // namespace seen
