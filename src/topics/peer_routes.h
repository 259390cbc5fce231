#pragma once
// Knows which daemon answers for which partition, from the beats in the topic of watermarks.

#include <atomic>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "config/config.h"
#include "owner/route_port.h"
#include "topics/cluster_owner.h"

namespace seen {

/// The content of a beat: schemas/snapshot.md, schemas/cluster.md. `instance` and `state` are empty if an
/// earlier version sent the beat. ParseRouteBeat returns nullopt if the text isn't a beat.
struct RouteBeat {
  int32_t partition = 0;
  std::string group;
  std::string instance;
  std::string address;
  std::string state;
  int64_t lag_messages = 0;
  int64_t published_to = -1;  // -1: the beat doesn't say
};
std::optional<RouteBeat> ParseRouteBeat(std::string_view text);

/// Any thread. A thread of its own reads the topic.
class PeerRoutes final : public RoutePort {
 public:
  /// `owner` must outlive this object. `owner` decides whose beats count.
  PeerRoutes(const Config& config, const ClusterOwner& owner, const Clock& clock)
      : config_(config), owner_(owner), clock_(clock) {}
  ~PeerRoutes() override { Stop(); }

  /// Call both once, in this order. `instance`: this daemon's. `partitions`: the number that users map to.
  void SetSelf(std::string instance, int32_t partitions);
  void Start();
  void Stop();

  RoutesAnswer Routes() const override;
  std::vector<std::string> AddressesFor(std::string_view user_id) const override;
  /// Takes the beat of an owner, and of a replica.
  void HearOwner(std::string_view text);
  void HearReplica(std::string_view text);
  /// From the owner's last beat; -1: the beat doesn't say, or there is none.
  int64_t PublishedTo(int32_t partition) const;
  /// Whether another daemon answers for the partition. Its last beat must have come after `since`. It must
  /// have sent the same state for long enough that every daemon has heard it.
  bool IsReadyElsewhere(int32_t partition, Instant since) const;

 private:
  struct Heard {
    RouteBeat beat;
    Instant at;
    Instant same_since;  // since when instance and state are these
  };
  using Beats = std::map<int32_t, Heard>;  // by partition
  void Run();
  Status Follow();
  void Hear(RouteBeat beat, Beats& beats) REQUIRES(mutex_);
  /// nullptr: there is no beat of the owner, or it is too old.
  const Heard* OwnersBeat(int32_t partition) const REQUIRES(mutex_);
  bool IsLate(const Heard& heard) const;
  /// The daemon that answered before the owner. It goes on until the owner is ready. nullptr: the owner is
  /// ready, or that daemon is gone.
  const Heard* FormerOwnersBeat(int32_t partition) const REQUIRES(mutex_);
  PartitionRoute RouteOf(const Heard& heard, bool is_replica) const REQUIRES(mutex_);

  const Config& config_;
  const ClusterOwner& owner_;
  const Clock& clock_;
  std::atomic<bool> stop_{false};
  mutable Mutex mutex_;
  std::string instance_ GUARDED_BY(mutex_);
  int32_t partitions_ GUARDED_BY(mutex_) = 0;
  Beats heard_ GUARDED_BY(mutex_);
  Beats ready_ GUARDED_BY(mutex_);                            // the owners' last beats that said "ready"
  std::map<std::string, Beats> replicas_ GUARDED_BY(mutex_);  // by group
  std::thread thread_;
};

}  // namespace seen
