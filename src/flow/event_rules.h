#pragma once
// Which filters an event concerns, and what it does to their users' seen sets. Pure, so a replay decides the
// same.

#include <chrono>
#include <optional>
#include <string>

#include "flow/partition_options.h"
#include "model/change.h"
#include "model/event.h"
#include "similar/port/item_decoder.h"

namespace seen {

class EventRules {
 public:
  /// Both outlive this.
  EventRules(const PartitionOptions& options, const FilterMasks& filters)
      : options_(options), filters_(filters) {}

  /// What an event of the kind does to a seen set.
  ChangeKind ChangeOf(EventKind kind) const;
  /// The filters among `covering` in which the event changes something.
  FilterMask FiltersOf(const Event& event, FilterMask covering, TimeMs record_timestamp) const;

 private:
  bool Concerns(const FilterPolicy& filter, const Event& event, TimeMs record_timestamp) const;

  const PartitionOptions& options_;
  const FilterMasks& filters_;
};

// Checks of an event or an item against its record.

/// No clock is wrong by more. So daemons whose clocks differ judge a record alike.
constexpr int64_t kClockErrorMax = 180 * kMsPerDay;

/// Whether a record says when it was written: it has a timestamp, and not one that the clock refutes.
inline bool HasTime(TimeMs record_timestamp, TimeMs now) {
  return record_timestamp.value >= 0 && record_timestamp.value <= now.value + kClockErrorMax;
}

constexpr TimeMs kBegin1971{365 * kMsPerDay};

/// When a record was written that doesn't say so: at its event's time. A time of 1970 is a wrong unit, so the
/// event is judged by the clock, and is too old.
inline TimeMs WrittenAt(TimeMs exposed_at, TimeMs now) { return exposed_at < kBegin1971 ? now : exposed_at; }

/// `field`: a string constant. A record without a timestamp has the clock's time.
inline std::optional<Rejection> TooFarAhead(std::string_view field, TimeMs time, TimeMs record_timestamp,
                                            std::chrono::milliseconds ahead_max) {
  if (record_timestamp.value < 0) [[unlikely]]
    record_timestamp = SystemClock().WallNow();
  const int64_t ahead_ms = time.value - record_timestamp.value;
  if (ahead_ms <= ahead_max.count()) [[likely]]
    return std::nullopt;
  return Rejection{RejectReason::kTooFarAhead, field,
                   std::string(field) + ": " + std::to_string(ahead_ms / 1000) +
                       " s ahead of its record, more than " + std::to_string(ahead_max.count() / 1000)};
}

inline std::optional<Rejection> TooFarAhead(const Event& event, TimeMs record_timestamp,
                                            std::chrono::milliseconds ahead_max) {
  for (const ItemDetails& details : event.details) {
    if (!details.exposed_at) continue;
    if (auto rejection = TooFarAhead("items_exposed_at", *details.exposed_at, record_timestamp, ahead_max))
      return rejection;
  }
  return TooFarAhead("exposed_at", event.exposed_at, record_timestamp, ahead_max);
}

inline std::optional<Rejection> TooFarAhead(const ItemEvent& item, TimeMs record_timestamp,
                                            std::chrono::milliseconds ahead_max) {
  if (!item.created_at) return std::nullopt;
  return TooFarAhead("created_at", *item.created_at, record_timestamp, ahead_max);
}

}  // namespace seen
