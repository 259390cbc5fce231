#pragma once
// The topic of groups, as ports: as the guard reads it (similar/groups/group_guard.h), and as groups are sent
// to it.

#include <charconv>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "similar/port/item_group.h"

namespace seen {

/// A record of the topic. Views are valid while OnWritten runs.
struct WrittenGroup {
  int32_t partition = 0;  // of the topic of groups
  int64_t offset = 0;
  std::string_view item_id;  // its key
  std::string_view value;
  bool is_tombstone = false;
  std::string_view decided_by;  // kDecidedByHeader; empty: another program wrote it
};

/// Reads all partitions of the topic. Implemented by kafka/kafka_group_topic.h. Reads from given offsets
/// on. One thread.
class GroupTopic {
 public:
  virtual ~GroupTopic() = default;
  using OnWritten = std::function<void(const WrittenGroup&)>;
  /// Hands over the records that have arrived, and doesn't wait. Unreachable brokers are no error: a later
  /// call reads on. kRefused: the offset to read next is gone; open the topic again.
  virtual Status Read(const OnWritten& on_written) = 0;
  /// By partition: the offset of the next record.
  virtual const std::vector<int64_t>& next_offsets() const = 0;
  /// True: the partition has no known record that wasn't handed over.
  virtual bool AtEnd(int32_t partition) const = 0;
};

/// `from`: by partition. If a partition has no offset there, or one that isn't in the log, reading begins at
/// its earliest record. Empty: reading begins at the topic's ends. kUnavailable: try again.
using OpenGroupTopic = std::function<Result<std::unique_ptr<GroupTopic>>(const std::vector<int64_t>& from)>;

/// The header that names who sent a record of the topic of groups. Each record has it.
/// schemas/item_groups.md.
inline constexpr char kDecidedByHeader[] = "decided-by";

/// Names the index of a partition, opened by `instance` at `opened`. No two openings have the same name.
inline std::string DecidedBy(int32_t partition, std::string_view instance, TimeMs opened) {
  return std::to_string(partition) + "/" + std::string(instance) + "/" + std::to_string(opened.value);
}

/// The index's partition of the ordered topic. nullopt: the header has none.
inline std::optional<int32_t> IndexPartitionOf(std::string_view decided_by) {
  int32_t partition = 0;
  const char* const end = decided_by.data() + decided_by.size();
  const auto [read_to, error] = std::from_chars(decided_by.data(), end, partition);
  if (error != std::errc() || read_to == end || *read_to != '/') return std::nullopt;
  return partition;
}

/// Takes groups that have changed. Implemented by kafka/kafka_group_topic.h. They are queued until AwaitAll
/// says that they have arrived.
class GroupSink {
 public:
  virtual ~GroupSink() = default;
  /// False: the queue is full, try again.
  virtual bool TrySend(std::string_view item_id, const ItemGroup* group) = 0;  // nullptr: a tombstone
  /// Waits until everything sent is acknowledged. kUnavailable: not within `patience`. Any other error: the
  /// sink gave up on a record, and takes nothing more.
  virtual Status AwaitAll(std::chrono::milliseconds patience) = 0;
};

}  // namespace seen
