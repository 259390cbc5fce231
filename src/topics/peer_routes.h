#pragma once
// Reads the owners' beats in the topic of watermarks.

#include <atomic>
#include <thread>

#include "config/config.h"
#include "owner/partition_routes.h"

namespace seen {

/// A thread of its own reads the topic.
class PeerRoutes {
 public:
  /// Both outlive this object.
  PeerRoutes(const Config& config, PartitionRoutes& routes) : config_(config), routes_(routes) {}
  ~PeerRoutes() { Stop(); }

  /// Call it once.
  void Start();
  void Stop();

 private:
  void Run();
  Status Follow();

  const Config& config_;
  PartitionRoutes& routes_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace seen
