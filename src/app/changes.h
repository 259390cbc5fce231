#pragma once
// Changes over HTTP. Writes the daemon's own events into the input topic, and promotions into the cluster's
// topic.

#include <atomic>
#include <chrono>

#include "base/clock.h"
#include "decode/event_decoder.h"
#include "flow/change_port.h"
#include "kafka/event_producer.h"
#include "owner/outputs_owner.h"

namespace seen {

class Changes final : public ChangePort {
 public:
  /// `ahead_max`: how far an event may be ahead of its record.
  Changes(uint64_t event_bytes_max, std::chrono::milliseconds ahead_max, const Clock& clock);

  /// Before this call every change fails with kUnavailable. `producer` must outlive this object, or be
  /// replaced by nullptr while no request runs.
  void SetProducer(EventProducer* producer) { producer_.store(producer, std::memory_order_release); }

  /// Sets the producer for promotions. The same rules hold. `promotions` outlive this object, too.
  void SetCluster(EventProducer* producer, const Promotions* promotions, std::string instance);

  TimeMs TimeMax() const override;
  void Erase(std::string_view user_id, TimeMs newest, Done done) override;
  void Promote(Done done) override;
  void Remove(std::string_view user_id, std::span<const std::string_view> items, TimeMs newest,
              Done done) override;

 private:
  void Send(OwnEvent event, TimeMs newest, Done done);

  const uint64_t event_bytes_max_;
  const std::chrono::milliseconds ahead_max_;
  const Clock& clock_;
  std::atomic<EventProducer*> producer_{nullptr};
  const Promotions* promotions_ = nullptr;  // set before cluster_
  std::string instance_;                    // likewise
  std::atomic<EventProducer*> cluster_{nullptr};
};

}  // namespace seen
