#pragma once
// A partition's additions on their way to the topic of updates (schemas/update.md): the worker adds rows; the
// updates' thread makes records of them, and keeps each until a broker has it.
//
// What no broker has holds the checkpoint's offset back (Held). So after a crash it is read and sent again.
// Rows that wait for longer than kPatience, or exceed their memory, are dropped: the `from` and `part` of the
// next record show the gap. If the topic is made anew or loses its end, that is a gap, too. A record that
// says "taken back" ends there, so that the user's next snapshot covers all before it.

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "flow/partition_state.h"
#include "flow/reporter.h"
#include "flow/store_port.h"
#include "model/update.h"

namespace seen {

class UpdateStream {
 public:
  static constexpr std::chrono::seconds kPatience{60};
  static constexpr uint32_t kTries = 3;
  /// A quiet partition sends a record without rows as often, so that readers know how fresh they are.
  static constexpr std::chrono::seconds kQuietEvery{1};
  /// If it took no step for as long, another owner may have written rightly meanwhile.
  static constexpr std::chrono::seconds kAbsence{3};

  /// `state` outlives this.
  explicit UpdateStream(const PartitionState& state);

  /// A batch of the worker. While it exists, no record is made.
  class Batch {
   public:
    /// `last_read`: of the record before the batch. `visible_at`: its events are visible soon. `skips`: the
    /// rows of this batch are left out.
    Batch(UpdateStream& stream, const Anchor& last_read, Instant visible_at,
          bool skips) NO_THREAD_SAFETY_ANALYSIS;
    ~Batch() NO_THREAD_SAFETY_ANALYSIS;
    Batch(const Batch&) = delete;
    Batch& operator=(const Batch&) = delete;

    /// `filters`: those to which the items count; the ones without updates are left out. `offset`: of the
    /// record.
    void Add(FilterMask filters, AdditionKind kind, uint32_t until_s, std::string_view user_id,
             std::span<const Fingerprint> items, int64_t offset) NO_THREAD_SAFETY_ANALYSIS;
    /// The record at `offset` takes something back. It ends what is sent with it.
    void TakesBack(int64_t offset) { ends_after_ = offset; }
    /// All of the record at `offset` was added. `timestamp`: -1 if its latency doesn't count.
    void Taken(int64_t offset, TimeMs timestamp) NO_THREAD_SAFETY_ANALYSIS {
      stream_.rows_.Mark();
      if (timestamp.value >= 0) stream_.waiting_.Add(timestamp, visible_at_);
      if (ends_after_ == offset) [[unlikely]]
        EndRecord(offset + 1);
    }

   private:
    void EndRecord(int64_t to) NO_THREAD_SAFETY_ANALYSIS;
    void MakeRoom(int64_t offset) NO_THREAD_SAFETY_ANALYSIS;
    void EndPiece() NO_THREAD_SAFETY_ANALYSIS;
    void EndPart(int64_t offset) NO_THREAD_SAFETY_ANALYSIS;

    UpdateStream& stream_;
    const Instant visible_at_;
    const bool skips_;
    int64_t ends_after_ = -1;
    int64_t added_ = -1;  // the record that rows were added of last
  };

  // The updates' thread.
  /// Makes a record of what waits, and drops what has waited too long.
  void Step(Instant now, TimeMs wall);
  /// Forgets everything: this process's group doesn't own the outputs.
  void Discard();
  /// The next record that isn't sent; nullopt: there is none. Valid until the next call of this thread.
  struct Outgoing {
    uint32_t number;
    std::string_view bytes;
  };
  std::optional<Outgoing> NextUnsent();
  void Sent(uint32_t number);
  /// `offset`: of the topic of updates; -1: the record was given up, and is sent again. `refusal`: why.
  void Delivered(uint32_t number, int64_t offset, Instant now, TimeMs wall, std::string_view refusal = {});
  /// The topic refuses the record, or the batch that it was in. After kTries it is dropped, as old rows are.
  void TooLarge(uint32_t number, std::string_view refusal = {});
  /// Hands latencies to the reporter, as of snapshots that were acknowledged, records of other writers, and
  /// gaps.
  void Report(Reporter& reporter);
  /// Records that no broker has.
  size_t Outstanding() const;

  /// Any thread. Where reading must begin after a crash; nullopt: brokers have everything.
  struct Held {
    int64_t offset = 0;  // all before it is sent
    Anchor anchor;       // of the last record before it
  };
  std::optional<Held> HeldAt() const;
  /// Any thread. An offset in the topic of updates: what leads beyond `published_to` stands there or behind
  /// it. -1: not known.
  int64_t TopicOffsetFor(int64_t published_to);

  /// Any thread. Additions below it were dropped; -1: none were.
  int64_t GapTo() const;

  UpdateFigures GetFigures() const;

 private:
  // The events of a record, for latencies.
  struct Waiting {
    FilterMask filters = 0;
    uint64_t events = 0;
    TimeMs oldest;         // Kafka timestamp
    Instant visible_at{};  // of the first

    void Add(TimeMs timestamp, Instant at) {
      if (events++ == 0) {
        oldest = timestamp;
        visible_at = at;
      } else if (timestamp < oldest) {
        oldest = timestamp;
      }
    }
  };
  struct Record {
    uint32_t number = 0;
    Waiting waiting;
    int64_t to = 0;
    Held held;
    Instant at{};
    uint64_t items = 0;
    std::string bytes;
    bool is_part = false;   // of an event that goes on in the next record
    bool is_quiet = false;  // it holds nothing, and covers nothing
    bool sent = false, delivered = false;
    uint32_t too_large = 0;  // how often it was
    bool is_done() const { return delivered || too_large >= kTries; }
  };
  // The topic held all additions below `to` at this offset.
  struct Sample {
    int64_t to = 0, offset = 0;
    Instant at{};
  };

  void EndRecordAt(int64_t to, TimeMs as_of, Instant now) REQUIRES(mutex_);
  /// nullptr: it was dropped meanwhile.
  Record* Find(uint32_t number) REQUIRES(mutex_);
  void DropDone() REQUIRES(mutex_);
  /// `cause`: a clause, for people.
  void CountGap(std::string_view cause) REQUIRES(mutex_);
  void DropFront(std::string_view cause) REQUIRES(mutex_);
  void DropAll(std::string_view cause) REQUIRES(mutex_);
  FilterMask Compressed(FilterMask filters) REQUIRES(mutex_);

  const PartitionState& state_;
  const uint64_t bytes_max_;
  std::vector<std::string> names_;  // of the filters with updates

  mutable Mutex mutex_;
  int64_t from_ GUARDED_BY(mutex_);       // of the record that is being filled
  uint32_t part_ GUARDED_BY(mutex_) = 0;  // of the event at from_: how many records went before it
  Held held_ GUARDED_BY(mutex_);          // where reading must begin to fill it again
  Held batch_held_ GUARDED_BY(mutex_);
  UpdateRows rows_ GUARDED_BY(mutex_);
  Waiting waiting_ GUARDED_BY(mutex_);  // for the record that is being filled
  bool skipping_ GUARDED_BY(mutex_) = false;
  int64_t gap_to_ GUARDED_BY(mutex_) = -1;
  int64_t stepped_to_ GUARDED_BY(mutex_) = -1;  // by the last record of Step
  Instant stepped_at_ GUARDED_BY(mutex_){};
  std::deque<Record> records_ GUARDED_BY(mutex_);      // that no broker has; their numbers are consecutive
  std::vector<std::string> spare_ GUARDED_BY(mutex_);  // memory of former records
  uint32_t next_number_ GUARDED_BY(mutex_) = 0;
  uint64_t bytes_ GUARDED_BY(mutex_) = 0;         // of records_
  int64_t delivered_at_ GUARDED_BY(mutex_) = -1;  // the offset of the last record that a broker took
  bool writes_alone_ GUARDED_BY(mutex_) = false;  // since then, as far as this process knows
  Instant last_step_ GUARDED_BY(mutex_){};
  uint64_t foreign_ GUARDED_BY(mutex_) = 0;        // records of other writers, since the last Report
  uint64_t new_gaps_ GUARDED_BY(mutex_) = 0;       // likewise
  std::string_view gap_cause_ GUARDED_BY(mutex_);  // of the last one; a literal
  std::deque<Sample> samples_ GUARDED_BY(mutex_);
  struct Latencies {
    LatencyCounts visible_to_published, record_to_published;
  };
  std::vector<Latencies> latencies_ GUARDED_BY(mutex_);  // by filter, since the last Report
  UpdateFigures figures_ GUARDED_BY(mutex_);
  std::pair<FilterMask, FilterMask> compressed_ GUARDED_BY(mutex_){0,
                                                                   0};  // the last mask, and what it became
};

}  // namespace seen
