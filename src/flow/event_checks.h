#pragma once
// Checks of an event or an item against its record.

#include <chrono>
#include <optional>
#include <string>

#include "model/event.h"
#include "similar/port/item_decoder.h"

namespace seen {

/// `field`: a string constant.
inline std::optional<Rejection> TooFarAhead(std::string_view field, TimeMs time, TimeMs record_timestamp,
                                            std::chrono::milliseconds ahead_max) {
  const int64_t ahead_ms = time.value - record_timestamp.value;
  if (ahead_ms <= ahead_max.count()) [[likely]]
    return std::nullopt;
  return Rejection{RejectReason::kTooFarAhead, field,
                   std::string(field) + ": " + std::to_string(ahead_ms / 1000) +
                       " s ahead of its record, more than " + std::to_string(ahead_max.count() / 1000)};
}

inline std::optional<Rejection> TooFarAhead(const Event& event, TimeMs record_timestamp,
                                            std::chrono::milliseconds ahead_max) {
  return TooFarAhead("exposed_at", event.exposed_at, record_timestamp, ahead_max);
}

inline std::optional<Rejection> TooFarAhead(const ItemEvent& item, TimeMs record_timestamp,
                                            std::chrono::milliseconds ahead_max) {
  if (!item.created_at) return std::nullopt;
  return TooFarAhead("created_at", *item.created_at, record_timestamp, ahead_max);
}

}  // namespace seen
