#pragma once
// What the state streams need of the log and of the stores. Implemented by kafka/ and store/, and by fakes.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "flow/log_port.h"
#include "rows/descriptor.h"
#include "rows/row_batch.h"
#include "rows/row_fold.h"

namespace seen {

/// Reads the state topic. One thread.
class StateLog {
 public:
  virtual ~StateLog() = default;
  /// False: read no further.
  using Visit = std::function<bool(int64_t offset, std::string_view record)>;
  /// Visits the partition's records at `from` or later and before `to`, in order, as far as they still exist.
  /// kUnavailable: the brokers are away.
  virtual Status Read(int32_t partition, int64_t from, int64_t to, const Visit& visit) = 0;

  /// Records that Read skips, because their keys don't name a group whose state is read.
  struct Foreign {
    uint64_t records = 0;
    int64_t newest_epoch = -1;  // of another group's opening, as its records name it; -1: none
    std::string refusal;        // for people: whose opening that is, and the remedy
  };
  /// Of the last Read.
  virtual Foreign foreign() const { return {}; }
};

/// A store that is being built from the state topic. One thread.
class RestoreTarget {
 public:
  virtual ~RestoreTarget() = default;
  /// Makes the store empty, whatever came before.
  virtual Status Begin() = 0;
  /// Goes on from the state that there is. Each Apply leaves the state whole, whatever comes afterwards.
  virtual Status Continue() = 0;
  /// Adds rows of the base, all puts. Rows ascend over all calls.
  virtual Status AddBase(const RowBatch& rows) = 0;
  /// Applies later changes. May be called again, with changes that are later still.
  virtual Status Apply(const RowFold& changes, const StoredLimits& limits) = 0;
};

/// A store's rows as of one moment, ascending, without those that don't travel. One thread.
class RowCursor {
 public:
  virtual ~RowCursor() = default;
  /// False: there are no more rows. Views are valid until the next call.
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
