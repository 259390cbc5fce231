#pragma once
// A configured filter as the flow needs it.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "filter/snapshot_format.h"
#include "flow/filter_choices.h"
#include "flow/store_port.h"
#include "model/day.h"
#include "model/delta.h"
#include "model/delta_seen.h"
#include "model/horizon.h"
#include "model/segment_kind.h"

namespace seen {

/// One bit a filter, by its place in the configuration.
using FilterMask = uint16_t;
inline constexpr FilterMask kEveryFilter = 0xffff;
inline constexpr size_t kFiltersMax = 16;

/// How a filter's snapshots are made, and how often at most. Copies are one: what Change sets, all of them
/// have, so that a reload reaches all who publish. Thread-safe.
class SnapshotPolicy {
 public:
  explicit SnapshotPolicy(SnapshotShape shape = {},
                          std::chrono::milliseconds debounce = std::chrono::milliseconds(1000));

  SnapshotShape shape() const;
  std::chrono::milliseconds debounce() const;
  /// Goes up with each Change, once it is in effect.
  uint32_t version() const;
  void Change(const SnapshotShape& shape, std::chrono::milliseconds debounce);

 private:
  struct State {
    Mutex mutex;
    SnapshotShape shape GUARDED_BY(mutex);
    std::chrono::milliseconds debounce GUARDED_BY(mutex){0};
    std::atomic<uint32_t> version{0};
  };
  std::shared_ptr<State> state_;
};

/// A kind of the configuration's own, with a window of its own.
struct KindPolicy {
  std::string name;
  uint8_t number = kDeclaredKindFirst;  // as the store has it
  int32_t window_days = 30;
};

struct FilterPolicy {
  FilterId id;
  std::string name;
  int32_t window_days = 30;
  uint32_t items_max = 10'000;
  DeltaLimits limits;
  std::optional<SnapshotPolicy> snapshot = std::nullopt;  // nullopt: nothing is published
  WindowBy window_by = WindowBy::kExposedAt;
  uint32_t exposures_min = 1;                           // an item is seen from so many exposures on
  std::optional<int32_t> cooldown_days = std::nullopt;  // and may come back so long after its newest
  std::vector<KindPolicy> kinds = {};
  std::vector<KindPolicy> past_kinds =
      {};  // counted once: they count no more, and stay for their last window
  Similar similar = Similar::kOff;

  /// What counts in an answer made at `now`: a user's last window_days * 24 hours are always inside.
  AnswerLimits AnswerAt(TimeMs now) const;
  /// Of all kinds of events.
  int32_t LongestWindowDays() const;
  /// First day that may count in it.
  Day AnswerHorizon(TimeMs now) const { return DayOf(now) - window_days; }

  /// What must be kept. Kafka's time alone may be far ahead, the wall clock alone may be wrong.
  /// `swept_through`: those who are left with nothing on that day, or earlier, needn't be remembered.
  Horizon ByteHorizon(TimeMs wall, TimeMs partition_time, Day swept_through) const;

  /// Whether an event is beyond the filter's memory; judged by the record's own timestamp, so that a replay
  /// decides the same. `at`: what the window goes by.
  bool IsTooOld(TimeMs at, TimeMs record_timestamp) const {
    return DayOf(at) < DayOf(record_timestamp) - window_days;
  }
  bool ServedIsTooOld(TimeMs at, TimeMs record_timestamp) const {
    return ServedEnd(static_cast<uint32_t>(at.value / 1000)) <= record_timestamp.value / 1000;
  }
  /// The second from which on an item served at `second` doesn't count any more.
  uint32_t ServedEnd(uint32_t second) const {
    const uint32_t width = limits.served_width_s;
    return (second / width + 1 + kServedWidths) * width;
  }

  /// Whether what counts changed with the days between two answers, nothing else having happened. May err
  /// towards true.
  bool WindowsCut(std::string_view encoded_delta, Day before, Day now) const;
  /// Changes whenever the snapshots of the same states become others.
  uint64_t RenderingHash() const;
};

}  // namespace seen
