#pragma once
// What HTTP changes: events of this program's own into the input topic, promotions into the cluster's.

#include <atomic>

#include "base/clock.h"
#include "flow/change_port.h"
#include "kafka/event_producer.h"
#include "topics/cluster_owner.h"

namespace seen {

class Changes final : public ChangePort {
 public:
  Changes(uint64_t event_bytes_max, const Clock& clock);

  /// Before it every change is answered "unavailable". `producer` must outlive this or be replaced by
  /// nullptr while nobody asks.
  void SetProducer(EventProducer* producer) { producer_.store(producer, std::memory_order_release); }

  /// What a promotion is written with; the same holds. `owner` likewise.
  void SetCluster(EventProducer* producer, const ClusterOwner* owner, std::string instance);

  void Erase(std::string_view user_id, Done done) override;
  void Promote(Done done) override;
  void Remove(std::string_view user_id, std::span<const std::string_view> items, Done done) override;

 private:
  void Send(std::string_view user_id, std::span<const std::string_view> items, std::string_view kind,
            Done done);

  const uint64_t event_bytes_max_;
  const Clock& clock_;
  std::atomic<EventProducer*> producer_{nullptr};
  const ClusterOwner* owner_ = nullptr;  // set before the producer
  std::string instance_;                 // likewise
  std::atomic<EventProducer*> cluster_{nullptr};
};

}  // namespace seen
