#pragma once
// What a TopicRunner reads a topic for: exposures, re-keying, items.

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "run/group_log.h"

namespace seen {

/// One open partition. Threads. "Worker": one thread at a time, see TopicRunner. Everything else: any thread.
class PartitionTaker {
 public:
  virtual ~PartitionTaker() = default;

  /// Worker. Takes `records` (ascending) in order, those below next_offset() are skipped. Returns how many it
  /// took; fewer than all: there is no room now, the rest comes again. kRefused, kCorrupt: the partition
  /// stops. Any other error: some records before the one at next_offset() may be taken, the rest is read
  /// again after a while.
  virtual Result<size_t> Take(std::span<const Record> records) = 0;
  /// Worker. Everything before `end_offset`, the log's end, was given.
  virtual void ReachedEnd(int64_t end_offset) = 0;
  /// Worker. Retention deleted what is from next_offset() to `low`: counts it, and goes on at `low`.
  virtual void SkipLost(int64_t low) = 0;
  /// Worker. Of the next record to take.
  virtual int64_t next_offset() const = 0;
  /// Worker, once, before the first Take: the partition is read from here on. Returns from where: not below
  /// `low`; below next_offset() where a record before it shows that the log is the same.
  virtual int64_t Begin(int64_t /*low*/) { return next_offset(); }
  /// Worker, once, after Begin: the last record that was taken before. Its default: it isn't known.
  virtual Anchor LastRead() const { return {}; }
  /// Worker, between batches and while there is no room: a step of what else is due. Returns where to read
  /// on, if it isn't where reading is. Errors: as Take.
  virtual Result<std::optional<int64_t>> Idle() { return std::nullopt; }
  /// Worker, a while after an error that didn't stop the partition. Returns where to read on. Errors: as
  /// Take.
  virtual Result<int64_t> ReadOn() { return next_offset(); }
  /// Worker. Records wait for room; there was room again.
  virtual void Held() {}
  virtual void Resumed() {}

  /// As last seen; unknown values are -1.
  virtual void SetWatermarks(const Watermarks&) {}
  /// The group may be told that everything below this is done; -1: nothing yet.
  virtual int64_t CommitOffset() const = 0;

  struct Closing {
    Instant until{};          // longer than that it waits for nothing
    bool lost = false;        // another member may own the partition already
    bool checkpoint = false;  // writes what it has; false: its state is dropped, or can't be trusted
  };
  /// Control thread, as the worker; the last call of both. Afterwards CommitOffset says what was done.
  virtual void Close(const Closing& closing) = 0;
};

/// A topic's takers. Control thread, unless it says otherwise.
class TopicTaker {
 public:
  virtual ~TopicTaker() = default;

  /// Open is to be called for these, one after the other.
  virtual void Expect(std::span<const int32_t> /*partitions*/, int32_t /*partition_count*/) {}
  /// Opens or makes the partition's state. kRefused, kCorrupt: the partition isn't read, others go on; with
  /// --rebuild it is opened again after Drop, and `committed_offset` is nullopt. kUnavailable, kNoSpace:
  /// asked again. kInvalidArgument: no partition can be opened, the process ends.
  virtual Result<std::shared_ptr<PartitionTaker>> Open(const Assignment& assignment, const GroupLog& log) = 0;
  /// The worker of a partition that is read, too. Removes the partition's state, which isn't open.
  virtual Status Drop(int32_t partition) = 0;
  /// The worker, too. The partition isn't read any more, or again: why; empty: it is, or was revoked.
  virtual void Refused(int32_t /*partition*/, const std::string& /*reason*/) {}
  /// It was revoked before it opened: what opening it has begun is of no use.
  virtual void Abandoned(int32_t /*partition*/) {}
  /// Between polls of the log: what belongs to no one partition.
  virtual void Step(GroupLog& /*log*/) {}
  /// Before partitions are closed together.
  virtual void BeforeClosing(Instant /*until*/) {}
};

/// Where the runner's threads wait. Thread-safe.
class RunnerWait {
 public:
  virtual ~RunnerWait() = default;
  /// Returns after `time`, or earlier if there may be room.
  virtual void WaitForRoom(std::chrono::milliseconds time) = 0;
};

}  // namespace seen
