#pragma once
// A configured filter as the flow needs it.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.h"
#include "flow/store_port.h"
#include "model/day.h"
#include "model/delta.h"
#include "model/horizon.h"

namespace seen {

/// One bit a filter, by its place in the configuration.
using FilterMask = uint16_t;
inline constexpr size_t kFiltersMax = 16;

struct SnapshotPolicy {
  double false_positive_rate = 0.01;
  std::chrono::milliseconds debounce{1000};
};

struct FilterPolicy {
  FilterId id = 0;
  std::string name;
  int32_t window_days = 30;
  uint32_t items_max = 10'000;
  DeltaLimits limits;
  std::optional<SnapshotPolicy> snapshot;  // nullopt: nothing is published

  /// First day that counts in an answer made at `now`: a user's last window_days * 24 hours are always
  /// inside.
  Day AnswerHorizon(TimeMs now) const { return DayOf(now) - window_days; }

  /// Which bytes must be kept. Kafka's time alone may be far ahead, the wall clock alone may be
  /// wrong.
  Horizon ByteHorizon(TimeMs wall, TimeMs partition_time) const {
    return Horizon::Of(DayOf(std::min(wall, partition_time)) - window_days - 1);
  }

  /// Judged by the record's own timestamp, so that a replay decides the same.
  bool IsTooOld(TimeMs exposed_at, TimeMs record_timestamp) const {
    return DayOf(exposed_at) < DayOf(record_timestamp) - window_days;
  }
};

}  // namespace seen
