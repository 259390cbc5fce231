#pragma once
// Takes records into the active tail: decodes a block of them, then appends it. Thread: the partition's
// worker.

#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "flow/log_port.h"
#include "flow/partition_checkpoint.h"
#include "flow/partition_journal.h"
#include "flow/partition_state.h"
#include "flow/partition_status.h"
#include "flow/publish_flow.h"
#include "flow/record_block.h"
#include "flow/replay_runs.h"
#include "flow/reporter.h"
#include "flow/tail.h"
#include "flow/unexposed_flow.h"
#include "flow/update_stream.h"

namespace seen {

class PartitionIntake {
 public:
  /// The parts that get changes. All outlive this.
  struct Parts {
    PublishFlow& publish;
    const PartitionCheckpoint& checkpoint;
    const UnexposedFlow* unexposed = nullptr;  // nullptr: unexposed items aren't published
    PartitionJournal* journal = nullptr;       // nullptr: none is kept
    UpdateStream* updates = nullptr;           // nullptr: no filter has updates
  };
  /// `anchor`: of the stored position. All references outlive this.
  PartitionIntake(PartitionState& state, const Parts& parts, const Anchor& anchor,
                  const PartitionStore& store, DeadLetterSink& dead_letters, Reporter& reporter,
                  const Clock& clock);

  /// Where reading must start: at the anchor if there is one, to find out whether the log was recreated; else
  /// at the next offset. Never below `low_watermark`. Call it before the first Apply.
  int64_t ReadFrom(int64_t low_watermark);
  /// The anchor of the last record read; offset -1: none is known.
  const Anchor& last_read() const { return anchor_; }

  /// Takes `records` (ascending, all of this partition) in order and returns how many it took. It takes fewer
  /// than all while the tail or the dead-letter queue is full, or a record's schema isn't known yet. Call it
  /// again with the rest once Freeze or time has made space. Records below the next offset are skipped.
  /// kRefused: the log isn't the one that was read.
  Result<size_t> Apply(std::span<const Record> records);
  /// The log's end is at `end_offset`, and everything before it was delivered.
  void ReachedEnd(int64_t end_offset);
  /// Retention deleted [next offset, low). Reading goes on from `low`; the range is kept, counted and shown.
  void SkipLost(int64_t low);

  /// Ends replays that stand still. Call it now and then, also while no record comes.
  void EndIdleReplays();
  /// Any thread.
  std::vector<std::string> ReplayNames() const { return replays_.Names(); }

  /// Whether there is something to write, it is time (or the tail is full), and the store can take it.
  bool CheckpointDue() const;
  /// Whether a checkpoint would write something, due or not.
  bool HasChanges() const;
  /// Why records can't be taken now; kNone: they can.
  HoldReason HeldBy() const;
  /// Makes the tail the frozen one and opens a new one. Only while nothing is frozen (checked).
  void Freeze();

 private:
  using Exposure = RecordBlock::Exposure;

  Status CheckAnchor(const Record& record);
  bool IsBehind(const Record& newest) const;
  size_t Take(std::span<const Record> records, BatchReport& report);
  size_t AppendBlock(std::span<const Record> records, size_t read, BatchReport& report);
  size_t NoteSkippedItems(size_t records, BatchReport& report) const;
  std::optional<bool> TakeSeveral(const Record& record, BatchReport& report);
  void Append(const Exposure& exposure, const Record& record, bool is_first, BatchReport& report);
  uint32_t AppendByCreation(const Exposure& exposure, const Record& record, LossCounts& live);
  void AppendOther(const Exposure& exposure, uint32_t second, BatchReport& report);
  void AppendSimilar(const Exposure& exposure, uint32_t first_item, uint32_t end_item, ChangeKind kind,
                     FilterMask filters);
  void AddToUpdates(const Exposure& exposure, FilterMask filters, std::span<const Fingerprint> items,
                    AdditionKind kind = AdditionKind::kSeen, uint32_t until_s = 0);
  void AddServedToUpdates(const Exposure& exposure, uint32_t second);
  bool SkipsUpdates(const Record& newest) const;
  void NoteUnexposed(const Exposure& exposure, const Record& record);
  bool TailIsFull() const;
  bool BacklogHasEnded() const;
  bool WantsCheckpoint() const;
  bool TailIsOfAnEarlierDay() const;
  void NoteTaken(const Record& record, BatchReport& report, TimeMs exposed_at = {-1});
  void NoteDirty(Tail::UserSlot& slot, FilterMask filters, const Record& record);
  void NoteFirst(std::span<const Record> records);
  void PassOnDirty(Instant visible_at);
  void Defer(Tail::UserSlot& slot, FilterMask filters);
  void NoteTooOld(const Exposure& exposure, const Record& record, BatchReport& report);
  void NoteMisrouted(const Exposure& exposure, const Record& record, BatchReport& report);
  void LookAtPartitioners(std::span<const Record> records, LossCounts& live);
  void NoteReplay(const ReplayNote& note);
  void HoldMarks();
  bool Reject(const Record& record, const Rejection& rejection, BatchReport& report);

  PartitionState& state_;
  const PartitionOptions& options_;
  const FilterMasks& filters_;
  const Parts parts_;
  const PartitionStore& store_;
  DeadLetterSink& dead_letters_;
  Reporter& reporter_;
  const Clock& clock_;

  // The worker uses everything below.
  RecordBlock block_;             // the current block
  std::vector<DirtyUser> dirty_;  // of the batch
  std::vector<Tail::UserSlot*> dirty_slots_;
  std::vector<TimeMs> exposed_;
  uint32_t batch_number_ = 0;
  // Why the last record to be rejected couldn't be.
  bool dead_letters_full_ = false;
  bool awaits_schema_ = false;
  TimeMs now_;         // of the batch, by the clock
  TimeMs time_limit_;  // of the batch: timestamps beyond it don't move partition time

  // A record with several events, and how many of them were taken. It may be given again when a queue was
  // full.
  const Record* several_ = nullptr;
  int64_t several_offset_ = -1;
  size_t several_taken_ = 0;
  std::vector<std::string_view> events_;
  std::vector<Record> event_records_;

  std::optional<UpdateStream::Batch> updates_;  // of the batch, if some filter has updates
  int64_t update_offset_ = -1;                  // of the record at hand; -1: it is no news
  bool defer_ = true;                           // the batch's publication is left to marks
  bool is_behind_ = false;                      // because the batch is of a backlog
  ReplayRuns replays_;
  uint32_t replay_batch_ = 0;   // the last batch with a record of replay_run_
  std::string replay_run_;      // the run of the last replayed record
  bool replay_defers_ = false;  // its users wait for its end
  bool holds_marks_ = false;
  bool history_is_due_ = false;  // a replay has ended: users that waited for it are published
  bool tail_defers_live_ = false;
  bool tail_defers_backlog_ = false;  // users of a backlog wait for this tail's checkpoint
  Instant backlog_ended_{};           // when that was the reason for a checkpoint
  uint64_t tail_deferred_ = 0;
  Anchor anchor_;           // last record read
  bool anchor_is_checked_;  // the log is known to be the one that was read
  std::deque<Anchor> rejected_;
  Instant last_freeze_;
  const std::shared_ptr<TailMemory> tail_memory_;
  std::shared_ptr<Tail> tail_;  // the active tail, which `state_` shows to readers
  Instant tail_since_;          // when it was begun
  bool tail_has_served_ = false;
  bool tail_has_erased_ = false;
  std::unique_ptr<UnexposedLog> unexposed_log_;  // of the active tail, where unexposed items are published
};

}  // namespace seen
