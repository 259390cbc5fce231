#pragma once
// The format of a log line. Pure. base/log.h writes the lines.

#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/log.h"

namespace seen::log {

/// Formats one line, without a newline. Any value is allowed. Text stays one line, and its values stay
/// separable: spaces, quotes, control bytes and invalid bytes are quoted and escaped. JSON stays valid:
/// invalid UTF-8 becomes U+FFFD, and a number that JSON can't express becomes null.
std::string FormatLine(TimeMs time, Level level, Format format, std::string_view event, Fields fields);

/// "2026-11-21T10:04:00.123Z"
std::string FormatTime(TimeMs time);

std::string_view LevelName(Level level);

}  // namespace seen::log
