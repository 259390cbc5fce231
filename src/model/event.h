#pragma once
// A decoded front-end event. Views point into its payload or its decoder: valid until either changes.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "model/fingerprint.h"

namespace seen {

inline constexpr size_t kIdBytesMax = 512;  // user and item ids, UTF-8

struct ExposedItem {
  std::string_view item_id;
  Fingerprint fingerprint;
};

/// One user was shown `items` (at least one; exactly one unless the event is a batch) at one time.
struct Event {
  std::string_view user_id;
  TimeMs exposed_at;
  std::span<const ExposedItem> items;
};

/// Why an event goes to the dead-letter topic. A bounded label: see RejectReasonName.
enum class RejectReason : uint8_t {
  kNullValue,  // a record without a value
  kTooLarge,   // over input.event_bytes_max
  kNotJson,    // not a JSON document, or not an object
  kInvalidUtf8,
  kMissingField,
  kWrongType,
  kEmptyId,
  kIdTooLong,    // over kIdBytesMax
  kOutOfRange,   // a time before 1970 or after 2106, an integer id beyond 64 bits
  kTooFarAhead,  // exposed_at further ahead of its record than input.future_skew_s_max
};
inline constexpr size_t kRejectReasons = 10;

/// snake_case, e.g. "missing_field": the `reason` header and metric label.
std::string_view RejectReasonName(RejectReason reason);

struct Rejection {
  RejectReason reason;
  std::string_view field;  // a constant, e.g. "item_id" or "items"; empty where none is to blame
  std::string message;     // for people: "item_id: missing"
};

}  // namespace seen
