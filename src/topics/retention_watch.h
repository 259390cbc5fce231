#pragma once
// Whether the input topic keeps records for as long as filters remember. If it doesn't, state that is lost
// can't be built again whole.

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "config/config.h"

namespace seen {

/// Of all filters and kinds of events.
int32_t LongestWindowDays(const Config& config);

/// One thread.
class RetentionWatch {
 public:
  RetentionWatch(std::string topic, int32_t window_days)
      : topic_(std::move(topic)), window_days_(window_days) {}

  /// The topic's retention.ms, as the brokers said; nullopt: unlimited. Returns what to warn of, if it wasn't
  /// warned of before; empty: nothing.
  std::string Heard(const Result<std::optional<int64_t>>& retention_ms);
  /// As heard last; nullopt: unlimited, or not known.
  std::optional<int64_t> retention_ms() const { return retention_ms_; }

 private:
  const std::string topic_;
  const int32_t window_days_;
  std::optional<int64_t> retention_ms_;
  std::optional<int64_t> warned_of_ms_;
  bool warned_of_refusal_ = false;
};

}  // namespace seen
