#include "base/log.h"

#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <atomic>
#include <memory>

#include "base/log_line.h"

namespace seen::log {
namespace {

std::atomic<Level> minimum_level{Level::kInfo};
std::atomic<Format> line_format{Format::kText};

spdlog::level::level_enum SpdlogLevel(Level level) {
  switch (level) {
    case Level::kDebug:
      return spdlog::level::debug;
    case Level::kInfo:
      return spdlog::level::info;
    case Level::kWarning:
      return spdlog::level::warn;
    case Level::kError:
      return spdlog::level::err;
    case Level::kAudit:
      return spdlog::level::info;
  }
  return spdlog::level::info;
}

/// Never destroyed: a thread that outlives main's objects may still write. The sink flushes each line.
spdlog::logger& Logger() {
  static spdlog::logger* const logger = [] {
    auto made = std::make_unique<spdlog::logger>("seen", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_formatter(
        std::make_unique<spdlog::pattern_formatter>("%v", spdlog::pattern_time_type::utc, "\n"));
    made->set_level(spdlog::level::trace);
    return made.release();
  }();
  return *logger;
}

}  // namespace

void Configure(Level minimum, Format format) {
  minimum_level.store(minimum, std::memory_order_relaxed);
  line_format.store(format, std::memory_order_relaxed);
  Logger();
}

void Write(Level level, std::string_view event, Fields fields) {
  if (level < minimum_level.load(std::memory_order_relaxed)) return;
  const std::string line =
      FormatLine(SystemClock{}.WallNow(), level, line_format.load(std::memory_order_relaxed), event, fields);
  Logger().log(SpdlogLevel(level), spdlog::string_view_t(line.data(), line.size()));
}

}  // namespace seen::log
