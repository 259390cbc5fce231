#include "base/log.h"

#include <fmt/format.h>
#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <atomic>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <memory>

#include "base/text.h"

namespace seen::log {
namespace {

std::atomic<Level> minimum_level{Level::kInfo};
std::atomic<Format> line_format{Format::kText};

// By Level.
constexpr std::string_view kLevelNames[] = {"debug", "info", "warning", "error", "audit"};
constexpr spdlog::level::level_enum kSpdlogLevels[] = {
    spdlog::level::debug, spdlog::level::info, spdlog::level::warn, spdlog::level::err, spdlog::level::info};

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
  Logger().log(kSpdlogLevels[static_cast<size_t>(level)], spdlog::string_view_t(line.data(), line.size()));
}

namespace {

/// Appends `text` between quotes. The two formats differ only in the escapes of control bytes and invalid
/// bytes.
void AppendQuoted(std::string& out, std::string_view text, Format format) {
  out += '"';
  while (!text.empty()) {
    const size_t length = Utf8Length(text);
    const auto byte = static_cast<unsigned char>(text.front());
    if (length == 0) {
      format == Format::kJson ? out += "\\ufffd" : out += fmt::format("\\x{:02x}", byte);
    } else if (byte == '"' || byte == '\\') {
      (out += '\\') += text.front();
    } else if (byte == '\n') {
      out += "\\n";
    } else if (byte == '\r') {
      out += "\\r";
    } else if (byte == '\t') {
      out += "\\t";
    } else if (byte < 0x20 || byte == 0x7F) {
      out += fmt::format(fmt::runtime(format == Format::kJson ? "\\u{:04x}" : "\\x{:02x}"), byte);
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  out += '"';
}

bool NeedsQuotes(std::string_view text) {
  if (text.empty()) return true;
  while (!text.empty()) {
    const auto byte = static_cast<unsigned char>(text.front());
    const size_t length = Utf8Length(text);
    if (length == 0 || byte <= 0x20 || byte == 0x7F || byte == '"' || byte == '=' || byte == '\\')
      return true;
    text.remove_prefix(length);
  }
  return false;
}

void AppendValue(std::string& out, const Field::Value& value, Format format) {
  struct Visitor {
    std::string& out;
    Format format;
    void operator()(int64_t v) const { fmt::format_to(std::back_inserter(out), "{}", v); }
    void operator()(uint64_t v) const { fmt::format_to(std::back_inserter(out), "{}", v); }
    void operator()(bool v) const { out += v ? "true" : "false"; }
    void operator()(double v) const {
      if (format == Format::kJson && !std::isfinite(v)) {
        out += "null";
      } else {
        fmt::format_to(std::back_inserter(out), "{}", v);
      }
    }
    void operator()(std::string_view v) const {
      if (format == Format::kJson || NeedsQuotes(v)) {
        AppendQuoted(out, v, format);
      } else {
        out += v;
      }
    }
  };
  std::visit(Visitor{out, format}, value);
}

}  // namespace

std::string_view LevelName(Level level) { return kLevelNames[static_cast<size_t>(level)]; }

std::string FormatLine(TimeMs time, Level level, Format format, std::string_view event, Fields fields) {
  std::string line;
  line.reserve(160);
  if (format == Format::kText) {
    line = fmt::format("{} {} {}", TimeText(time), LevelName(level), event);
    for (const Field& field : fields) {
      ((line += ' ') += field.name) += '=';
      AppendValue(line, field.value, format);
    }
    return line;
  }
  line = fmt::format(R"({{"time":"{}","level":"{}","event":)", TimeText(time), LevelName(level));
  AppendQuoted(line, event, format);
  for (const Field& field : fields) {
    line += ',';
    AppendQuoted(line, field.name, format);
    line += ':';
    AppendValue(line, field.value, format);
  }
  line += '}';
  return line;
}

}  // namespace seen::log
