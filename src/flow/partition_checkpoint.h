#pragma once
// A frozen tail becomes a checkpoint: each part writes its share, and the store takes all of it with the
// position in one step. Thread: the checkpoint thread, one at a time.

#include <memory>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "flow/checkpoint_part.h"
#include "flow/log_port.h"
#include "flow/partition_state.h"
#include "flow/reporter.h"
#include "flow/republisher.h"
#include "flow/store_port.h"
#include "flow/unexposed_flow.h"

namespace seen {

class PartitionCheckpoint {
 public:
  /// The parts that write, and those that say how long the store must keep things. All outlive this.
  struct Parts {
    std::vector<CheckpointPart*> in_order;  // see flow/checkpoint_part.h
    const Republisher* republisher = nullptr;
    const UnexposedFlow* unexposed = nullptr;  // nullptr: unexposed items aren't published
  };
  PartitionCheckpoint(PartitionState& state, Parts parts, PartitionStore& store,
                      const DeadLetterSink& dead_letters, Reporter& reporter, const Clock& clock);

  /// Whether dead letters in the frozen tail's range are unacknowledged, so that it is better to wait a
  /// little. Only while a tail is frozen.
  bool AwaitsDeadLetters() const;
  /// Only while a tail is frozen. On an error everything stays as it was, and a further call tries again.
  /// Returns the offset up to which the group may commit.
  Result<int64_t> Write();

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
};

}  // namespace seen
