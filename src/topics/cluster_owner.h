#pragma once
// Reads who owns the outputs: the promotions in the topic of the cluster, which also has the beats of
// replicas, and the beats of other groups in the topic of watermarks.

#include <functional>
#include <string>
#include <string_view>

#include "base/threads.h"
#include "config/config.h"
#include "kafka/admin.h"
#include "owner/outputs_owner.h"
#include "topics/daemon_topics.h"

namespace seen {

/// Two consumer groups must not publish into the same topics. Reads the topic of watermarks, which must
/// exist. kRefused, with the remedy: a group other than `kafka.group_id` writes to the topic now. A group
/// that has stopped is no obstacle: if another group wrote the last records, this function waits some seconds
/// for a newer one. kUnavailable: retry. Control thread.
Status RefuseOtherGroup(const KafkaConfig& kafka, const std::string& watermarks_topic,
                        const BrokerWait& wait);

/// Reads the topic of the cluster, which has one partition. A thread of its own follows it.
class ClusterOwner {
 public:
  using OnReplica = std::function<void(std::string_view beat)>;
  /// Both outlive this object.
  ClusterOwner(const Config& config, Promotions& promotions) : config_(config), promotions_(promotions) {}

  /// Reads the topic to its end and obeys its last promotion. If the topic doesn't exist, nothing changes.
  /// kUnavailable: retry. kRefused: as Promotions::Obey.
  Status Read();
  /// Call it once. `admin` outlives the thread.
  void Start(const Admin& admin, OnReplica on_replica);
  void Stop() { thread_.Stop(); }

 private:
  Status Follow();

  const Config& config_;
  Promotions& promotions_;
  OnReplica on_replica_;
  RepeatingThread thread_;
};

}  // namespace seen
