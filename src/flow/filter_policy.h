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
#include "flow/store_port.h"
#include "model/day.h"
#include "model/delta.h"
#include "model/delta_seen.h"
#include "model/horizon.h"
#include "model/segment_kind.h"
#include "similar/port/options.h"

namespace seen {

enum class WindowBy : uint8_t {
  kExposedAt,
  kItemCreatedAt,  // recall takes only young items, so old ones may be forgotten
};

/// One bit per filter, by its place in the configuration.
using FilterMask = uint16_t;
inline constexpr FilterMask kEveryFilter = 0xffff;
inline constexpr size_t kFiltersMax = 16;

/// How a filter's snapshots are rendered, and how often at most. All copies share one state. So what Change
/// sets applies to all of them, and a reload reaches everything that publishes. Thread-safe.
class SnapshotPolicy {
 public:
  explicit SnapshotPolicy(SnapshotShape shape = {},
                          std::chrono::milliseconds debounce = std::chrono::milliseconds(1000));

  SnapshotShape shape() const;
  std::chrono::milliseconds debounce() const;
  /// Increases with each Change, once the change is in effect.
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

/// A declared kind, with a window of its own.
struct KindPolicy {
  std::string name;
  uint8_t number = kDeclaredKindFirst;  // the store's number
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
  uint32_t exposures_min = 1;                           // an item counts as seen from this many exposures on
  std::optional<int32_t> cooldown_days = std::nullopt;  // days from an item's newest exposure to its return
  std::vector<KindPolicy> kinds = {};
  std::vector<KindPolicy> past_kinds = {};  // they no longer count, but stay for their last window
  Similar similar = Similar::kOff;
  bool updates = false;    // what is new is also published at once: schemas/update.md. Only with `snapshot`
  std::string topic = {};  // of the snapshots; empty: nothing is published

  /// What counts in an answer made at `now`. A user's last window_days * 24 hours always count.
  AnswerLimits AnswerAt(TimeMs now) const;
  /// The longest window of all kinds of events.
  int32_t LongestWindowDays() const;
  /// First day that may count in an answer made at `now`.
  Day AnswerHorizon(TimeMs now) const { return DayOf(now) - window_days; }

  /// What the store must keep. Uses the lesser of both times: Kafka's time may be far ahead, and the wall
  /// clock may be wrong. `swept_through`: users who were left with nothing on that day, or earlier, may be
  /// forgotten.
  Horizon ByteHorizon(TimeMs wall, TimeMs partition_time, Day swept_through) const;

  /// Whether an event is too old for the filter. Compares with the record's own timestamp, so that a replay
  /// decides the same. `at`: the time that the window uses.
  bool IsTooOld(TimeMs at, TimeMs record_timestamp) const {
    return DayOf(at) < DayOf(record_timestamp) - window_days;
  }
  bool ServedIsTooOld(TimeMs at, TimeMs record_timestamp) const {
    return ServedEnd(static_cast<uint32_t>(at.value / 1000)) <= record_timestamp.value / 1000;
  }
  /// From this second on, an item served at `second` no longer counts.
  uint32_t ServedEnd(uint32_t second) const {
    const uint32_t width = limits.served_width_s;
    return (second / width + 1 + kServedWidths) * width;
  }

  /// Whether the passing of days alone changed what counts, between an answer on day `before` and one on day
  /// `now`. May wrongly be true.
  bool WindowsCut(std::string_view encoded_delta, Day before, Day now) const;
  /// Changes whenever the same states would give other snapshots.
  uint64_t RenderingHash() const;
};

/// Whether the group fingerprints of what was shown are asked. They aren't asked if an item may be shown
/// again while they count. That item's own first exposure left its group's fingerprint there, so the item
/// would be similar to itself.
bool AsksGroupsShown(const FilterPolicy& policy);

}  // namespace seen
