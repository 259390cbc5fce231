#include "run/record_keyer.h"

#include <string>

#include "decode/event_decoder.h"
#include "flow/event_checks.h"
#include "similar/port/options.h"

namespace seen {
namespace {

class EventKeyer final : public RecordKeyer {
 public:
  EventKeyer(const std::shared_ptr<const EventPlan>& plan, uint64_t event_bytes_max,
             std::chrono::milliseconds future_skew_max)
      : decoder_(event_bytes_max, plan), future_skew_max_(future_skew_max) {}

  tl::expected<Key, Rejection> KeyOf(const Record& record) override {
    const auto event = decoder_.Decode(record.value);
    if (!event) return tl::unexpected<Rejection>(event.error());
    if (event->skip != SkipReason::kNone) return Key{{}, event->skip};
    if (auto rejection = TooFarAhead(*event, record.timestamp, future_skew_max_)) {
      return tl::unexpected<Rejection>(std::move(*rejection));
    }
    return Key{event->user_id};
  }

 private:
  EventDecoder decoder_;
  const std::chrono::milliseconds future_skew_max_;
};

class ItemKeyer final : public RecordKeyer {
 public:
  ItemKeyer(const ItemFormat& format, uint64_t record_bytes_max, std::chrono::milliseconds future_skew_max)
      : decoder_(format, record_bytes_max), future_skew_max_(future_skew_max) {}

  tl::expected<Key, Rejection> KeyOf(const Record& record) override {
    const auto item = decoder_.Decode(record.value);
    if (!item) return tl::unexpected<Rejection>(item.error());
    if (auto rejection = TooFarAhead(*item, record.timestamp, future_skew_max_)) {
      return tl::unexpected<Rejection>(std::move(*rejection));
    }
    key_ = LanguageKey(item->lang);
    return Key{key_};
  }

 private:
  ItemDecoder decoder_;
  const std::chrono::milliseconds future_skew_max_;
  std::string key_;
};

}  // namespace

std::shared_ptr<RecordKeyer> NewEventKeyer(const std::shared_ptr<const EventPlan>& plan,
                                           uint64_t event_bytes_max,
                                           std::chrono::milliseconds future_skew_max) {
  return std::make_shared<EventKeyer>(plan, event_bytes_max, future_skew_max);
}

std::shared_ptr<RecordKeyer> NewItemKeyer(const ItemFormat& format, uint64_t record_bytes_max,
                                          std::chrono::milliseconds future_skew_max) {
  return std::make_shared<ItemKeyer>(format, record_bytes_max, future_skew_max);
}

}  // namespace seen
