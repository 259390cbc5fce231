#pragma once
// Plain values: what /v1/status and the gauges of /metrics show about re-keying and items.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "flow/partition_status.h"
#include "model/event.h"
#include "similar/port/similar_port.h"

namespace seen {

/// A partition that the group assigned to this daemon, and that the daemon doesn't read.
struct RefusedPartition {
  int32_t partition = 0;
  std::string reason;  // for people: what is wrong, and the remedy
  TimeMs since;
};

/// A transaction that a producer hasn't ended. Nothing behind its first record is read before it ends.
struct OpenTransaction {
  int32_t partition = 0;
  int64_t offset = 0;    // of its first record
  int64_t messages = 0;  // from there up to the end of the log, of all producers
  TimeMs since;          // when this daemon had read everything before it
};

/// The partitions of one topic that are not read.
struct UnreadPartitions {
  std::vector<RefusedPartition> refused;           // by this daemon; ascending
  std::vector<int32_t> unowned;                    // no member of the group owns them; ascending
  std::vector<OpenTransaction> open_transactions;  // in partitions that this daemon reads; ascending
};

/// What is wrong with one of the topics that the daemon uses.
struct TopicProblem {
  std::string topic;
  std::string problem;  // "missing", "partitions", or the setting that is wrong, e.g. "cleanup.policy"
  std::string text;     // for people: what follows from it, and the command that mends it
  friend bool operator==(const TopicProblem&, const TopicProblem&) = default;
};

/// One partition of the source topic. Used only if input.keyed_by_user is false.
struct RekeyingPartitionStatus {
  int32_t partition = 0;
  bool assigned = false;          // to this daemon
  int64_t committed_offset = -1;  // the group's; -1: none yet
  int64_t high_watermark = -1;
  int64_t lag_messages = 0;                // not acknowledged by the keyed topic yet
  uint64_t lost_messages = 0;              // deleted by retention before they were read, since the start
  std::string reason = {};                 // for people: what its records wait for; empty: for nothing
  HoldReason held_by = HoldReason::kNone;  // since held_since
  TimeMs held_since = {};
};

struct RekeyingStatus {
  std::string source_topic;
  std::string group_id;
  bool caught_up = false;
  std::string problem;  // for people: why it isn't; empty if it is
  int64_t lag_messages = 0;
  std::vector<RekeyingPartitionStatus> partitions;  // all of the source topic
  UnreadPartitions unread;                          // of the source topic
};

/// The daemon's copy of the topic of groups.
struct ItemGroupsStatus {
  std::string topic;           // empty: not found yet
  std::string problem;         // for people: why it isn't read; empty if it is
  int64_t lag_messages = 0;    // not read yet
  uint64_t records = 0;        // taken since the start
  uint64_t unreadable = 0;     // left out since the start
  uint64_t rows = 0;           // in the copy, estimated
  uint64_t bytes = 0;          // on disk
  uint64_t cache_bytes = 0;    // in memory
  uint64_t disk_reads = 0;     // for look-ups that missed the cache, since the start
  uint64_t errors = 0;         // look-ups that failed on the disk
  uint64_t too_far_ahead = 0;  // records of items ahead of the clock, since the start
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
  uint64_t cut_texts = 0;      // longer than items.text_bytes_max; also since the partition was opened
  uint64_t groups_sent = 0;
  std::array<uint64_t, kRejectReasons> rejected{};
  uint64_t checkpoints = 0;
  double checkpoint_seconds = 0;  // total
};

/// The stream of items, from their topic to their groups.
struct ItemsStatus {
  std::string topic;          // that producers write
  std::string ordered_topic;  // that is read: the same if that has one partition; empty: not known yet
  std::string group_id;
  std::string problem;  // for people: why it isn't read, or not completely yet; empty if it is
  std::vector<ItemsPartitionStatus> partitions;
  std::optional<RekeyingStatus> rekeying;  // nullopt: the topic has one partition
  std::array<uint64_t, kRejectReasons> rekeying_rejected{};
  UnreadPartitions unread;  // of the ordered topic
  uint64_t leases_lapsed = 0;
  uint64_t foreign_groups = 0;  // in the topic of groups: replaced
};

}  // namespace seen
