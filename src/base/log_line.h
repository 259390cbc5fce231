#pragma once
// What a log line looks like. Pure; base/log.h writes what this formats.

#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/log.h"

namespace seen::log {

/// One line, without its newline. Whatever the values hold, text stays one line with its values told apart
/// (spaces, quotes, control and invalid bytes are quoted and escaped) and JSON stays valid (invalid UTF-8
/// becomes U+FFFD, a number JSON has no word for becomes null).
std::string FormatLine(TimeMs time, Level level, Format format, std::string_view event, Fields fields);

/// "2026-11-21T10:04:00.123Z"
std::string FormatTime(TimeMs time);

std::string_view LevelName(Level level);

}  // namespace seen::log
