#pragma once
// One input partition: records into the tail, the tail into checkpoints, users out to readers.
//
// Threads. Worker (one): Apply, ReachedEnd, CheckpointDue, Freeze. Checkpoint thread (one at a time):
// WriteFrozen. Any thread: ReadUser, AsOf, Status, CaughtUp, SetHighWatermark. The worker never waits for a
// reader: readers share two pointers (tails) under a mutex that is held for their copying alone.

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "decode/event_decoder.h"
#include "filter/snapshot.h"
#include "flow/filter_policy.h"
#include "flow/heavy_users.h"
#include "flow/item_groups_port.h"
#include "flow/log_port.h"
#include "flow/partition_journal.h"
#include "flow/publish_flow.h"
#include "flow/reporter.h"
#include "flow/republisher.h"
#include "flow/status.h"
#include "flow/store_port.h"
#include "flow/tail.h"
#include "flow/unexposed_flow.h"
#include "model/delta_seen.h"
#include "model/partitioner.h"

namespace seen {

struct PartitionOptions {
  int32_t partition = 0;
  int32_t partition_count = 1;
  Partitioner partitioner = Partitioner::kMurmur2;
  std::vector<FilterPolicy> filters;  // in configuration order, with this store's ids
  std::shared_ptr<const EventPlan> plan = EventPlan::Default();  // how events are written
  uint64_t event_bytes_max = 1 << 20;
  std::chrono::milliseconds future_skew_max{300'000};
  uint64_t tail_bytes_max = 64 << 20;  // of each of the two tails, with the journal's rows
  std::optional<JournalPolicy> journal;
  std::chrono::milliseconds checkpoint_interval{10'000};
  uint32_t level0_files_max = 12;
  // Beyond both, publication is left to marks: a second of a fast topic is many messages, and a topic of old
  // records that is read up to its end isn't behind.
  int64_t behind_lag_messages = 10'000;
  std::chrono::milliseconds behind_age{2'000};  // of the newest record at hand
  size_t publish_entries_max = 500'000;
  std::optional<UnexposedPolicy> unexposed;
  // The store's number of each declared kind, by the configuration's (minus kDeclaredKindFirst).
  std::array<uint8_t, kDeclaredKindsMax> kinds{};
  /// Which items are like which, for filters with `similar` on. nullptr: nobody knows. Outlives the flow.
  const ItemGroups* groups = nullptr;
  double sweep_users_per_second = 2'000;  // published at most by the daily sweep
};

class PartitionFlow {
 public:
  /// `position`: as stored; nullopt for a new store, which starts at `start_offset`. `high_watermark`: the
  /// end of the log now; the partition is caught up once it has read up to there. All references outlive
  /// this.
  PartitionFlow(PartitionOptions options, const std::optional<Position>& position, int64_t start_offset,
                int64_t high_watermark, PartitionStore& store, DeadLetterSink& dead_letters,
                Reporter& reporter, const Clock& clock);

  /// Where reading must start: at the anchor where there is one, so that the log can be told from a recreated
  /// one, otherwise at the next offset; never below `low_watermark`. Before the first Apply.
  int64_t ReadFrom(int64_t low_watermark);

  /// Worker. Takes `records` (ascending, all of this partition) in order and returns how many it took: fewer
  /// than all while the tail is full or the dead-letter queue is; call again with the rest once Freeze or
  /// time has made room. Records below the next offset are skipped. kRefused: the log isn't the one that was
  /// read.
  Result<size_t> Apply(std::span<const Record> records);
  /// Worker. The log's end is at `end_offset`, everything before it was delivered.
  void ReachedEnd(int64_t end_offset);
  /// Worker. Retention deleted [next offset, low): go on from `low`; the range is kept, counted and shown.
  void SkipLost(int64_t low);

  /// Worker. There is something to write, it is time (or the tail is full), and the store can take it.
  bool CheckpointDue() const;
  /// Worker. Why records can't be taken now; empty: they can.
  std::string_view HeldBy() const;
  /// Worker. Makes the tail the frozen one and opens a new one. Only while nothing is frozen (checked).
  void Freeze();
  bool HasFrozen() const { return has_frozen_.load(std::memory_order_acquire); }
  /// Worker, while stopping or for tests: freeze even if nothing is due.
  bool HasChanges() const;

  /// Checkpoint thread. Dead letters in the frozen range are still unacknowledged: better wait a little.
  bool AwaitsDeadLetters() const;
  /// Checkpoint thread. Writes the frozen tail, its marks and its position as one step. On an error
  /// everything stays as it was and a further call tries again. Returns what the group may be told is done.
  Result<int64_t> WriteFrozen();

  /// Any thread. All that is known of the user: store, frozen tail, active tail.
  Result<Delta> ReadUser(size_t filter_index, const UserKey& user) const;
  /// Any thread. The same, as an answer needs it: what counts by `limits`, the filter's. `reader`: the
  /// thread's.
  Status ReadSeen(size_t filter_index, const UserKey& user, const AnswerLimits& limits,
                  SeenReader& reader) const;
  /// Any thread. Renders the user's snapshot of a filter; `user_id` is set from the state, empty if unknown.
  Status RenderUser(size_t filter_index, const UserKey& user, const SnapshotShape& shape,
                    std::string& user_id, std::string& bytes) const;

  /// Publisher thread: the same for a group at once, in the shapes of the filters' policies. Of users who
  /// have seen nothing `bytes` is empty: a tombstone.
  Status RenderUsers(std::span<PublishFlow::Rendering> group) const;
  /// Publisher thread: a little of what is due by time alone. Not while the partition is behind.
  Status Republish();
  /// Publisher thread: a page of marks, as publish().WantsScan() asked for it.
  void MarksScanned(std::span<const Mark> marks, size_t limit);

  AsOf GetAsOf() const;
  bool CaughtUp() const { return caught_up_.load(std::memory_order_acquire); }
  int64_t next_offset() const { return next_offset_.load(std::memory_order_acquire); }
  int64_t LagMessages() const;
  void SetWatermarks(int64_t low, int64_t high);
  void AcknowledgeLostRanges();
  PartitionStatus GetStatus() const;

  /// nullptr: none is kept.
  const PartitionJournal* journal() const { return journal_.get(); }
  PublishFlow& publish() { return publish_; }
  Republisher& republisher() { return republisher_; }
  /// Publisher thread: tells of unexposed items, where that is configured.
  Status StepUnexposed(SnapshotSink& sink, uint64_t ticket_tag);
  UnexposedFlow* unexposed() { return unexposed_.get(); }
  const PartitionOptions& options() const { return options_; }

 private:
  struct Frozen {
    std::shared_ptr<Tail> tail;
    Position position;
    std::deque<Anchor> rejected;  // dead letters below position.next_offset that may be unacknowledged
    Instant at{};
    int64_t next_since_ms = 0;  // the tail after it was begun
    bool has_served = false;
    std::unique_ptr<UnexposedLog> unexposed;
    bool has_erased = false;
  };
  struct Tails {
    std::shared_ptr<Tail> active;
    std::shared_ptr<Tail> frozen;
  };

  Status CheckAnchor(const Record& record);
  bool IsBehind(const Record& newest) const;
  // Records decoded before the first of them touches the tail: enough to hide its cache misses, few enough to
  // stay in the first-level cache.
  static constexpr size_t kBlockRecords = 32;
  // A record of the block under way, decoded.
  struct Exposure {
    UserKey user;
    const char* user_id;  // in block_ids_
    uint16_t user_id_bytes;
    FilterMask filters;             // 0: nothing becomes of it
    uint32_t id_check;              // the partitioner's hash
    uint32_t items_from, items_to;  // in block_items_
    TimeMs exposed_at;
    uint32_t record;  // its place among the records given
    ChangeKind kind;
    SkipReason skip;  // if any, the record's place is all there is
    Tail::UserSlot* slot;
  };
  static_assert(sizeof(Exposure) == 64);
  Result<size_t> ReadBlock(std::span<const Record> records);
  std::optional<Rejection> ReadRecord(const Record& record, uint32_t number);
  ChangeKind ChangeOf(EventKind kind) const;
  bool Concerns(const FilterPolicy& filter, const Event& event, TimeMs record_timestamp) const;
  FilterMask FiltersOf(const Event& event, FilterMask covering, TimeMs record_timestamp) const;
  void Skip(SkipReason reason, uint32_t record);
  void JoinBlock(BatchReport& report);
  void AppendSimilar(const Exposure& exposure, uint32_t first_item, uint32_t end_item, ChangeKind kind,
                     FilterMask filters);
  size_t AppendBlock(std::span<const Record> records, size_t read, BatchReport& report);
  void Append(const Exposure& exposure, const Record& record, BatchReport& report);
  void ReadDetails(const Event& event);
  void AppendByCreation(const Exposure& exposure, const Record& record);
  void AppendOther(const Exposure& exposure, uint32_t second, BatchReport& report);
  void NoteUnexposed(const Exposure& exposure, const Record& record);
  bool TailIsFull() const;
  void NoteTaken(const Record& record, BatchReport& report);
  void NoteDirty(Tail::UserSlot& slot, FilterMask filters, TimeMs record_timestamp);
  bool Reject(const Record& record, const Rejection& rejection, BatchReport& report);
  void NoteMisrouted(const Record& record, std::string_view user_id, int32_t expected);
  Tails GetTails() const;
  static std::string_view ReadTails(const Tails& tails, FilterMask filters, const UserKey& user,
                                    std::vector<Change>& changes);
  void NoteRead(size_t filter_index, const UserKey& user, const SeenReader& reader) const;
  SnapshotMeta MetaAt(TimeMs wall_now, size_t filter_index) const;
  static Status Render(const FilterPolicy& filter, const SnapshotShape& shape, const SnapshotMeta& meta,
                       SeenReader& reader, std::string& bytes);
  Status WriteUsers(const Frozen& frozen, CheckpointWriter& writer, CheckpointReport& report);
  Status WriteMarks(const std::vector<const Tail::UserSlot*>& users, CheckpointWriter& writer,
                    CheckpointReport& report);
  Status WriteEndings(CheckpointWriter& writer);
  Status WriteResolving(const Frozen& frozen, CheckpointWriter& writer);
  Status WriteServed(const Frozen& frozen, CheckpointWriter& writer);
  void NoteEndings(const FilterPolicy& filter, const UserKey& user, std::span<const Change> changes);
  Result<std::string> StoredId(const UserRef& user) const;
  void NoteCaughtUp();

  const PartitionOptions options_;
  PartitionStore& store_;
  DeadLetterSink& dead_letters_;
  Reporter& reporter_;
  const Clock& clock_;
  std::vector<size_t> filters_by_id_;  // indices into options_.filters, ascending by id: the store's order
  FilterMask all_filters_ = 0;
  FilterMask published_filters_ = 0;
  FilterMask by_creation_ = 0;
  const FilterMask similar_;  // filters that record what is similar
  PublishFlow publish_;
  Republisher republisher_;
  std::unique_ptr<UnexposedFlow> unexposed_;  // nullptr: nobody is told
  mutable HeavyUsers heavy_users_;            // readers' by-product

  // Worker.
  EventDecoder decoder_;
  std::vector<Exposure> block_;
  std::vector<Fingerprint> block_items_;
  std::vector<Day> block_created_;            // of block_items_, where a filter goes by it
  std::vector<Fingerprint> block_similar_;    // of all items of the block, one item's after another's,
  std::vector<uint32_t> block_similar_ends_;  // and where each one's end; empty: no item has any
  struct StagedServed {
    uint32_t record;
    uint16_t place;
    std::string text;
  };
  std::vector<StagedServed> block_served_;  // where unexposed ones are told of
  std::unique_ptr<char[]> block_ids_;
  size_t block_id_bytes_ = 0;
  std::optional<Rejection> block_rejection_;  // of the record that ended the block
  std::vector<DirtyUser> dirty_;
  std::vector<Tail::UserSlot*> dirty_slots_;
  std::vector<TimeMs> exposed_;
  uint32_t batch_number_ = 0;
  bool dead_letters_full_ = false;
  bool defer_ = true;
  Anchor anchor_;           // last record read
  bool anchor_is_checked_;  // the log is known to be the one that was read
  std::deque<Anchor> rejected_;
  bool user_keys_met_ = false;
  Instant last_freeze_;
  const std::shared_ptr<TailMemory> tail_memory_;
  std::shared_ptr<Tail> tail_;  // the active one, also in tails_
  bool tail_has_served_ = false;
  bool tail_has_erased_ = false;
  std::unique_ptr<UnexposedLog> unexposed_log_;  // with unexposed_: the active tail's
  std::atomic<int64_t> tails_since_ms_;          // the older tail was begun
  int64_t tail_since_ms_;                        // and the active one
  std::atomic<int64_t> checkpoint_time_ms_{0};   // partition time that the store holds
  const std::unique_ptr<PartitionJournal> journal_;

  mutable std::mutex tails_mutex_;
  Tails tails_;  // tails_mutex_

  // Checkpoint thread, of the checkpoint under way.
  std::vector<Ending> endings_;
  std::vector<UserRef> erased_;
  Republisher::Changes republished_;
  std::optional<ServedRow> first_served_;

  std::unique_ptr<Frozen> frozen_;  // handed from worker to checkpoint thread by has_frozen_
  std::atomic<bool> has_frozen_{false};

  std::atomic<int64_t> next_offset_;
  std::atomic<int64_t> partition_time_ms_;
  std::atomic<int64_t> low_watermark_{-1};
  std::atomic<int64_t> high_watermark_;
  std::atomic<int64_t> checkpoint_offset_;
  std::atomic<bool> caught_up_{false};
  std::atomic<bool> lost_ranges_changed_{false};
  const int64_t caught_up_at_;

  mutable std::mutex status_mutex_;  // all below
  std::vector<LostRange> lost_ranges_;
  uint64_t misrouted_ = 0;
  MisroutedExample misrouted_last_;
  std::optional<TimeMs> last_checkpoint_at_;
  CheckpointReport last_checkpoint_;
  std::string checkpoint_problem_;
};

}  // namespace seen
