#include "topics/retention_watch.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/day.h"

namespace seen {

int32_t LongestWindowDays(const Config& config) {
  int32_t longest = 0;
  for (const FilterConfig& filter : config.filters) {
    longest = std::max(longest, filter.window_days);
    for (const KindConfig& kind : filter.kinds) longest = std::max(longest, kind.window_days);
  }
  return longest;
}

bool RetentionWatch::IsDue(Instant now) {
  constexpr std::chrono::seconds kAskedEvery{300};
  if (asked_at_ != Instant{} && now - asked_at_ <= kAskedEvery) return false;
  asked_at_ = now;
  return true;
}

std::string RetentionWatch::Heard(const Result<std::optional<int64_t>>& retention_ms) {
  if (!retention_ms) {
    // If the brokers don't answer, the next check asks again. If they deny the answer, they go on denying it,
    // so one warning is enough.
    if (retention_ms.error().code != Code::kDenied || std::exchange(warned_of_refusal_, true)) return {};
    return fmt::format(
        "the brokers don't report how long topic \"{}\" keeps records: the daemon can't check that this is "
        "as long as the window of {} days. {}",
        topic_, window_days_, retention_ms.error().message);
  }
  retention_ms_ = *retention_ms;
  const int64_t needed_ms = int64_t{window_days_} * kMsPerDay;
  if (!retention_ms_ || *retention_ms_ >= needed_ms) {
    warned_of_ms_.reset();
    return {};
  }
  if (warned_of_ms_ == retention_ms_) return {};
  warned_of_ms_ = retention_ms_;
  return fmt::format(
      "topic \"{}\" keeps records for {:.1f} days (retention.ms = {}), and the longest window of a filter is "
      "{} days: lost state can't be rebuilt in full. Remedy: set the topic's retention.ms to {} or more",
      topic_, static_cast<double>(*retention_ms_) / kMsPerDay, *retention_ms_, window_days_,
      needed_ms + kMsPerDay);
}

}  // namespace seen
