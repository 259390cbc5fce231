#pragma once
// The options of a partition's flow.

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "base/mutex.h"
#include "decode/event_decoder.h"
#include "flow/filter_policy.h"
#include "flow/store_port.h"
#include "flow/unexposed_log.h"
#include "model/partitioner.h"
#include "similar/port/item_groups.h"

namespace seen {

/// store.explain_mib, which a daemon's partitions share: which days of the journal must be dropped. Any
/// thread.
class JournalBudget {
 public:
  explicit JournalBudget(uint64_t bytes_max) : bytes_max_(bytes_max) {}

  /// `days`: all that the partition has now.
  void Report(int32_t partition, std::vector<JournalDay> days);
  /// The partition was closed: its days belong to another daemon.
  void Forget(int32_t partition) { Report(partition, {}); }

  /// Each partition drops its days before this one: together with the newer days they exceed the budget. It
  /// is at most the day after the newest day, if that day alone exceeds the budget.
  Day Floor() const { return {floor_.load(std::memory_order_relaxed)}; }

 private:
  static constexpr int32_t kNone = std::numeric_limits<int32_t>::min();
  const uint64_t bytes_max_;
  std::atomic<int32_t> floor_{kNone};
  Mutex mutex_;
  std::map<int32_t, std::vector<JournalDay>> partitions_ GUARDED_BY(mutex_);
};

/// Null in PartitionOptions: no journal.
struct JournalPolicy {
  int32_t days = 0;  // how many days before today are kept
  std::shared_ptr<JournalBudget> budget;
};

/// Records what each checkpoint changed. Implemented by state_stream/.
class CheckpointRecorder {
 public:
  virtual ~CheckpointRecorder() = default;
  /// Wraps `writer`: what is written through the wrapper is recorded once it has committed. Checkpoint
  /// thread.
  virtual std::unique_ptr<CheckpointWriter> Record(std::unique_ptr<CheckpointWriter> writer,
                                                   const Position& position) = 0;

  // Control thread, while no checkpoint runs.
  /// From now on, another member of the group may own the partition: nothing is recorded.
  virtual void Pause() = 0;
  /// This process owns the partition again.
  virtual void Resume() = 0;
};

/// How updates leave (flow/update_stream.h).
struct UpdatePolicy {
  uint64_t bytes_max = 16 << 20;  // of rows that no broker has yet, for each partition
  // A round of the refresh takes so long. A partition that is further behind sends no rows: its snapshots are
  // out sooner.
  std::chrono::milliseconds refresh_every{1'800'000};
  int64_t generation_if_none = 1;  // for a state that has none: 1 or more, at random
};

struct PartitionOptions {
  int32_t partition = 0;
  int32_t partition_count = 1;
  Partitioner partitioner = Partitioner::kMurmur2;
  std::vector<FilterPolicy> filters;  // in configuration order, with this store's ids
  FilterMask covered = kEveryFilter;  // events count only in these
  // Filters in the store, ascending, that left the configuration. An erasure is written for these, too.
  std::vector<FilterId> retired_filters;
  // Topics that still hold snapshots. An erasure sends a tombstone to each of them.
  std::vector<RetiredTopic> retired_topics;
  std::shared_ptr<const EventPlan> plan = EventPlan::Default();  // how events are written
  uint64_t event_bytes_max = 1 << 20;
  std::chrono::milliseconds future_skew_max{300'000};
  std::chrono::milliseconds replay_idle{60'000};  // a replay has ended if no record of it comes for this long
  uint64_t tail_bytes_max = 64 << 20;             // of each of the two tails, with the journal's rows
  std::optional<JournalPolicy> journal;
  std::chrono::milliseconds checkpoint_interval{10'000};
  uint32_t level0_files_max = 16;
  // Beyond both, publication is left to marks. The lag alone isn't enough: one second of a fast topic is many
  // messages. The age alone isn't enough: a topic of old records that is read up to its end isn't behind.
  int64_t behind_lag_messages = 10'000;
  std::chrono::milliseconds behind_age{2'000};  // of the newest record at hand
  size_t publish_entries_max = 500'000;
  std::optional<UnexposedPolicy> unexposed;
  std::optional<UpdatePolicy> updates;  // nullopt: no filter has `updates`
  // The store's number of each declared kind, by the configuration's number minus kDeclaredKindFirst.
  std::array<uint8_t, kDeclaredKindsMax> kinds{};
  /// Which items are similar, for filters with `similar` on. nullptr: not known. Outlives the flow.
  const ItemGroups* groups = nullptr;
  /// Records each checkpoint. nullptr: nothing is recorded.
  std::shared_ptr<CheckpointRecorder> recorder;
  bool publish_incomplete = false;        // render from the state alone: see flow/last_published.h
  double sweep_users_per_second = 2'000;  // published at most by the daily sweep
};

/// Begins a checkpoint that `options.recorder`, if there is one, records.
Result<std::unique_ptr<CheckpointWriter>> BeginCheckpoint(const PartitionOptions& options,
                                                          PartitionStore& store, const Position& position);

/// Filters of a partition, by what the flow does with them.
struct FilterMasks {
  explicit FilterMasks(const PartitionOptions& options);

  FilterMask all = 0;
  FilterMask published = 0;
  FilterMask by_creation = 0;      // their windows use the item's time of creation
  FilterMask similar = 0;          // they record what is similar to exposed items
  FilterMask updates = 0;          // what is new is published at once, too
  std::vector<FilterIndex> by_id;  // indices into options.filters, ascending by id: the store's order
};

}  // namespace seen
