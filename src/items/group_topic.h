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

/// All its partitions, from given offsets on. One thread.
class GroupTopic {
 public:
  virtual ~GroupTopic() = default;
  using OnWritten = std::function<void(const WrittenGroup&)>;
  /// Hands over what has arrived, and doesn't wait. Brokers that are away are waited for. kRefused: the
  /// offset to read next is gone; the topic has to be opened again.
  virtual Status Read(const OnWritten& on_written) = 0;
  /// By partition: where the next record stands.
  virtual const std::vector<int64_t>& next_offsets() const = 0;
  /// Nothing is known to stand in the partition that wasn't handed over.
  virtual bool AtEnd(int32_t partition) const = 0;
};

/// `from`: by partition; where it has none, or one that isn't in the log, reading begins at the earliest
/// record. Empty: at the topic's ends. kUnavailable: ask again.
using OpenGroupTopic = std::function<Result<std::unique_ptr<GroupTopic>>(const std::vector<int64_t>& from)>;

}  // namespace seen
