#pragma once
// Finds partitions of a consumer's topic that no member of the group owns. Internal to this room.
//
// A static member that comes back within its session gets its old assignment again. This holds even if the
// topic has gained partitions meanwhile. The group's leader doesn't notice (KAFKA-13435). So each member
// compares what the group owns with what the topic has. If a member subscribes again and the coordinator
// takes it for the leader, the group assigns again. If it is another member, the coordinator sees no change.
//
// rd_kafka_list_groups asks for the group. It blocks, so it runs on a thread of its own.
// DescribeConsumerGroups of the Admin API would not block. But librdkafka up to 2.14 ends the process if the
// connection to the coordinator is lost at that moment (librdkafka issue 4605).

#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "base/back_off.h"
#include "base/mutex.h"
#include "base/threads.h"
#include "kafka/consumer_link.h"

namespace seen {

/// The control thread, except for unowned_partitions: any thread.
class OwnersWatch {
 public:
  explicit OwnersWatch(ConsumerLink& link) : link_(link) {}
  void Start();
  void Stop() { thread_.Stop(); }
  /// True, with back-off: some partitions had no owner for a while, so the member should join the group
  /// again.
  bool WantsRejoin(bool may_rejoin);
  std::vector<int32_t> unowned_partitions() const;

 private:
  std::chrono::milliseconds Ask();  // which partitions the group's members own; returns when to ask again

  ConsumerLink& link_;
  mutable Mutex mutex_;
  std::optional<std::set<int32_t>> owned_by_group_ GUARDED_BY(mutex_);
  std::vector<int32_t> unowned_ GUARDED_BY(mutex_);
  std::chrono::steady_clock::time_point unowned_since_{};
  std::chrono::steady_clock::time_point rejoin_next_{};
  // Each time this member's partitions pause.
  BackOff rejoin_wait_{std::chrono::seconds(5), std::chrono::minutes(5)};
  RepeatingThread thread_;
};

}  // namespace seen
