#pragma once
// Which daemon answers for which partition, as the beats in the topic of watermarks say.

#include <atomic>
#include <map>
#include <string>
#include <thread>

#include "base/clock.h"
#include "base/mutex.h"
#include "config/config.h"
#include "serve/peer_port.h"

namespace seen {

/// A beat's text: schemas/snapshot.md. nullopt: it isn't one of this group's.
/// `instance` and `state` are empty where an earlier version sent it.
struct RouteBeat {
  int32_t partition = 0;
  std::string instance;
  std::string address;
  std::string state;
  int64_t lag_messages = 0;
};
std::optional<RouteBeat> ParseRouteBeat(std::string_view text, std::string_view group);

/// Any thread. It has one that reads the topic.
class PeerRoutes final : public RoutePort {
 public:
  PeerRoutes(const Config& config, const Clock& clock) : config_(config), clock_(clock) {}
  ~PeerRoutes() override { Stop(); }

  /// Once. `instance`: this daemon's. `partitions`: that users map to.
  void Start(std::string instance, int32_t partitions);
  void Stop();

  RoutesAnswer Routes() const override;
  std::string AddressFor(std::string_view user_id) const override;
  /// Whether another daemon answers for the partition, said so after `since`, and said it first so long ago
  /// that every daemon has heard it.
  bool IsReadyElsewhere(int32_t partition, Instant since) const;

 private:
  struct Heard {
    RouteBeat beat;
    Instant at;
    Instant same_since;  // instance and state
  };
  void Run();
  Status Follow();

  const Config& config_;
  const Clock& clock_;
  std::atomic<bool> stop_{false};
  mutable Mutex mutex_;
  std::string instance_ GUARDED_BY(mutex_);
  int32_t partitions_ GUARDED_BY(mutex_) = 0;
  std::map<int32_t, Heard> heard_ GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace seen
