#include "tools/ask/calendar.h"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <optional>

namespace seen {
namespace {

std::optional<int64_t> ParseInteger(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// "2026-11-21", optionally followed by "T10:04:00" and "Z".
std::optional<TimeMs> ParseDate(std::string_view text) {
  if (text.ends_with('Z')) text.remove_suffix(1);
  if ((text.size() != 10 && text.size() != 19) || text[4] != '-' || text[7] != '-') return std::nullopt;
  const auto year = ParseInteger(text.substr(0, 4));
  const auto month = ParseInteger(text.substr(5, 2));
  const auto day = ParseInteger(text.substr(8, 2));
  if (!year || !month || !day) return std::nullopt;
  const std::chrono::year_month_day date(std::chrono::year(static_cast<int>(*year)),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day)));
  if (!date.ok()) return std::nullopt;
  int64_t seconds = std::chrono::sys_days(date).time_since_epoch().count() * kSecondsPerDay;
  if (text.size() == 19) {
    if (text[10] != 'T' || text[13] != ':' || text[16] != ':') return std::nullopt;
    const auto hour = ParseInteger(text.substr(11, 2));
    const auto minute = ParseInteger(text.substr(14, 2));
    const auto second = ParseInteger(text.substr(17, 2));
    if (!hour || !minute || !second || *hour > 23 || *minute > 59 || *second > 59) return std::nullopt;
    seconds += *hour * 3600 + *minute * 60 + *second;
  }
  return TimeMs{seconds * 1000};
}

}  // namespace

Result<TimeMs> ParseTime(std::string_view option, std::string_view text, TimeMs now) {
  if (const auto ms = ParseInteger(text); ms && *ms >= 0) return TimeMs{*ms};
  if (const auto date = ParseDate(text)) return *date;
  if (!text.empty()) {
    const auto amount = ParseInteger(text.substr(0, text.size() - 1));
    const std::string_view units = "smhd";
    constexpr int64_t kMs[] = {1000, 60'000, 3'600'000, kMsPerDay};
    const size_t unit = units.find(text.back());
    if (amount && *amount >= 0 && *amount < 100'000 && unit != std::string_view::npos)
      return TimeMs{now.value - *amount * kMs[unit]};
  }
  return Fail(
      Code::kInvalidArgument,
      fmt::format(
          "{}: {}: expected ms since the epoch, a date like 2026-11-21 or 2026-11-21T10:04:00Z (UTC), "
          "or an age like 15m, 2h, 7d",
          option, text));
}

}  // namespace seen
