#pragma once
// Events that this program itself writes into the input topic. They have their own format, whatever the
// topic's format is. So they mean the same to every replica and after every change of configuration.

#include <span>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace seen {

/// The first bytes of such an event. The rest is the default format.
inline constexpr std::string_view kOwnEventStart = R"({"seen_event":1,)";

struct OwnEvent {
  std::string_view user_id;
  std::span<const std::string_view> items;  // empty: an erasure
  std::string_view kind;                    // "removed", "erased", ...
  TimeMs at;
};

/// Whether a record's payload is such an event.
inline bool IsOwnEvent(std::string_view payload) { return payload.starts_with(kOwnEventStart); }

/// Ids are UTF-8. Pure.
std::string EncodeOwnEvent(const OwnEvent& event);

}  // namespace seen
