#pragma once
// What HTTP changes, as events of this program's own into the input topic.

#include <atomic>

#include "base/clock.h"
#include "flow/change_port.h"
#include "kafka/event_producer.h"

namespace seen {

class Changes final : public ChangePort {
 public:
  Changes(uint64_t event_bytes_max, const Clock& clock);

  /// Before it every change is answered "unavailable". `producer` must outlive this or be replaced by
  /// nullptr while nobody asks.
  void SetProducer(EventProducer* producer) { producer_.store(producer, std::memory_order_release); }

  void Erase(std::string_view user_id, Done done) override;
  void Remove(std::string_view user_id, std::span<const std::string_view> items, Done done) override;

 private:
  void Send(std::string_view user_id, std::span<const std::string_view> items, std::string_view kind,
            Done done);

  const uint64_t event_bytes_max_;
  const Clock& clock_;
  std::atomic<EventProducer*> producer_{nullptr};
};

}  // namespace seen
