#pragma once
// Which daemon answers for which partition, as the beats in the topic of watermarks say.

#include <atomic>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "config/config.h"
#include "serve/peer_port.h"
#include "topics/cluster_owner.h"

namespace seen {

/// A beat's text: schemas/snapshot.md, schemas/cluster.md. nullopt: it isn't one.
/// `instance` and `state` are empty where an earlier version sent it.
struct RouteBeat {
  int32_t partition = 0;
  std::string group;
  std::string instance;
  std::string address;
  std::string state;
  int64_t lag_messages = 0;
  int64_t published_to = -1;  // -1: not said
};
std::optional<RouteBeat> ParseRouteBeat(std::string_view text);

/// Any thread. It has one that reads the topic.
class PeerRoutes final : public RoutePort {
 public:
  /// `owner` outlives this, and says whose beats count.
  PeerRoutes(const Config& config, const ClusterOwner& owner, const Clock& clock)
      : config_(config), owner_(owner), clock_(clock) {}
  ~PeerRoutes() override { Stop(); }

  /// Once. `instance`: this daemon's. `partitions`: that users map to.
  void Start(std::string instance, int32_t partitions);
  void Stop();

  RoutesAnswer Routes() const override;
  std::vector<std::string> AddressesFor(std::string_view user_id) const override;
  /// A replica's beat.
  void HearReplica(std::string_view text);
  /// As the owner's last beat said; -1: it said nothing.
  int64_t PublishedTo(int32_t partition) const;
  /// Whether another daemon answers for the partition, said so after `since`, and said it first so long ago
  /// that every daemon has heard it.
  bool IsReadyElsewhere(int32_t partition, Instant since) const;

 private:
  struct Heard {
    RouteBeat beat;
    Instant at;
    Instant same_since;  // instance and state
  };
  using Beats = std::map<int32_t, Heard>;  // by partition
  void Run();
  Status Follow();
  void Hear(RouteBeat beat, Beats& beats) REQUIRES(mutex_);
  /// nullptr: none that counts, or none lately.
  const Heard* OwnersBeat(int32_t partition) const REQUIRES(mutex_);
  bool IsLate(const Heard& heard) const;
  PartitionRoute RouteOf(const Heard& heard, bool is_replica) const REQUIRES(mutex_);

  const Config& config_;
  const ClusterOwner& owner_;
  const Clock& clock_;
  std::atomic<bool> stop_{false};
  mutable Mutex mutex_;
  std::string instance_ GUARDED_BY(mutex_);
  int32_t partitions_ GUARDED_BY(mutex_) = 0;
  Beats heard_ GUARDED_BY(mutex_);
  std::map<std::string, Beats> replicas_ GUARDED_BY(mutex_);  // by group
  std::thread thread_;
};

}  // namespace seen
