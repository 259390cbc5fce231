#pragma once
// The topic of groups, as a port. Implemented by kafka/group_producer.h.

#include <chrono>
#include <string_view>

#include "base/result.h"
#include "model/item_group.h"

namespace seen {

/// Takes groups that have changed. They are queued until AwaitAll says that they have arrived.
class GroupSink {
 public:
  virtual ~GroupSink() = default;
  /// False: the queue is full, try again.
  virtual bool TrySend(std::string_view item_id, const ItemGroup* group) = 0;  // nullptr: a tombstone
  /// Waits until everything sent is acknowledged. kUnavailable: not within `patience`. Any other error: the
  /// sink gave up on a record, and takes nothing more.
  virtual Status AwaitAll(std::chrono::milliseconds patience) = 0;
};

}  // namespace seen
