#pragma once
// The topic of groups, as a port. Implemented by kafka/group_producer.h.

#include <chrono>
#include <string_view>

#include "base/result.h"
#include "model/item_group.h"

namespace seen {

/// Groups that have changed, out. Queued until Flush of the topic says they have arrived.
class GroupSink {
 public:
  virtual ~GroupSink() = default;
  /// False: the queue is full, try again.
  virtual bool TrySend(std::string_view item_id, const ItemGroup* group) = 0;  // nullptr: a tombstone
  /// Everything sent has been acknowledged. kUnavailable: not within `patience`. Any other error: a record
  /// was given up on, and the sink takes nothing more.
  virtual Status AwaitAll(std::chrono::milliseconds patience) = 0;
};

}  // namespace seen
