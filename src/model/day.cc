#include "model/day.h"

#include <fmt/format.h>

#include <chrono>

namespace seen {

std::string DayText(Day day) {
  const std::chrono::year_month_day date{std::chrono::sys_days(std::chrono::days(day.since_epoch))};
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                     static_cast<unsigned>(date.day()));
}

std::string TimeText(TimeMs time) {
  const Day day = DayOf(time);
  const int64_t ms = time.value - StartOf(day).value;
  return fmt::format("{}T{:02}:{:02}:{:02}.{:03}Z", DayText(day), ms / 3'600'000, ms / 60'000 % 60,
                     ms / 1000 % 60, ms % 1000);
}

}  // namespace seen
