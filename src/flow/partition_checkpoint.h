#pragma once
// A frozen tail becomes a checkpoint: each part writes its share, and the store takes all of it with the
// position in one step. Thread: the checkpoint thread, one at a time.

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "flow/checkpoint_part.h"
#include "flow/log_port.h"
#include "flow/partition_state.h"
#include "flow/publish_flow.h"
#include "flow/reporter.h"
#include "flow/republisher.h"
#include "flow/store_port.h"
#include "flow/unexposed_flow.h"
#include "model/change.h"
#include "owner/foreign_users.h"

namespace seen {

/// The part of a checkpoint that marks the users whose snapshot isn't acknowledged, and clears the marks of
/// users whose snapshot is.
class MarksPart final : public CheckpointPart {
 public:
  /// All references outlive this.
  MarksPart(const PartitionState& state, const PartitionStore& store, PublishFlow& publish,
            const ForeignUsers& foreign)
      : state_(state), store_(store), publish_(publish), foreign_(foreign) {}

  Status Write(Checkpoint& checkpoint, CheckpointWriter& writer) override;
  void Committed(const Checkpoint& checkpoint) override {
    publish_.MarksCommitted(checkpoint.frozen.deferred);
    if (checkpoint.frozen.ends_replays) publish_.HoldMarks(false);
    if (checkpoint.frozen.defers_live) publish_.LetMarksGo();
  }
  void Failed() override { publish_.MarksFailed(); }

 private:
  std::vector<UserRef> DeferredUsers(const Checkpoint& checkpoint) const;

  const PartitionState& state_;
  const PartitionStore& store_;
  PublishFlow& publish_;
  const ForeignUsers& foreign_;
};

/// The part of a checkpoint that writes the users of the frozen tail: their deltas in each filter, and the
/// exposures that resolve served items.
class UsersPart final : public CheckpointPart {
 public:
  /// `state` outlives this.
  explicit UsersPart(const PartitionState& state) : state_(state) {}

  Status Write(Checkpoint& checkpoint, CheckpointWriter& writer) override;

 private:
  // Writes the erasures in the tail to a filter that isn't configured any more.
  Status WriteErasures(FilterId retired, const Checkpoint& checkpoint, CheckpointWriter& writer);
  Status WriteFilter(FilterIndex filter_index, Checkpoint& checkpoint, CheckpointWriter& writer);
  static Status WriteResolving(const Checkpoint& checkpoint, CheckpointWriter& writer);
  static void NoteEndings(const FilterPolicy& filter, const UserKey& user, std::span<const Change> changes,
                          std::vector<Ending>& endings);

  const PartitionState& state_;
  ChangeEncoder encoder_;  // checkpoint thread
};

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
