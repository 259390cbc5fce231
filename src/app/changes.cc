#include "app/changes.h"

#include <algorithm>

namespace seen {
namespace {
constexpr uint64_t kEventBytesMax = 900'000;  // brokers accept 1 MB by default
}

Changes::Changes(uint64_t event_bytes_max, std::chrono::milliseconds ahead_max, const Clock& clock)
    : event_bytes_max_(std::min(event_bytes_max, kEventBytesMax)), ahead_max_(ahead_max), clock_(clock) {}

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

TimeMs Changes::TimeMax() const { return ChangeTimeMax(clock_.WallNow()); }

void Changes::Erase(std::string_view user_id, TimeMs newest, Done done) {
  Send({user_id, {}, "erased", {}}, newest, std::move(done));
}

void Changes::Remove(std::string_view user_id, std::span<const std::string_view> items, TimeMs newest,
                     Done done) {
  Send({user_id, items, "removed", {}}, newest, std::move(done));
}

void Changes::Send(OwnEvent event, TimeMs newest, Done done) {
  EventProducer* const producer = producer_.load(std::memory_order_acquire);
  if (!producer) return done(Fail(Code::kUnavailable, "starting: the input topic isn't known yet"));
  const TimeMs now = clock_.WallNow();
  event.at = ChangeTime(now, newest);
  const std::string encoded = EncodeOwnEvent(event);
  if (encoded.size() > event_bytes_max_) {
    return done(Fail(Code::kInvalidArgument, "$.items: " + std::to_string(encoded.size()) +
                                                 " bytes as an event; the limit is " +
                                                 std::to_string(event_bytes_max_) + "; split the request"));
  }
  // An event too far ahead of its record would get the record's time. The brokers have accepted a record of
  // such a time before: that of the newest thing.
  const TimeMs timestamp = std::max(now, TimeMs{event.at.value - ahead_max_.count()});
  producer->Send(
      event.user_id, encoded,
      [done = std::move(done), at = event.at](Result<ChangePlace> place) {
        if (place) place->at = at;
        done(place);
      },
      timestamp);
}

}  // namespace seen
