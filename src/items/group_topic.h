#pragma once
// The topic of groups as the guard reads it (items/group_guard.h), as a port. Implemented by
// kafka/followed_group_topic.h.

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace seen {

/// A record of the topic. Views are valid while OnWritten runs.
struct WrittenGroup {
  int32_t partition = 0;  // of the topic of groups
  int64_t offset = 0;
  std::string_view item_id;  // its key
  std::string_view value;
  bool is_tombstone = false;
  std::string_view decided_by;  // items/decided_by.h; empty: another program wrote it
};

/// Reads all partitions of the topic, from given offsets on. One thread.
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

}  // namespace seen
