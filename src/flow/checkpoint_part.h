#pragma once
// One part of a partition's checkpoint. A checkpoint is a list of parts: all begin, all write, in the order
// of the list; then the store takes everything in one step, or nothing.
//
// Order of the list, as the store's file wants it: journal, users, last published snapshots, marks, endings,
// served rows.

#include <vector>

#include "flow/partition_state.h"
#include "flow/status.h"
#include "flow/store_port.h"
#include "flow/tail.h"

namespace seen {

/// The checkpoint under way, as its parts see it.
struct Checkpoint {
  FrozenTail& frozen;
  const Position position;
  const TimeMs wall;
  const std::vector<const Tail::UserSlot*> users;  // of the frozen tail, ascending by key
  CheckpointReport report;

  // The users' part finds these, for the parts after it.
  std::vector<Ending> endings;  // of served items
  std::vector<UserRef> erased;  // ascending
};

/// Checkpoint thread. Write is called after Begin, and each Begin ends with Committed or Failed.
class CheckpointPart {
 public:
  virtual ~CheckpointPart() = default;
  /// Takes what it will write, and writes what comes before all users.
  virtual Status Begin(Checkpoint&, CheckpointWriter&) { return {}; }
  virtual Status Write(Checkpoint& checkpoint, CheckpointWriter& writer) = 0;
  /// The store has it, and survives a loss of power.
  virtual void Committed(const Checkpoint&) {}
  /// The store has nothing of it. What was taken is written by the next checkpoint. Also called where an
  /// earlier part failed to begin.
  virtual void Failed() {}
};

}  // namespace seen
