#pragma once
// Changes over HTTP. They become events in the input topic, so that every replica and every replay agrees.
// Implemented by app/changes.h over a producer; faked in serve's tests.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "model/day.h"

namespace seen {

inline constexpr size_t kRemovedItemsMax = 1'000;  // the most items that one event takes back

/// Where the event stands in the log. It has taken effect in a daemon once the daemon's next offset of the
/// partition is greater.
struct ChangePlace {
  int32_t partition = 0;
  int64_t offset = 0;
  TimeMs at = {};  // of a user's change: what was shown up to this UTC day is taken back
};

/// No clock is further behind, so what is newer than that is a false claim.
inline constexpr int64_t kClockBehindMax = 2 * kMsPerDay;
inline TimeMs ChangeTimeMax(TimeMs wall) { return {wall.value + kClockBehindMax}; }

/// The time of a change that is made now. `newest`: of the newest thing that the state knows of the user. So
/// the change takes effect, even by a clock that is behind. Nothing later is hidden: it is newer.
inline TimeMs ChangeTime(TimeMs wall, TimeMs newest) {
  return std::max(wall, std::min(newest, ChangeTimeMax(wall)));
}

/// Any thread. Ids are UTF-8 of 1 to kIdBytesMax bytes.
class ChangePort {
 public:
  /// Runs once, on any thread, maybe before the call returns. Must not block. kUnavailable: try again; this
  /// is harmless even if the event was written.
  using Done = std::function<void(const Result<ChangePlace>& place)>;

  virtual ~ChangePort() = default;
  /// The latest time that a change may have now.
  virtual TimeMs TimeMax() const = 0;
  /// Forgets the user in every filter. `newest`: see ChangeTime.
  virtual void Erase(std::string_view user_id, TimeMs newest, Done done) = 0;
  /// Takes the items back in every filter: 1 to kRemovedItemsMax of them.
  virtual void Remove(std::string_view user_id, std::span<const std::string_view> items, TimeMs newest,
                      Done done) = 0;
  /// Makes this daemon's group the owner of the outputs. The place is in the topic of the cluster.
  /// kUnavailable: also where there is no such topic.
  virtual void Promote(Done done) = 0;
};

}  // namespace seen
