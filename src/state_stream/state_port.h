#pragma once
// What the state streams need of the log and of the stores. Implemented by kafka/ and store/, and by fakes.

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "base/result.h"
#include "rows/row.h"

namespace seen {

/// What became of a record on its way to the state topic.
struct StateDelivery {
  int32_t partition = 0;
  uint64_t ticket = 0;
  int64_t offset = -1;  // where it stands; -1: it was given up
};

/// Writes the state topic. One thread.
class StateSink {
 public:
  virtual ~StateSink() = default;
  /// Queues it behind all of the partition's; bytes are copied. False: the queue is full, try again later.
  /// `ticket` comes back exactly once if it was queued.
  virtual bool TrySend(int32_t partition, std::string_view record, uint64_t ticket) = 0;
  /// Runs `on_delivery` for what has arrived; a partition's in the order of their offsets. Doesn't wait.
  virtual void PollDeliveries(const std::function<void(const StateDelivery&)>& on_delivery) = 0;
};

/// A store's rows as of one moment, ascending; those that don't travel are left out. One thread.
class RowCursor {
 public:
  virtual ~RowCursor() = default;
  /// False: that was all. Views are valid until the next call.
  virtual Result<bool> Next(Row& row) = 0;
};

/// Any thread.
class RowSource {
 public:
  virtual ~RowSource() = default;
  /// The rows as they are now. nullptr: nothing was ever committed.
  virtual Result<std::unique_ptr<RowCursor>> ReadRows() = 0;
};

}  // namespace seen
