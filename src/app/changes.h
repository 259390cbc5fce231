#pragma once
// Changes over HTTP. Writes the daemon's own events into the input topic, and promotions into the cluster's
// topic.

#include <atomic>

#include "base/clock.h"
#include "flow/change_port.h"
#include "kafka/event_producer.h"
#include "owner/outputs_owner.h"

namespace seen {

class Changes final : public ChangePort {
 public:
  Changes(uint64_t event_bytes_max, const Clock& clock);

  /// Before this call every change fails with kUnavailable. `producer` must outlive this object, or be
  /// replaced by nullptr while no request runs.
  void SetProducer(EventProducer* producer) { producer_.store(producer, std::memory_order_release); }

  /// Sets the producer for promotions. The same rules hold. `promotions` outlive this object, too.
  void SetCluster(EventProducer* producer, const Promotions* promotions, std::string instance);

  void Erase(std::string_view user_id, Done done) override;
  void Promote(Done done) override;
  void Remove(std::string_view user_id, std::span<const std::string_view> items, Done done) override;

 private:
  void Send(std::string_view user_id, std::span<const std::string_view> items, std::string_view kind,
            Done done);

  const uint64_t event_bytes_max_;
  const Clock& clock_;
  std::atomic<EventProducer*> producer_{nullptr};
  const Promotions* promotions_ = nullptr;  // set before cluster_
  std::string instance_;                    // likewise
  std::atomic<EventProducer*> cluster_{nullptr};
};

}  // namespace seen
