#pragma once
// The journal of one partition: events become rows in memory, checkpoints store the rows, and readers get
// both. model/journal_row.h has the contents of a row.
//
// Threads. Worker: BeginBlock, Note, Append, bytes, Freeze. Checkpoint thread: the functions of
// CheckpointPart. Any thread: the rest.

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "flow/filter_policy.h"
#include "flow/log_port.h"
#include "flow/partition_checkpoint.h"
#include "flow/partition_options.h"
#include "flow/partition_status.h"
#include "flow/store_port.h"
#include "flow/user_rows.h"
#include "model/event.h"
#include "model/journal_row.h"

namespace seen {

class PartitionJournal final : public CheckpointPart {
 public:
  struct Options {
    int32_t partition = 0;
    std::vector<FilterId> filters;  // in configuration order
    std::chrono::milliseconds future_skew_max{0};
    uint64_t tail_bytes_max = 0;
    std::array<uint8_t, kDeclaredKindsMax> kinds{};  // of declared kinds, as in PartitionOptions
  };
  /// `position`: the store's, nullopt if it is new. `store` outlives this.
  PartitionJournal(JournalPolicy policy, Options options, const std::optional<Position>& position,
                   const PartitionStore& store);
  ~PartitionJournal() override;

  // A block of records is decoded before the first of them is appended.
  void BeginBlock();
  /// Encodes the row of the event at place `number` of the block, if the journal keeps the event. Call it
  /// while the event's views are valid.
  void Note(size_t number, const Event& event, FilterMask filters, const Record& record, const UserKey& user);
  /// Appends the row of that place to the rows in memory. Does nothing if the place has no row.
  void Append(size_t number, const UserKey& user);
  /// Bytes in memory, since the last Freeze.
  uint64_t bytes() const { return rows_->bytes(); }
  void Freeze();

  /// Any thread. All bytes in memory, frozen or not.
  uint64_t AllBytes() const;
  /// Whether the store still has days that must be dropped.
  bool HasChanges() const override;
  /// Says which days are kept.
  Status Begin(Checkpoint& checkpoint, CheckpointWriter& writer) override;
  /// Writes the frozen rows.
  Status Write(Checkpoint& checkpoint, CheckpointWriter& writer) override;
  void Committed(const Checkpoint& checkpoint) override;

  /// No row of this day or a later one is missing.
  Day WholeFrom() const { return {whole_from_.load(std::memory_order_acquire)}; }
  struct Question {
    FilterId filter;
    UserKey user;
    std::optional<Day> erased;  // of the user's delta
    TimeMs since;
    std::optional<JournalPlace> from;  // rows from there on, the one there included
  };
  /// False: no more.
  using Visit = std::function<bool(const JournalPlace& place, const JournalRow& row)>;
  /// Visits the user's rows of the filter, newest first.
  Status Read(const Question& question, const Visit& visit) const;

 private:
  struct Noted {
    size_t number;
    size_t from, to;  // in block_bytes_
  };
  struct TailRow;
  static void Collect(const UserRows::Row* newest, std::optional<Day>& hidden, std::vector<TailRow>& out);
  static void Arrange(Day erased, std::vector<TailRow>& rows);
  std::shared_ptr<UserRows> Frozen() const;
  void NoteStored();
  Result<std::optional<Day>> StoredErasure(const UserKey& user) const;

  const JournalPolicy policy_;
  const Options options_;
  const PartitionStore& store_;
  const std::shared_ptr<TailMemory> memory_;

  // Worker.
  std::vector<Noted> block_;
  size_t next_noted_ = 0;
  std::string block_bytes_;
  JournalRow row_;
  FilterMask row_filters_ = 0;
  std::shared_ptr<UserRows> rows_;

  mutable Mutex mutex_;
  std::shared_ptr<UserRows> active_ GUARDED_BY(mutex_), frozen_ GUARDED_BY(mutex_);

  Day keep_from_, next_whole_from_;  // checkpoint thread
  std::atomic<int32_t> whole_from_;
  std::atomic<int32_t> oldest_day_;  // in the store
};

}  // namespace seen
