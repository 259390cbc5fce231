#pragma once
// Ports of TopicConsumer for the uses of a topic's records: exposures, re-keying, items.

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "consume/group_log.h"

namespace seen {

/// One open partition. Threads. "Worker": one thread at a time, see TopicConsumer. Everything else: any
/// thread.
class PartitionHandler {
 public:
  virtual ~PartitionHandler() = default;

  /// Worker. Takes `records` (ascending) in order, and skips those below next_offset(). Returns how many it
  /// took. Fewer than all: there is no space now, and the rest comes again. kRefused, kCorrupt: the partition
  /// stops. Any other error: some records before the one at next_offset() may be taken; the rest is read
  /// again after a while.
  virtual Result<size_t> Handle(std::span<const Record> records) = 0;
  /// Worker. All records before `end_offset`, the log's end, were given.
  virtual void ReachedEnd(int64_t end_offset) = 0;
  /// Worker. Retention deleted the records from next_offset() to `low`. Counts them, and goes on at `low`.
  virtual void SkipLost(int64_t low) = 0;
  /// Worker. The offset of the next record to take.
  virtual int64_t next_offset() const = 0;
  /// Worker, once, before the first Take: the partition is read from here on. Returns the offset to read
  /// from. It isn't below `low`. It is below next_offset() if an earlier record can show that the log is the
  /// same.
  virtual int64_t Begin(int64_t /*low*/) { return next_offset(); }
  /// Worker, once, after Begin. The last record that was taken before. Default: not known.
  virtual Anchor LastRead() const { return {}; }
  /// Worker, between batches and while there is no space. Does a step of other work that is due. Returns the
  /// offset to read on from, if reading must move there. Errors: as Take.
  virtual Result<std::optional<int64_t>> Idle() { return std::nullopt; }
  /// Worker, a while after an error that didn't stop the partition. Returns the offset to read on from.
  /// Errors: as Take.
  virtual Result<int64_t> ReadOn() { return next_offset(); }
  /// Worker. Held: records wait for space; called again while they do, because the reason may change.
  /// Resumed: there is space again.
  virtual void Held() {}
  virtual void Resumed() {}
  /// Worker, while records wait: whether no other partition waits for the same thing.
  virtual bool WaitsAlone() const { return false; }

  /// The watermarks last seen; unknown values are -1.
  virtual void SetWatermarks(const Watermarks&) {}
  /// Everything below this offset may be committed; -1: nothing yet.
  virtual int64_t CommitOffset() const = 0;

  struct Closing {
    Instant until{};          // the handler waits for nothing after this
    bool lost = false;        // another member may own the partition already
    bool checkpoint = false;  // write what it has; false: its state is dropped, or can't be trusted
  };
  /// Control thread, in the worker's place. It is the last call of both threads. Afterwards CommitOffset
  /// returns what was done.
  virtual void Close(const Closing& closing) = 0;
};

/// The handlers of a topic. Control thread, unless stated otherwise.
class TopicHandler {
 public:
  virtual ~TopicHandler() = default;

  /// Open will be called for these, one after the other.
  virtual void Expect(std::span<const int32_t> /*partitions*/, int32_t /*partition_count*/) {}
  /// Opens or creates the partition's state. kRefused, kCorrupt: the partition isn't read, others go on. With
  /// --rebuild it is opened again after Drop, with `committed_offset` nullopt. kUnavailable, kNoSpace:
  /// retried. kInvalidArgument: no partition can be opened, and the process ends.
  virtual Result<std::shared_ptr<PartitionHandler>> Open(const Assignment& assignment,
                                                         const GroupLog& log) = 0;
  /// Control thread, or the worker of a partition that is read. Removes the partition's state, which isn't
  /// open.
  virtual Status Drop(int32_t partition) = 0;
  /// Control thread or the worker. `reason`: why the partition isn't read any more; empty: it is read again,
  /// or was revoked.
  virtual void Refused(int32_t /*partition*/, const std::string& /*reason*/) {}
  /// The partition was revoked before it opened. The work that began for opening is useless.
  virtual void Abandoned(int32_t /*partition*/) {}
  /// Called between polls of the log. Does work that belongs to no single partition.
  virtual void Step(GroupLog& /*log*/) {}
  /// Called before partitions are closed together.
  virtual void BeforeClosing(Instant /*until*/) {}
};

/// Where the topic consumer's threads wait for space. Thread-safe.
class ConsumerWait {
 public:
  virtual ~ConsumerWait() = default;
  /// Returns after `time`, or earlier if there may be space.
  virtual void WaitForSpace(std::chrono::milliseconds time) = 0;
};

}  // namespace seen
