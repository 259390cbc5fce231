#pragma once
// Checks whether the input topic keeps records for as long as filters remember. If it doesn't, lost state
// can't be rebuilt whole.

#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "config/config.h"

namespace seen {

/// The longest window of all filters and kinds of events.
int32_t LongestWindowDays(const Config& config);

/// One thread.
class RetentionWatch {
 public:
  RetentionWatch(std::string topic, int32_t window_days)
      : topic_(std::move(topic)), window_days_(window_days) {}

  /// Whether it is time to ask again: every five minutes.
  bool IsDue(Instant now);
  /// Takes the topic's retention.ms, as the brokers answered; nullopt: unlimited. Returns a warning that
  /// wasn't given before; empty: there is none.
  std::string Heard(const Result<std::optional<int64_t>>& retention_ms);
  /// The last known value; nullopt: unlimited, or not known.
  std::optional<int64_t> retention_ms() const { return retention_ms_; }

 private:
  const std::string topic_;
  const int32_t window_days_;
  Instant asked_at_{};
  std::optional<int64_t> retention_ms_;
  std::optional<int64_t> warned_of_ms_;
  bool warned_of_refusal_ = false;
};

}  // namespace seen
