#pragma once
// One part of a partition's checkpoint. A checkpoint is a list of parts. First all parts begin, then all
// write, both in the order of the list. Then the store takes everything in one step, or nothing.
//
// The store's file needs this order of the list: journal, users, last published snapshots, marks, endings,
// served rows.

#include <memory>
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

  // UsersPart fills these, for the parts after it.
  std::vector<Ending> endings;  // of served items
  std::vector<UserRef> erased;  // ascending
};

/// Checkpoint thread. Write is called after Begin, and each Begin ends with Committed or Failed.
class CheckpointPart {
 public:
  virtual ~CheckpointPart() = default;
  /// Collects what the part will write, and writes what must come before all users.
  virtual Status Begin(Checkpoint&, CheckpointWriter&) { return {}; }
  virtual Status Write(Checkpoint& checkpoint, CheckpointWriter& writer) = 0;
  /// The store has everything. It survives a power loss.
  virtual void Committed(const Checkpoint&) {}
  /// The store has nothing of this checkpoint. The next one writes what this part collected. Also called if
  /// an earlier part failed to begin.
  virtual void Failed() {}
};

}  // namespace seen
