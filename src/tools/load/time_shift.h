#pragma once
// Sends old exposures as new ones.

#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"

namespace seen {

/// The greatest `exposed_at` in a file of exposures. Lines that can't be read don't count. kNotFound: the
/// file has no exposure.
Result<TimeMs> LastExposure(const std::string& path);

/// `line`, an exposure as a JSON object, with its `exposed_at` moved by `shift_ms`. All other members stay
/// the same. kMalformed: not an object with an integer `exposed_at`.
Result<std::string> ShiftExposure(std::string_view line, int64_t shift_ms);

}  // namespace seen
