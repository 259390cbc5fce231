#include "flow/partition_checkpoint.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace seen {
namespace {
// Dead letters usually need milliseconds. After this time the checkpoint no longer waits, and its offset is
// held back instead.
constexpr std::chrono::seconds kDeadLettersAwaited{5};
}  // namespace

PartitionCheckpoint::PartitionCheckpoint(PartitionState& state, Parts parts, PartitionStore& store,
                                         const DeadLetterSink& dead_letters, Reporter& reporter,
                                         const Clock& clock)
    : state_(state),
      parts_(std::move(parts)),
      store_(store),
      dead_letters_(dead_letters),
      reporter_(reporter),
      clock_(clock) {}

bool PartitionCheckpoint::AwaitsDeadLetters() const {
  const FrozenTail& frozen = state_.frozen();
  const int64_t oldest = dead_letters_.OldestUnacknowledged(state_.options().partition);
  return oldest >= 0 && oldest < frozen.position.next_offset &&
         clock_.Now() - frozen.at < kDeadLettersAwaited;
}

// The state may be ahead of the offset, because reading a record again changes nothing.
Position PartitionCheckpoint::PositionNow() const {
  const FrozenTail& frozen = state_.frozen();
  Position position = frozen.position;
  const int64_t oldest = dead_letters_.OldestUnacknowledged(state_.options().partition);
  if (oldest < 0 || oldest >= position.next_offset) return position;
  position.next_offset = oldest;
  const auto held = std::find_if(frozen.rejected.begin(), frozen.rejected.end(),
                                 [&](const Anchor& anchor) { return anchor.offset == oldest; });
  position.anchor = held == frozen.rejected.end() ? Anchor{} : *held;
  return position;
}

void PartitionCheckpoint::SetHorizons(TimeMs wall, TimeMs partition_time) {
  const Day swept_through = parts_.republisher->SweptThrough();
  for (const FilterPolicy& filter : state_.options().filters) {
    store_.SetHorizon(filter.id, filter.ByteHorizon(wall, partition_time, swept_through));
  }
  if (parts_.unexposed) store_.SetHorizon(kResolvingFilter, parts_.unexposed->ResolvingHorizon());
}

Status PartitionCheckpoint::WriteParts(Checkpoint& checkpoint) {
  auto writer = store_.BeginCheckpoint(checkpoint.position);
  if (!writer) return Fail(writer.error());
  if (const auto& recorder = state_.options().recorder)
    *writer = recorder->Record(std::move(*writer), checkpoint.position);
  for (CheckpointPart* const part : parts_.in_order) {
    if (Status begun = part->Begin(checkpoint, **writer); !begun) return begun;
  }
  for (CheckpointPart* const part : parts_.in_order) {
    if (Status written = part->Write(checkpoint, **writer); !written) return written;
  }
  return (*writer)->Commit();
}

Result<int64_t> PartitionCheckpoint::Write() {
  Check(state_.HasFrozen(), "nothing is frozen");
  const Instant begun = clock_.Now();
  FrozenTail& frozen = state_.frozen();
  const int32_t partition = state_.options().partition;
  const TimeMs wall = clock_.WallNow();
  Checkpoint checkpoint{frozen, PositionNow(), wall, frozen.tail->SortedUsers(), {}, {}, {}};
  checkpoint.report.next_offset = checkpoint.position.next_offset;
  SetHorizons(wall, checkpoint.position.partition_time);
  if (const Status written = WriteParts(checkpoint); !written) {
    for (CheckpointPart* const part : parts_.in_order) part->Failed();
    state_.NoteCheckpointProblem(written.error().message);
    reporter_.CheckpointFailed(partition, written.error());
    return Fail(written.error());
  }
  for (CheckpointPart* const part : parts_.in_order) part->Committed(checkpoint);
  const Position position = checkpoint.position;
  CheckpointReport report = checkpoint.report;
  report.duration = std::chrono::duration_cast<std::chrono::milliseconds>(clock_.Now() - begun);
  state_.NoteCheckpoint(report, wall);
  reporter_.CheckpointWritten(partition, report);
  state_.DropFrozen(position);  // `checkpoint` refers to the frozen tail: don't use it after this
  return position.next_offset;
}

}  // namespace seen
