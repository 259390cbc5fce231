#pragma once
// What the state streams need of the log and of the stores. Implemented by kafka/ and store/, and by fakes.

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "base/result.h"
#include "rows/row.h"
#include "rows/row_batch.h"
#include "rows/row_fold.h"
#include "rows/stored_limits.h"

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

/// Reads the state topic. One thread.
class StateLog {
 public:
  virtual ~StateLog() = default;
  /// False: that was enough.
  using Visit = std::function<bool(int64_t offset, std::string_view record)>;
  /// Gives the partition's records at `from` or later and before `to`, in order, as far as they are still
  /// there. kUnavailable: brokers are away.
  virtual Status Read(int32_t partition, int64_t from, int64_t to, const Visit& visit) = 0;
};

/// A store that is being built from the state topic. One thread.
class RestoreTarget {
 public:
  virtual ~RestoreTarget() = default;
  /// It is to hold nothing, whatever came before.
  virtual Status Begin() = 0;
  /// It is to go on from the state that there is. Each Apply leaves it whole, whatever comes afterwards.
  virtual Status Continue() = 0;
  /// The base's rows, all puts. They ascend over all calls.
  virtual Status AddBase(const RowBatch& rows) = 0;
  /// What changed since. May be called again, with later changes.
  virtual Status Apply(const RowFold& changes, const StoredLimits& limits) = 0;
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
