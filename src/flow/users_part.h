#pragma once
// The part of a checkpoint that writes the users of the frozen tail: their deltas in each filter, and the
// exposures that resolve served items.

#include <span>
#include <string>
#include <vector>

#include "flow/checkpoint_part.h"
#include "model/change.h"

namespace seen {

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

}  // namespace seen
