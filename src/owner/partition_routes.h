#pragma once
// Knows which daemon answers for which partition, by the beats that were heard.

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "model/partitioner.h"
#include "owner/beat.h"
#include "owner/outputs_owner.h"
#include "owner/route_port.h"

namespace seen {

/// Any thread.
class PartitionRoutes final : public RoutePort, public OutputsOwner {
 public:
  struct Options {
    std::string group;  // this daemon's
    std::string topic;  // the input, keyed by user
    Partitioner partitioner = Partitioner::kMurmur2;
    int64_t ready_lag_messages = 0;
  };
  /// `promotions` and `clock` outlive this object. `promotions` decide whose beats count.
  PartitionRoutes(Options options, const Promotions& promotions, const Clock& clock)
      : options_(std::move(options)), promotions_(promotions), clock_(clock) {}

  /// `instance`: this daemon's. `partitions`: the number that users map to. Call it before any beat is heard.
  void SetSelf(std::string instance, int32_t partitions);
  /// Takes a beat of before this daemon began. It says nothing of who answers now. Call it before HearOwner.
  void HearEarlier(std::string_view text);
  /// Takes the beat of an owner, and of a replica.
  void HearOwner(std::string_view text);
  void HearReplica(std::string_view text);

  RoutesAnswer Routes() const override;
  std::vector<std::string> AddressesFor(std::string_view user_id) const override;
  bool IsThisGroup() const override { return promotions_.IsThisGroup(); }
  int64_t PublishedTo(int32_t partition) const override;
  std::optional<Beat> LastBeat(int32_t partition) const override;
  /// Whether another daemon answers for the partition. Its last beat must have come after `since`. It must
  /// have sent the same state for long enough that every daemon has heard it.
  bool IsReadyElsewhere(int32_t partition, Instant since) const;
  /// Whether another daemon answers for some partition, at an address that `allows` accepts.
  bool HasReadyPeer(const std::function<bool(const std::string& address)>& allows) const;

 private:
  struct Heard {
    Beat beat;
    Instant at;
    Instant same_since;  // since when instance and state are these
  };
  using Beats = std::map<int32_t, Heard>;  // by partition
  void Hear(Beat beat, Beats& beats) REQUIRES(mutex_);
  bool IsHere(const Beat& beat) const REQUIRES(mutex_) {
    return beat.from.instance == instance_ && beat.from.group == options_.group;
  }
  bool IsLate(const Heard& heard) const;
  /// nullptr: there is no beat of the owner, or it is too old.
  const Heard* OwnersBeat(int32_t partition) const REQUIRES(mutex_);
  /// The daemon that answered before the owner. It goes on until the owner is ready. nullptr: the owner is
  /// ready, or that daemon is gone.
  const Heard* FormerOwnersBeat(int32_t partition) const REQUIRES(mutex_);
  PartitionRoute RouteOf(const Heard& heard, bool is_replica) const REQUIRES(mutex_);

  const Options options_;
  const Promotions& promotions_;
  const Clock& clock_;
  mutable Mutex mutex_;
  std::string instance_ GUARDED_BY(mutex_);
  int32_t partitions_ GUARDED_BY(mutex_) = 0;
  Beats heard_ GUARDED_BY(mutex_);
  std::map<int32_t, Beat> last_ GUARDED_BY(mutex_);           // also of before
  Beats ready_ GUARDED_BY(mutex_);                            // the owners' last beats that said "ready"
  std::map<std::string, Beats> replicas_ GUARDED_BY(mutex_);  // by group
};

}  // namespace seen
