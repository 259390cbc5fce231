#pragma once
// Finds the events of a record that holds several: an array of them, or one a line (NDJSON), or one behind
// another.

#include <string_view>
#include <vector>

#include "model/event.h"

namespace seen {

/// Whether a record that was rejected as one event may hold several.
inline bool MayHoldSeveral(const Rejection& rejection) {
  return rejection.reason == RejectReason::kNotJson || rejection.reason == RejectReason::kInvalidUtf8;
}

/// The events that `value` holds, as views of it. Each is for the decoder, which says what is wrong with it:
/// only brackets and quotes are looked at here. False: it doesn't hold several, and `events` is empty. An
/// array counts if an element is an object, also if it is the only one; lines count if at least one of them
/// is an object. Leaves out the bytes of a schema registry. Pure, O(n).
bool SplitEvents(std::string_view value, std::vector<std::string_view>& events);

}  // namespace seen
