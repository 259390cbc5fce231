#pragma once
// Times of the command line. model/day.h writes them.

#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "model/day.h"

namespace seen {

/// Parses a point in time of the command line: ms since the epoch, "2026-11-21", "2026-11-21T10:04:00Z", or
/// an age before `now` like "90s", "15m", "2h", "7d". kInvalidArgument names `option` and the allowed forms.
Result<TimeMs> ParseTime(std::string_view option, std::string_view text, TimeMs now);

}  // namespace seen
