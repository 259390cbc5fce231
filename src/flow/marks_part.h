#pragma once
// The part of a checkpoint that marks the users whose snapshot isn't acknowledged, and clears the marks of
// users whose snapshot is.

#include <string>
#include <vector>

#include "flow/checkpoint_part.h"
#include "flow/foreign_users.h"
#include "flow/publish_flow.h"

namespace seen {

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

}  // namespace seen
