#pragma once
// Old exposures sent as if they were new.

#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"

namespace seen {

/// Greatest `exposed_at` of a file of exposures; lines that can't be read don't count. kNotFound: there is
/// none.
Result<TimeMs> LastExposure(const std::string& path);

/// `line`, an exposure as a JSON object, with its `exposed_at` moved by `shift_ms`, everything else as it is.
/// kMalformed: not an object with an integer `exposed_at`.
Result<std::string> ShiftExposure(std::string_view line, int64_t shift_ms);

}  // namespace seen
