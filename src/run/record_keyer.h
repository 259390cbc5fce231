#pragma once
// Chooses the key under which a record goes on to another topic.

#include <chrono>
#include <memory>
#include <string_view>

#include "decode/event_plan.h"
#include "flow/log_port.h"
#include "similar/port/item_decoder.h"

namespace seen {

/// One thread.
class RecordKeyer {
 public:
  virtual ~RecordKeyer() = default;
  struct Key {
    std::string_view key;  // valid until the next call, and no longer than the record
    SkipReason skip = SkipReason::kNone;
  };
  /// The record must have a value. Rejection: the record can't be read.
  virtual tl::expected<Key, Rejection> KeyOf(const Record& record) = 0;
};

/// Keys events by their user.
std::shared_ptr<RecordKeyer> NewEventKeyer(const std::shared_ptr<const EventPlan>& plan,
                                           uint64_t event_bytes_max,
                                           std::chrono::milliseconds future_skew_max);

/// Keys items by their language (LanguageKey).
std::shared_ptr<RecordKeyer> NewItemKeyer(const ItemFormat& format, uint64_t record_bytes_max,
                                          std::chrono::milliseconds future_skew_max);

}  // namespace seen
