#pragma once
// What /v1/status and the gauges of /metrics show, as plain values.

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "flow/group_flow.h"
#include "flow/store_port.h"
#include "model/event.h"

namespace seen {

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

/// What is published though no event came; see flow/republisher.h.
struct RepublishStatus {
  bool sweeping = false;
  bool all_requested = false;        // and not begun yet
  std::optional<int32_t> swept_day;  // snapshots are of that day's windows or later
  uint64_t users_made_due = 0;       // by sweeps, since the start
  uint64_t endings = 0;              // of served items, since the start
};

/// Served and never shown; see flow/unexposed_flow.h.
struct UnexposedStatus {
  uint64_t published = 0;  // since the start
  uint64_t resolved = 0;   // shown after all
  uint64_t retried = 0;
  uint64_t outstanding = 0;  // to be acknowledged
};

struct HeavyUser {
  std::string filter;         // its name
  std::string user_id_start;  // as above
  uint64_t items = 0;         // fingerprints kept
};

struct PartitionStatus {
  int32_t partition = 0;
  std::string state;   // "opening", "catching_up", "ready", "held", "stopped"
  std::string reason;  // for people; empty when ready
  int64_t next_offset = 0;
  int64_t checkpoint_offset = 0;
  int64_t low_watermark = -1;
  int64_t high_watermark = -1;  // -1: not known yet
  int64_t lag_messages = 0;
  TimeMs partition_time;
  std::optional<double> retention_headroom_s;  // until unread events vanish; nullopt: nothing unread
  uint64_t tail_bytes = 0;
  uint64_t marks_outstanding = 0;  // users whose snapshot isn't acknowledged (an upper bound)
  uint64_t misrouted = 0;
  MisroutedExample misrouted_last;
  std::vector<LostRange> lost_ranges;
  std::optional<TimeMs> last_checkpoint_at;
  CheckpointReport last_checkpoint;
  StoreFigures store;
  RepublishStatus republish;
  std::optional<UnexposedStatus> unexposed;
  // See flow/heavy_users.h.
  std::vector<HeavyUser> heaviest_users;
  uint64_t users_at_daily_limit = 0;
};

/// One partition of the source topic, input.keyed_by_user being false.
struct RekeyingPartitionStatus {
  int32_t partition = 0;
  bool assigned = false;          // to this daemon
  int64_t committed_offset = -1;  // the group's; -1: none yet
  int64_t high_watermark = -1;
  int64_t lag_messages = 0;    // not acknowledged by the keyed topic yet
  uint64_t lost_messages = 0;  // deleted by retention before they were read, since the start
};

struct RekeyingStatus {
  std::string source_topic;
  std::string group_id;
  bool caught_up = false;
  std::string problem;  // for people: why it isn't; empty if it is
  int64_t lag_messages = 0;
  std::vector<RekeyingPartitionStatus> partitions;  // all of the source topic
};

/// The daemon's copy of the topic of groups.
struct ItemGroupsStatus {
  std::string topic;         // empty: not found yet
  std::string problem;       // for people: why it isn't read; empty if it is
  int64_t lag_messages = 0;  // not read yet
  uint64_t records = 0;      // read since the start
  uint64_t unreadable = 0;   // of those, left out
  uint64_t rows = 0;         // in the copy, about
  uint64_t bytes = 0;        // on disk
  uint64_t cache_bytes = 0;  // in memory
  uint64_t disk_reads = 0;   // of what the cache hadn't, since the start
  uint64_t errors = 0;       // look-ups that the disk failed
};

/// One partition of the ordered topic of items that this daemon owns.
struct ItemsPartitionStatus {
  int32_t partition = 0;
  std::string state;   // "catching_up", "ready", "held", "stopped"
  std::string reason;  // for people; empty when ready
  int64_t next_offset = 0;
  int64_t checkpoint_offset = 0;
  int64_t high_watermark = -1;  // -1: not known yet
  int64_t lag_messages = 0;
  uint64_t lost_messages = 0;  // deleted by retention before they were read, since the start
  GroupFigures figures;        // since the partition was opened
  uint64_t cut_texts = 0;      // longer than items.text_bytes_max; these, too, since the partition was opened
  uint64_t groups_sent = 0;
  std::array<uint64_t, kRejectReasons> rejected{};
  uint64_t checkpoints = 0;
  double checkpoint_seconds = 0;  // in all
};

/// The stream of items, on the way to their groups.
struct ItemsStatus {
  std::string topic;          // as producers write it
  std::string ordered_topic;  // as it is read: the same if that has one partition; empty: not known yet
  std::string group_id;
  std::string problem;  // for people: why it isn't read, or not all of it yet; empty if it is
  std::vector<ItemsPartitionStatus> partitions;
  std::optional<RekeyingStatus> rekeying;  // nullopt: the topic has one partition
  std::array<uint64_t, kRejectReasons> rekeying_rejected{};
};

struct DaemonStatus {
  std::string version;
  std::string librdkafka_version;
  std::string rocksdb_version;
  uint32_t store_version = 0;  // of the format this program writes
  std::string brokers;         // as connected to; the embedded broker's address with --embedded-kafka
  bool embedded_kafka = false;
  bool brokers_reachable = false;
  std::string instance_id;
  std::string topic;
  int32_t partitions_total = 0;  // of the input topic; 0: not known yet
  TimeMs started_at;
  bool ready = false;
  std::string not_ready_reason;  // empty when ready
  std::vector<PartitionStatus> partitions;
  std::optional<RekeyingStatus> rekeying;       // nullopt: the input is keyed by user
  std::optional<ItemsStatus> items;             // nullopt: nothing is grouped
  std::optional<ItemGroupsStatus> item_groups;  // likewise
};

}  // namespace seen
