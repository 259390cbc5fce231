#pragma once
// The owner's side of one partition's state stream: an opening, a run a minute, and a base when runs have
// become long. Nothing waits for the stream. Changes that can't be sent are dropped and counted, and a base
// follows.
// Records: schemas/state.md.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/mutex.h"
#include "rows/descriptor.h"
#include "rows/row_fold.h"
#include "state_stream/figures.h"
#include "state_stream/part_writer.h"
#include "state_stream/state_port.h"
#include "state_stream/state_record.h"

namespace seen {

/// Record: the checkpoint thread. Step, OnDelivery: the state thread. figures: any.
class PartitionStream {
 public:
  struct Options {
    int32_t partition = 0;
    StateOpening opening;    // position: the store's position now. base_at: Begin sets it
    std::string descriptor;  // the store's, encoded
    StoredLimits limits{std::vector<StoredFilter>()};
    std::chrono::milliseconds run_every{60'000};
    uint64_t run_bytes = 16 << 20;          // of changes in memory: a run is due from here on
    uint64_t changes_bytes_max = 64 << 20;  // of changes in memory: more than these are dropped
    size_t record_bytes_max = 900'000;
    uint64_t base_bytes_per_second = 16 << 20;
    uint64_t base_after_bytes_min = 1 << 20;  // of runs: no base begins before
  };
  /// All references outlive this.
  PartitionStream(Options options, RowSource& rows, PartitionSink& sink, const Clock& clock);
  ~PartitionStream();

  /// Wraps `writer`: the stream records the changes once `writer` has committed them. Checkpoint thread.
  std::unique_ptr<CheckpointWriter> Record(std::unique_ptr<CheckpointWriter> writer,
                                           const Position& position);

  /// Says what the topic holds below `end`; call it before anything is sent. `reaches`: the position to which
  /// the stream leads a reader; kNoOffset: not known. The stream begins with a base if the store stands at
  /// another position, or if the opening isn't written at `end`.
  void Begin(int64_t base_at, int64_t reaches, int64_t end);
  /// Counts records before this owner's.
  void CountBefore(uint64_t foreign, uint64_t refused);
  /// The topic doesn't hold the newest base any more: its records were deleted, or it is another topic. The
  /// stream begins again, with a base within the time of a run.
  void LoseBase();
  bool has_begun() const { return begun_; }
  /// The topic ends at or behind this offset. kNoOffset: not known.
  int64_t next_offset() const { return next_offset_; }
  /// True: the opening is acknowledged.
  bool is_open() const { return epoch_ != kNoOffset; }

  /// Sends what is due. `last`: the stream ends, so all recorded changes are due. `begins_base`: begins a
  /// base if one is due. Returns what keeps the stream from sending, for people; empty: nothing does.
  std::string Step(bool last = false, bool begins_base = true);
  bool is_reading_base() const { return base_ && !base_->made; }
  void OnDelivery(const PartitionDelivery& delivery);
  /// All recorded changes are acknowledged, and no base is needed.
  bool IsAtRest() const;
  /// All recorded changes are acknowledged, whether or not a base is needed.
  bool HasSentRuns() const;

  StateStreamFigures figures() const;

 private:
  enum class Lane : uint8_t { kOpening = 0, kRun = 1, kBase = 2 };
  /// A run or base on its way.
  struct Sending {
    uint32_t number = 0;
    int64_t to = 0;
    std::deque<std::string> records;  // not queued yet
    uint32_t next_part = 0;           // part number of the first of these records
    uint32_t unacknowledged = 0;
    uint64_t bytes = 0;
    int64_t first_offset = kNoOffset;
    bool made = false;  // no more records will come
    bool failed = false;
    bool IsDone() const { return made && records.empty() && unacknowledged == 0; }
  };
  struct Base {
    std::unique_ptr<RowCursor> cursor;
    std::unique_ptr<PartWriter> writer;
    bool is_flushed = false;  // only the last part is missing
  };

  void Break() REQUIRES(mutex_);
  void OnCommitted(RowBatch changes, int64_t to);
  bool SendOpening();
  void BeginRun(bool last);
  void BeginBase();
  void ReadBase();
  std::string Send(Sending& sending, Lane lane);
  void Opened(int64_t offset);
  void OpenAgain();
  void EndRun();
  void EndBase();
  bool NeedsBase() const;
  StatePart Head(StreamKind kind, uint32_t number, int64_t from, int64_t to) const;
  PartWriter::Emit Into(Sending& sending);

  const Options options_;
  RowSource& rows_;
  PartitionSink& sink_;
  const Clock& clock_;

  mutable Mutex mutex_;
  RowFold changes_ GUARDED_BY(mutex_);
  int64_t changes_from_ GUARDED_BY(mutex_);
  int64_t changes_to_ GUARDED_BY(mutex_);
  bool broken_ GUARDED_BY(mutex_) = false;      // changes are missing since the last base began
  bool leads_here_ GUARDED_BY(mutex_) = false;  // there is a whole base, and no change is missing since
  StateStreamFigures figures_ GUARDED_BY(mutex_);

  // Checkpoint thread: the size of the last checkpoint, and a little more.
  size_t expected_bytes_ = 0;
  size_t expected_rows_ = 0;

  // State thread.
  bool begun_ = false;
  bool opening_sent_ = false;
  int64_t epoch_ = kNoOffset;
  int64_t known_end_ = kNoOffset;
  int64_t next_offset_ = kNoOffset;  // offset of the next record if nobody else writes
  uint32_t next_number_ = 0;
  int64_t base_at_ = kNoOffset;
  uint64_t base_bytes_ = 0;
  uint64_t bytes_since_base_ = 0;
  int64_t runs_to_ = 0;  // `to` of the last run that ended since the last base began
  Instant run_at_;
  Instant base_from_;    // no base begins earlier
  Instant base_by_;      // if anything changed, a base begins then: what was erased leaves the topic
  bool changed_ = true;  // since the last base; what former owners changed isn't known
  std::optional<Sending> run_;
  std::optional<Sending> base_;
  Base reading_;
  Instant base_filled_at_{};
  double base_budget_ = 0;
};

}  // namespace seen
