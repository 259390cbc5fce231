#pragma once
// A decoded front-end event. Its views point into its payload or its decoder, and are valid until either
// changes.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "model/hashes.h"
#include "model/segment_kind.h"

namespace seen {

inline constexpr size_t kIdBytesMax = 512;  // user and item ids, UTF-8

struct ExposedItem {
  std::string_view item_id;
  Fingerprint fingerprint;
};

/// Details that an event may have for one of its items.
struct ItemDetails {
  std::optional<int64_t> position;
  std::optional<TimeMs> created_at;
  std::optional<TimeMs> exposed_at = std::nullopt;  // the item's own

  /// Fills in missing fields from `other`.
  void Complete(const ItemDetails& other) {
    if (!position) position = other.position;
    if (!created_at) created_at = other.created_at;
  }
};

/// What happened. Numbers from kDeclaredKindFirst on are kinds that the configuration declares.
enum class EventKind : uint8_t {
  kExposed,
  kServed,
  kRemoved,
  kErased,  // the user was erased; no items
};

/// One bit per filter, by its place in the configuration.
using FilterBits = uint64_t;
inline constexpr FilterBits kAllFilters = ~FilterBits{0};

enum class SkipReason : uint8_t {
  kNone,
  kCondition,   // input.only_if doesn't hold
  kKind,        // input.kinds maps its kind to null
  kNoFilter,    // no filter covers it; the decoder leaves this to its caller
  kReplayMark,  // no event: a replay begins or ends. Also left to the caller
  kIgnoredId,   // its user is one of input.ids_ignored
  kNoItem,      // input.items_only_if left none of its items
  kNoId,        // none of its items has an id: input.items_skip_invalid
};
inline constexpr size_t kSkipReasons = 8;

/// snake_case, e.g. "condition": a metric's label.
constexpr std::string_view SkipReasonName(SkipReason reason) {
  constexpr std::string_view kNames[kSkipReasons] = {"none",        "condition",  "kind",    "no_filter",
                                                     "replay_mark", "ignored_id", "no_item", "no_id"};
  return kNames[static_cast<size_t>(reason)];
}

/// Items of a batch that don't count: input.items_skip_invalid, input.items_only_if.
struct SkippedItems {
  uint32_t without_id = 0;
  uint32_t by_condition = 0;
};

/// One user was shown `items` at one time. There is at least one item, and exactly one unless the event is a
/// batch. If the decoder was asked for kinds, the event may also be of another kind.
struct Event {
  std::string_view user_id;
  TimeMs exposed_at;  // when it happened, whatever the kind
  std::span<const ExposedItem> items;

  // Set only if the decoder was asked for them (EventFormat). Else they have these defaults.
  EventKind kind = EventKind::kExposed;
  SkipReason skip = SkipReason::kNone;   // if set, no other field was read, and nothing is to be done
  FilterBits filters = kAllFilters;      // the filters that cover it
  std::string_view scene;                // empty: none
  std::string_view request_id;           // empty: none
  std::span<const ItemDetails> details;  // one per item
  SkippedItems skipped_items = {};       // also if `skip` is set
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
  kIdTooLong,      // over kIdBytesMax
  kOutOfRange,     // a time before 1970 or after 2106, an integer id beyond 64 bits
  kTooFarAhead,    // exposed_at further ahead of its record than input.future_skew_s_max
  kUnknownKind,    // neither built in nor declared nor mapped by input.kinds
  kNotDecodable,   // not a whole value of the schema that it was written with
  kUnknownSchema,  // the schema registry doesn't know its schema, or has no schema that can be used
  // Not a rejection: nothing is known about the record's schema yet, so the record is given again.
  kSchemaPending,
};
inline constexpr size_t kRejectReasons = static_cast<size_t>(RejectReason::kSchemaPending);

/// snake_case, e.g. "missing_field": the `reason` header and metric label.
constexpr std::string_view RejectReasonName(RejectReason reason) {
  constexpr std::string_view kNames[kRejectReasons + 1] = {
      "null_value",   "too_large",     "not_json",       "invalid_utf8",  "missing_field",
      "wrong_type",   "empty_id",      "id_too_long",    "out_of_range",  "too_far_ahead",
      "unknown_kind", "not_decodable", "unknown_schema", "schema_pending"};
  return kNames[static_cast<size_t>(reason)];
}

struct Rejection {
  RejectReason reason;
  std::string_view field;  // a constant, e.g. "item_id" or "items"; empty if no single field is wrong
  std::string message;     // for people: "item_id: missing"
};

}  // namespace seen
