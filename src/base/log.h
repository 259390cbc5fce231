#pragma once
// Structured log lines. `event` is a constant phrase. Everything that varies goes into fields:
//   log::Info("partition opened", {{"partition", 3}, {"offset", offset}});
// Text: `2026-11-21T10:04:00.123Z info partition opened partition=3 offset=17`; JSON with Format::kJson.
// Thread-safe. Not for the hot path: a caller that may repeat itself limits its own rate (base/log_budget.h).

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "base/clock.h"

namespace seen::log {

enum class Level { kDebug, kInfo, kWarning, kError, kAudit };  // kAudit: written at any minimum
enum class Format { kText, kJson };

struct Field {
  using Value = std::variant<int64_t, uint64_t, double, bool, std::string_view>;
  std::string_view name;
  Value value;

  Field(std::string_view n, int v) : name(n), value(static_cast<int64_t>(v)) {}
  Field(std::string_view n, unsigned v) : name(n), value(static_cast<uint64_t>(v)) {}
  Field(std::string_view n, long v) : name(n), value(static_cast<int64_t>(v)) {}
  Field(std::string_view n, long long v) : name(n), value(static_cast<int64_t>(v)) {}
  Field(std::string_view n, unsigned long v) : name(n), value(static_cast<uint64_t>(v)) {}
  Field(std::string_view n, unsigned long long v) : name(n), value(static_cast<uint64_t>(v)) {}
  Field(std::string_view n, double v) : name(n), value(v) {}
  Field(std::string_view n, bool v) : name(n), value(v) {}
  Field(std::string_view n, const char* v) : name(n), value(std::string_view(v)) {}
  Field(std::string_view n, std::string_view v) : name(n), value(v) {}
  Field(std::string_view n, const std::string& v) : name(n), value(std::string_view(v)) {}
};
using Fields = std::initializer_list<Field>;

/// Lines go to standard error. May be called again at any time, from any thread.
void Configure(Level minimum, Format format);
void Write(Level level, std::string_view event, Fields fields);

inline void Debug(std::string_view event, Fields fields = {}) { Write(Level::kDebug, event, fields); }
inline void Info(std::string_view event, Fields fields = {}) { Write(Level::kInfo, event, fields); }
inline void Warning(std::string_view event, Fields fields = {}) { Write(Level::kWarning, event, fields); }
inline void Error(std::string_view event, Fields fields = {}) { Write(Level::kError, event, fields); }
/// Records who did what, for operators who must be able to prove it.
inline void Audit(std::string_view event, Fields fields = {}) { Write(Level::kAudit, event, fields); }

// The format of a log line. Pure. base/log.h writes the lines.

/// Formats one line, without a newline. Any value is allowed. Text stays one line, and its values stay
/// separable: spaces, quotes, control bytes and invalid bytes are quoted and escaped. JSON stays valid:
/// invalid UTF-8 becomes U+FFFD, and a number that JSON can't express becomes null.
std::string FormatLine(TimeMs time, Level level, Format format, std::string_view event, Fields fields);

std::string_view LevelName(Level level);

}  // namespace seen::log
