#pragma once
// One partition of the ordered topic of items while this daemon owns it. It has its index, the reading that
// makes features of its records, and the sink that sends its groups.

#include <array>
#include <atomic>
#include <functional>
#include <vector>

#include "base/mutex.h"
#include "consume/topic_handler.h"
#include "model/event.h"
#include "owner/lease.h"
#include "similar/groups/item_index_port.h"
#include "similar/port/group_topic.h"
#include "similar/port/options.h"
#include "similar/port/similar_port.h"

namespace seen {

class DeadLetterSink;
class ItemReading;
class LossWatch;
struct ItemsPartitionStatus;
struct PreparedItem;
struct ReadItem;

/// Totals over all partitions since the start.
struct ItemsCounts {
  std::atomic<uint64_t> groups_repaired{0};  // sent again, because others had written different ones
  std::atomic<uint64_t> leases_lapsed{0};
};

struct ItemsHandlerOptions {
  std::string topic;       // that is read
  int32_t partitions = 1;  // of the topic, that languages map to
  GroupOptions groups;     // stored_time_max is set when an index is opened
  std::chrono::milliseconds future_skew_max{0};
  std::chrono::milliseconds checkpoint_interval{0};
  int64_t ready_lag_messages = 0;  // questions are answered with at most this many to read
  std::function<std::unique_ptr<ItemReading>(const FeatureOptions&)> make_reading;
  /// Each opening of a partition gets a sink of its own. Its records name `decided_by`:
  /// similar/port/group_topic.h.
  std::function<Result<std::unique_ptr<GroupSink>>(const std::string& decided_by)> make_sink;
  std::string instance;                 // this daemon's name in records
  OpenGroupTopic watch_groups;          // for the guard of the topic of groups; empty: no guard
  LossWatch* loss = nullptr;            // gets what is rejected; nullptr: nothing watches
  bool counts_events = true;            // for `loss`; false: re-keying has counted the items
  const PublishLease* lease = nullptr;  // groups are sent only while it holds; nullptr: always
  std::function<std::string()>
      awaits;  // why questions can't be answered yet, for people; empty: they can be answered
};

/// Threads: as PartitionHandler. Similar and GetStatus: any thread.
class ItemsPartition final : public PartitionHandler {
 public:
  /// All references must outlive this object.
  ItemsPartition(const ItemsHandlerOptions& options, const Assignment& assignment, ItemIndexes& indexes,
                 DeadLetterSink& dead_letters, ConsumerWait& wait, const Clock& clock, ItemsCounts& counts);
  ~ItemsPartition() override;
  /// Call it once, before everything else. Errors: as TopicHandler::Open.
  Status Open();

  Result<size_t> Handle(std::span<const Record> records) override;
  void ReachedEnd(int64_t end_offset) override;
  void SkipLost(int64_t low) override;
  int64_t next_offset() const override { return next_offset_.load(std::memory_order_acquire); }
  int64_t Begin(int64_t low) override;
  Result<std::optional<int64_t>> Idle() override;
  /// Opens a failed index again, at its last checkpoint.
  Result<int64_t> ReadOn() override;
  void Held() override;
  void Resumed() override;
  void SetWatermarks(const Watermarks& watermarks) override;
  int64_t CommitOffset() const override { return checkpoint_offset_.load(std::memory_order_relaxed); }
  void Close(const Closing& closing) override;

  /// kUnavailable: the index isn't open, or hasn't caught up.
  Result<SimilarAnswer> Similar(const SimilarQuestion& question) const;
  ItemsPartitionStatus GetStatus() const;

 private:
  struct Opened;
  Result<std::shared_ptr<Opened>> OpenIndex();
  std::shared_ptr<Opened> Current() const;
  void LetGo();
  size_t SendLetters(std::span<const Record> records);
  Status Apply(std::span<const Record> records);
  void NoteLosses(size_t taken) const;
  bool HoldsLease();
  bool HasReadAll() const;
  Status RepairGroups(Opened& opened);
  bool CheckpointDue() const;
  Status Checkpoint();
  tl::unexpected<Error> Failed(const Error& error);
  bool CaughtUp() const;
  std::string Name() const;

  const ItemsHandlerOptions& options_;
  const int32_t partition_;
  const int64_t first_low_;   // where a new index begins
  const int64_t first_high_;  // the log's end when the partition was assigned
  const bool was_read_;       // the group has committed an offset
  ItemIndexes& indexes_;
  DeadLetterSink& dead_letters_;
  ConsumerWait& wait_;
  const Clock& clock_;
  ItemsCounts& counts_;

  mutable Mutex opened_mutex_;
  std::shared_ptr<Opened> opened_ GUARDED_BY(opened_mutex_);  // only the worker changes it
  bool held_ GUARDED_BY(opened_mutex_) = false;
  std::string failure_ GUARDED_BY(opened_mutex_);  // the index's last failure, until a checkpoint is written

  // The worker's.
  std::vector<ReadItem> read_;
  std::vector<PreparedItem> prepared_;
  bool one_by_one_ = false;           // the last Take had no space for all records
  int64_t letters_to_ = 0;            // dead letters of records below it were sent
  Instant checkpoint_at_{};           // time of the last checkpoint
  std::optional<Instant> due_since_;  // since when a checkpoint is due; until it is written nothing is taken
  bool held_lease_ = false;           // the lease held when the last group was sent
  bool repaired_ = false;             // groups were sent again since the last checkpoint

  std::atomic<bool> lease_lapsed_{false};
  std::atomic<int64_t> next_offset_{0};
  std::atomic<int64_t> checkpoint_offset_{-1};
  std::atomic<int64_t> high_watermark_{-1};
  std::atomic<uint64_t> lost_{0};
  std::atomic<uint64_t> cut_texts_{0};
  std::array<std::atomic<uint64_t>, kRejectReasons> rejected_{};
  std::atomic<uint64_t> checkpoints_{0};
  std::atomic<int64_t> checkpoint_us_{0};
};

}  // namespace seen
