#pragma once
// What /v1/status and the gauges of /metrics show, as plain values.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "consume/fill_queue.h"
#include "consume/stream_status.h"
#include "flow/loss_watch.h"
#include "flow/partition_status.h"
#include "state_stream/figures.h"

namespace seen {

struct FillFigures {
  std::vector<FillStatus> fills;  // since the start, the last one of each filter
  uint64_t records = 0;           // read since the start
  uint64_t users = 0;             // written since the start
};

/// A part of store.memory_mib.
struct MemoryShare {
  std::string name;
  uint64_t budget_bytes = 0;
  std::optional<uint64_t> used_bytes;  // nullopt: not measured
};

/// The file system that store.directory is on.
struct DiskSpace {
  uint64_t bytes = 0;
  uint64_t free_bytes = 0;  // for this process
};

/// Of certificates and tokens.
struct AccessFigures {
  TimeMs certificate_not_after{0};  // 0: there is no certificate
  uint64_t reloads = 0;
  uint64_t reloads_failed = 0;
  std::string problem;  // of the last reload; empty: it succeeded
};

/// Requests that were passed on.
struct ForwardFigures {
  uint64_t answered = 0;  // by the other daemon, whatever it said
  uint64_t failed = 0;    // no answer, or none in time
  uint64_t refused = 0;   // too many under way
};

struct DaemonStatus {
  std::string version;
  std::string librdkafka_version;
  std::string rocksdb_version;
  uint32_t store_version = 0;  // of the format this program writes
  std::string brokers;         // as connected to; the embedded broker's address with --embedded-kafka
  bool embedded_kafka = false;
  bool brokers_reachable = false;
  uint64_t log_checks =
      0;  // last records of the input that were read again and were the same, since the start
  std::string instance_id;
  bool is_replica = false;  // another group owns the outputs
  std::string owner_group;  // the group that owns the outputs
  std::string topic;
  int32_t partitions_total = 0;               // of the input topic; 0: not known yet
  std::optional<int64_t> input_retention_ms;  // of the input topic; nullopt: unlimited, or not known
  int32_t window_days_max = 0;                // the longest window of a filter
  TimeMs started_at;
  bool ready = false;
  std::string not_ready_reason;           // empty when ready
  std::vector<std::string> troubles;      // for people: what doesn't work, ready or not; see JudgeReadiness
  std::vector<std::string> missing_acls;  // a sentence each, with the remedy
  std::vector<PartitionStatus> partitions;
  UnreadPartitions unread;                      // of the input topic
  std::optional<RekeyingStatus> rekeying;       // nullopt: the input is keyed by user
  std::optional<ItemsStatus> items;             // nullopt: nothing is grouped
  std::optional<ItemGroupsStatus> item_groups;  // likewise
  AccessFigures access;
  std::optional<ForwardFigures> forwarded;      // nullopt: nothing is passed on
  bool passes_on = false;                       // another daemon answers requests that are passed on to it
  std::optional<StateTopicStatus> state_topic;  // nullopt: there is none
  std::vector<TopicLoss> losses;                // of the topics that this daemon reads
  std::vector<TopicProblem> topics;             // of all topics that the daemon uses
  std::vector<std::string> schema_troubles;     // see BinaryFormat::Troubles
  std::string dead_letters_problem;             // why letters aren't taken; empty: they are
  FillFigures fills;
  std::vector<MemoryShare> memory;
  std::optional<DiskSpace> disk;  // nullopt: not known
};

// What /readyz answers. Pure.

struct Readiness {
  bool ready = false;
  std::string reason;                 // for people; empty when ready
  std::vector<std::string> troubles;  // for people: what doesn't work, ready or not
};

/// Ready means that users get answers here, or from daemons that requests are passed on to. The daemon
/// becomes ready when every partition that it reads answers and has at most `ready_lag_messages` to read. A
/// daemon that reads no partition becomes ready when requests can be passed on.
/// Then the daemon stays ready while any partition answers or requests can be passed on. So a partition that
/// is refused, held or catching up costs the others nothing. Partitions that are refused or have no owner
/// don't keep the daemon from becoming ready.
/// `was_ready`: what the last call returned. `status.not_ready_reason` set: nothing works, and the daemon
/// isn't ready. `waits`: what else keeps the daemon from becoming ready; may be empty.
Readiness JudgeReadiness(const DaemonStatus& status, int64_t ready_lag_messages,
                         const std::vector<std::string>& waits, bool was_ready);

}  // namespace seen
