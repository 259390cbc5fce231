#include "app/changes.h"

#include <algorithm>

#include "decode/event_decoder.h"

namespace seen {
namespace {
constexpr uint64_t kEventBytesMax = 900'000;  // brokers accept 1 MB by default
}

Changes::Changes(uint64_t event_bytes_max, const Clock& clock)
    : event_bytes_max_(std::min(event_bytes_max, kEventBytesMax)), clock_(clock) {}

void Changes::SetCluster(EventProducer* producer, const Promotions* promotions, std::string instance) {
  promotions_ = promotions;
  instance_ = std::move(instance);
  cluster_.store(producer, std::memory_order_release);
}

void Changes::Promote(Done done) {
  EventProducer* const producer = cluster_.load(std::memory_order_acquire);
  if (!producer) {
    return done(Fail(Code::kUnavailable,
                     "starting, or without watermarks.topic: there is no topic to write a promotion to"));
  }
  producer->Send(kPromotionKey, EncodePromotion(promotions_->Next(instance_, clock_.WallNow())),
                 std::move(done));
}

void Changes::Erase(std::string_view user_id, Done done) { Send(user_id, {}, "erased", std::move(done)); }

void Changes::Remove(std::string_view user_id, std::span<const std::string_view> items, Done done) {
  Send(user_id, items, "removed", std::move(done));
}

void Changes::Send(std::string_view user_id, std::span<const std::string_view> items, std::string_view kind,
                   Done done) {
  EventProducer* const producer = producer_.load(std::memory_order_acquire);
  if (!producer) return done(Fail(Code::kUnavailable, "starting: the input topic isn't known yet"));
  const std::string event = EncodeOwnEvent({user_id, items, kind, clock_.WallNow()});
  if (event.size() > event_bytes_max_) {
    return done(Fail(Code::kInvalidArgument, "$.items: " + std::to_string(event.size()) +
                                                 " bytes as an event; the limit is " +
                                                 std::to_string(event_bytes_max_) + "; split the request"));
  }
  producer->Send(user_id, event, std::move(done));
}

}  // namespace seen
