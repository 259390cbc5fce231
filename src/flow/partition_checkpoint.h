#pragma once
// A frozen tail becomes a checkpoint: each part writes its share, and the store takes all of it with the
// position in one step, or nothing.
//
// A checkpoint is a list of parts. First all parts begin, then all write, both in the order of the list. The
// store's file needs this order: journal, users, last published snapshots, marks, endings, sweep, served
// rows.

#include <memory>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "flow/partition_state.h"
#include "flow/partition_status.h"
#include "flow/store_port.h"
#include "flow/tail.h"

namespace seen {

class DeadLetterSink;
class Endings;
class ForeignUsers;
class LastPublishedSnapshots;
class PartitionJournal;
class PublishFlow;
class Reporter;
class Sweep;
class UnexposedFlow;
class UpdateStream;

/// The checkpoint under way, as its parts see it.
struct Checkpoint {
  FrozenTail& frozen;
  const Position position;
  const TimeMs wall;
  const std::vector<const Tail::UserSlot*> users;  // of the frozen tail, ascending by key
  CheckpointReport report;

  // The users' part fills these, for the parts after it.
  std::vector<UserRef> erased;  // ascending; when it begins
  std::vector<Ending> endings;  // of served items; when it writes
};

/// Checkpoint thread. Write is called after Begin, and each Begin ends with Committed or Failed.
class CheckpointPart {
 public:
  virtual ~CheckpointPart() = default;
  /// Collects what the part will write, and writes what must come before all users.
  virtual Status Begin(Checkpoint&, CheckpointWriter&) { return {}; }
  virtual Status Write(Checkpoint&, CheckpointWriter&) { return {}; }
  /// The store has everything. It survives a power loss.
  virtual void Committed(const Checkpoint&) {}
  /// The store has nothing of this checkpoint. The next one writes what this part collected. Also called if
  /// an earlier part failed to begin.
  virtual void Failed() {}

  // Any thread.
  /// Whether a checkpoint would write something of this part.
  virtual bool HasChanges() const { return false; }
  /// Whether something waits for the next checkpoint, so that it is due at once.
  virtual bool IsUrgent() const { return false; }
};

/// Thread: the checkpoint thread, one at a time, unless stated otherwise.
class PartitionCheckpoint {
 public:
  /// The parts of the flow that take part. All outlive this.
  struct Parts {
    PartitionJournal* journal;  // nullptr: none is kept
    LastPublishedSnapshots& last_published;
    PublishFlow& publish;
    const ForeignUsers& foreign_users;
    Endings& endings;
    Sweep& sweep;
    UnexposedFlow* unexposed;     // nullptr: unexposed items aren't published
    const UpdateStream* updates;  // nullptr: no filter has updates
  };
  PartitionCheckpoint(PartitionState& state, const Parts& parts, PartitionStore& store,
                      const DeadLetterSink& dead_letters, Reporter& reporter, const Clock& clock);

  /// Whether dead letters in the frozen tail's range are unacknowledged, so that it is better to wait a
  /// little. Only while a tail is frozen.
  bool AwaitsDeadLetters() const;
  /// Only while a tail is frozen. On an error everything stays as it was, and a further call tries again.
  /// Returns the offset up to which the group may commit.
  Result<int64_t> Write();

  /// Any thread: as CheckpointPart's, of any part.
  bool PartsHaveChanges() const;
  bool IsUrgent() const;

 private:
  Position PositionNow() const;
  void SetHorizons(TimeMs wall, TimeMs partition_time);
  Status WriteParts(Checkpoint& checkpoint);

  PartitionState& state_;
  const Parts parts_;
  PartitionStore& store_;
  const DeadLetterSink& dead_letters_;
  Reporter& reporter_;
  const Clock& clock_;
  std::vector<std::unique_ptr<CheckpointPart>> own_;  // users and marks
  std::vector<CheckpointPart*> in_order_;
};

}  // namespace seen
