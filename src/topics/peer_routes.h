#pragma once
// Reads the owners' beats in the topic of watermarks.

#include "base/threads.h"
#include "config/config.h"
#include "owner/partition_routes.h"

namespace seen {

/// A thread of its own reads the topic.
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
