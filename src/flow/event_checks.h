#pragma once
// What is wrong with an event only in the light of its record.

#include <chrono>
#include <optional>
#include <string>

#include "model/event.h"

namespace seen {

inline std::optional<Rejection> TooFarAhead(const Event& event, TimeMs record_timestamp,
                                            std::chrono::milliseconds ahead_max) {
  const int64_t ahead_ms = event.exposed_at.value - record_timestamp.value;
  if (ahead_ms <= ahead_max.count()) [[likely]]
    return std::nullopt;
  return Rejection{RejectReason::kTooFarAhead, "exposed_at",
                   "exposed_at: " + std::to_string(ahead_ms / 1000) + " s ahead of its record, more than " +
                       std::to_string(ahead_max.count() / 1000)};
}

}  // namespace seen
