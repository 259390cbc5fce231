#pragma once
// What /v1/status and the gauges of /metrics show of a partition, as plain values.

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "flow/store_port.h"
#include "model/event.h"

namespace seen {

/// Why a partition takes no records at the moment.
enum class HoldReason : uint8_t { kNone, kDiskFull, kDeadLettersFull, kLevel0Files, kTailFull, kSchema };

inline constexpr std::array kHoldReasons = {HoldReason::kDiskFull, HoldReason::kDeadLettersFull,
                                            HoldReason::kLevel0Files, HoldReason::kTailFull,
                                            HoldReason::kSchema};

/// As in labels of metrics: "disk_full".
constexpr std::string_view HoldReasonName(HoldReason reason) {
  constexpr std::string_view kNames[] = {"none",         "disk_full", "dead_letters_full",
                                         "level0_files", "tail_full", "schema"};
  return kNames[static_cast<size_t>(reason)];
}

/// How far the stream had been read when an answer was made; the `Seen-As-Of` header.
struct AsOf {
  TimeMs partition_time;
  std::optional<int64_t> lag_messages;           // nullopt: the log's end isn't known now
  std::optional<std::chrono::milliseconds> age;  // see flow/freshness.h; nullopt: not known
  std::optional<TimeMs> complete_since{};        // see flow/wholeness.h; nullopt: the filter is whole
};

struct CheckpointReport {
  int64_t next_offset = 0;
  uint64_t users = 0;
  uint64_t bytes = 0;
  uint64_t marks_set = 0;
  uint64_t marks_cleared = 0;
  std::chrono::milliseconds duration{0};
  uint64_t journal_rows = 0;
  uint64_t journal_bytes = 0;  // of these rows, before compression
  uint32_t journal_days_dropped = 0;
};

struct MisroutedExample {
  int64_t offset = -1;
  int32_t expected_partition = -1;
  std::string user_id_start;  // at most 16 bytes: enough to recognise, not a dump of ids
};

/// What is republished without an event; see flow/sweep.h and flow/endings.h.
struct RepublishStatus {
  bool sweeping = false;
  bool all_requested = false;        // and not begun yet
  bool awaits_checkpoint = false;    // snapshots wait until the store holds their day
  std::optional<int32_t> swept_day;  // snapshots use the windows of this day or a later one
  uint64_t users_made_due = 0;       // by sweeps, since the start
  uint64_t endings = 0;              // of served items, since the start
};

/// The rounds that fold what is new into snapshots; see flow/refresh.h.
struct RefreshStatus {
  uint64_t rounds = 0, users = 0;  // since the start; users whose marks were found
  bool is_paced = false;           // false: it hurries
  bool is_late = false;            // readers that start now may have to wait for long
  // All that was read so long ago is in snapshots. nullopt: not known.
  std::optional<std::chrono::milliseconds> published_age;
};

/// Items that were served and never shown; see flow/unexposed_flow.h.
struct UnexposedStatus {
  uint64_t published = 0;  // since the start
  uint64_t resolved = 0;   // shown after all
  uint64_t retried = 0;
  uint64_t outstanding = 0;  // to be acknowledged
};

/// The topic of updates; see flow/update_stream.h. Since the start, unless it says otherwise.
struct UpdateFigures {
  uint64_t records = 0, bytes = 0, items = 0;  // that brokers have
  uint64_t gaps = 0;                           // places where additions were dropped
  uint64_t foreign_records = 0;                // of other writers, between this one's
  uint64_t outstanding_bytes = 0;              // now: of additions that no broker has
  int64_t sent_to = -1;                        // brokers have all additions below this offset; -1: none yet
  std::string problem;                         // why they didn't take the last record; empty: they did
};

struct FilterStatus {
  std::string name;
  std::optional<TimeMs> complete_since;  // nullopt: it is whole
};

struct HeavyUser {
  std::string filter;         // its name
  std::string user_id_start;  // as above
  uint64_t items = 0;         // fingerprints kept
};

struct PartitionStatus {
  int32_t partition = 0;
  // "opening", "catching_up", "ready", "held", "unassigned", "refused", "stopped"
  std::string state;
  std::string reason;    // for people; empty when ready
  bool answers = false;  // look-ups of its users are answered
  bool IsRefused() const { return state == "refused" || state == "stopped"; }  // an operator decides
  HoldReason held_by = HoldReason::kNone;  // why its records aren't taken, since held_since
  TimeMs held_since;
  bool assigned = true;  // by the group to this daemon; if not, it may answer, but publishes nothing
  int64_t next_offset = 0;
  int64_t checkpoint_offset = 0;
  int64_t low_watermark = -1;
  int64_t high_watermark = -1;                   // -1: not known yet
  int64_t lag_messages = 0;                      // up to the last known end of the log
  bool lag_is_known = true;                      // that end was confirmed within the last second
  std::optional<std::chrono::milliseconds> age;  // see flow/freshness.h; nullopt: not known
  TimeMs partition_time;
  std::optional<double> retention_headroom_s;  // until unread events are deleted; nullopt: nothing unread
  uint64_t tail_bytes = 0;
  uint64_t marks_outstanding = 0;    // users whose snapshot isn't acknowledged (an upper bound)
  int64_t published_to = -1;         // see PublishFlow::PublishedTo
  std::vector<std::string> replays;  // under way: the runs' names
  uint64_t misrouted = 0;
  MisroutedExample misrouted_last;
  std::vector<LostRange> lost_ranges;
  std::vector<FilterStatus> filters;  // in configuration order
  std::optional<TimeMs> last_checkpoint_at;
  CheckpointReport last_checkpoint;
  StoreFigures store;
  RepublishStatus republish;
  std::optional<UnexposedStatus> unexposed;
  std::optional<UpdateFigures> updates;
  std::optional<RefreshStatus> refresh;  // with updates
  // See flow/heavy_users.h.
  std::vector<HeavyUser> heaviest_users;
  uint64_t users_at_daily_limit = 0;
};

}  // namespace seen
