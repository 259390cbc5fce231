#pragma once
// Reads who owns the outputs: the promotions in the topic of the cluster, which also has the beats of
// replicas, and the beats of owners and of other groups in the topic of watermarks.

#include <functional>
#include <string>
#include <string_view>

#include "base/mutex.h"
#include "base/threads.h"
#include "config/config.h"
#include "kafka/admin.h"
#include "owner/outputs_owner.h"
#include "owner/partition_routes.h"
#include "topics/daemon_topics.h"

namespace seen {

/// Two consumer groups must not publish into the same topics. Reads the topic of watermarks, which must
/// exist. kRefused, with the remedy: a group other than `kafka.group_id` writes to the topic now. A group
/// that has stopped is no obstacle: if another group wrote the last records, this function waits some seconds
/// for a newer one. kUnavailable: retry. Control thread.
/// `routes` hears the beats that stand in the topic.
Status RefuseOtherGroup(const KafkaConfig& kafka, const std::string& watermarks_topic, const BrokerWait& wait,
                        PartitionRoutes& routes);

/// Reads the topic of the cluster, which has one partition. A thread of its own follows it.
class ClusterOwner {
 public:
  using OnReplica = std::function<void(std::string_view beat)>;
  /// Both outlive this object.
  ClusterOwner(const Config& config, Promotions& promotions) : config_(config), promotions_(promotions) {}

  /// Reads the topic to its end and obeys its last promotion, and keeps it in `folder`. If the topic has
  /// none, the promotion that an earlier run kept there counts. kUnavailable: retry. kRefused: as
  /// Promotions::Obey.
  Status Read(const std::string& folder);
  /// Call it once. `admin` outlives the thread.
  void Start(const Admin& admin, OnReplica on_replica);
  void Stop() { thread_.Stop(); }
  /// For people: the topic has lost the promotion that counts. Empty: it hasn't. Any thread.
  std::string problem() const;

 private:
  Status Follow();
  Status Obey(const std::string& promotion);
  void NoteLost();

  const Config& config_;
  Promotions& promotions_;
  OnReplica on_replica_;
  std::string kept_path_;  // set by Read
  mutable Mutex mutex_;
  std::string problem_ GUARDED_BY(mutex_);
  RepeatingThread thread_;
};

/// Reads the owners' beats in the topic of watermarks. A thread of its own follows it.
class PeerRoutes {
 public:
  /// Both outlive this object.
  PeerRoutes(const Config& config, PartitionRoutes& routes) : config_(config), routes_(routes) {}

  /// Call it once.
  void Start();
  void Stop() { thread_.Stop(); }

 private:
  Status Follow();

  const Config& config_;
  PartitionRoutes& routes_;
  RepeatingThread thread_;
};

}  // namespace seen
