#pragma once
// The decoder's rules once more, with another JSON library, and not written to be fast.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "decode/event_format.h"

namespace seen {

struct ReadItem {
  std::string id;
  std::optional<int64_t> position;
  std::optional<int64_t> created_at;
  friend bool operator==(const ReadItem&, const ReadItem&) = default;
};

struct ReadEvent {
  std::string user_id;
  int64_t exposed_at = 0;
  std::vector<ReadItem> items;
  EventKind kind = EventKind::kExposed;
  SkipReason skip = SkipReason::kNone;
  FilterBits filters = kAllFilters;
  std::string scene;
  std::string request_id;
  friend bool operator==(const ReadEvent&, const ReadEvent&) = default;
};

/// As text that a person can read.
std::string Shown(const ReadEvent& event);

/// The decoder's event, in the same form.
ReadEvent Copied(const Event& event);

/// nullopt: rejected.
std::optional<ReadEvent> SecondReading(const EventFormat& format, const std::string& payload,
                                       size_t event_bytes_max);

}  // namespace seen
