#pragma once
// The daemon's copy of the topic of groups: one RocksDB, shared by all partitions, with a cache in front.
//
// Threads. Writer (one): Identify, PositionOf, Apply, Reset, Flush. Any thread: the rest. A reader sees a
// record as soon as Apply returns. The table is a copy, so there is no write-ahead log. Rows and positions go
// into one memtable and reach the disk together. A crash loses the newest of both, and the daemon reads them
// from the topic again.

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/log_budget.h"
#include "rocks/resources.h"
#include "similar/port/item_groups.h"
#include "similar/store/group_memory.h"
#include "similar/store/group_records.h"

namespace rocksdb {
class FileSystem;
}

namespace seen {

struct GroupTableOptions {
  std::string path;  // the database's folder; created if missing
  int32_t window_days = 30;
  uint64_t memory_bytes = 16 << 20;  // for cache and presence; the block cache is in `resources`
  StoreResources resources;
  const Clock* clock = nullptr;  // outlives the table
  std::chrono::milliseconds future_skew_max{300'000};
  std::shared_ptr<rocksdb::FileSystem> file_system;  // nullptr: the default one
};

/// A record of the topic. Views are valid while Apply runs.
struct GroupRecord {
  std::string_view item_id;
  const ItemGroup* group = nullptr;  // nullptr: the item was taken out
  std::string_view json;             // `group` as it came; empty if there is none
  TimeMs timestamp;                  // of the record
};

struct GroupTableFigures {
  uint64_t rows = 0;  // an estimate
  uint64_t bytes = 0;
  uint64_t disk_reads_total = 0;  // reads that the cache couldn't answer
  uint64_t errors_total = 0;
  uint64_t too_far_ahead_total = 0;  // records whose item was ahead of the clock: it moved no window
  uint64_t memory_bytes = 0;         // of cache and presence
};

class GroupDatabase;

class RocksGroupTable final : public ItemGroups {
 public:
  /// Drops a table that can't be read, or whose stored time is ahead of the clock (StoredTimeMax). `dropped`
  /// says why, for people. The topic has all of its records.
  static Result<std::unique_ptr<RocksGroupTable>> Open(GroupTableOptions options, std::string* dropped);
  ~RocksGroupTable() override;

  /// Says of which topic and which brokers the records are. True: the table had rows of another topic, and
  /// has dropped them.
  Result<bool> Identify(std::string_view cluster, std::string_view topic, int32_t partitions);

  using Position = group_rows::Position;
  /// nullopt: the table has nothing of the partition.
  Result<std::optional<Position>> PositionOf(int32_t partition) const;
  /// Writes the records, in the order of their offsets, together with the position that the partition has
  /// reached.
  Status Apply(int32_t partition, const Position& reached, std::span<const GroupRecord> records);
  /// Forgets everything.
  Status Reset();
  /// Makes everything that was applied durable.
  Status Flush();

  void Prefetch(Fingerprint item) const override;
  void PrefetchSimilar(Fingerprint item) const override;
  void AppendSimilar(Fingerprint item, std::vector<Fingerprint>& out) const override;
  bool AppendGroupAndNear(Fingerprint item, std::vector<Fingerprint>& out) const override;
  Result<std::optional<ItemGroup>> Find(std::string_view item_id) const override;
  Result<std::vector<std::string>> Members(std::string_view group_id, std::string_view after,
                                           size_t limit) const override;
  GroupTableFigures Figures() const;

 private:
  explicit RocksGroupTable(GroupTableOptions options);
  Status Load();
  /// The time of the record's rows: they leave the table by it.
  TimeMs TimeOf(const GroupRecord& record);
  Status BuildPresence();
  size_t SimilarListOf(Fingerprint item, SimilarCache::Fingerprints& similar) const;
  void NoteError(const Error& error) const;

  const GroupTableOptions options_;
  mutable GroupMemory memory_;  // readers fill its cache
  std::unique_ptr<GroupDatabase> database_;
  std::atomic<uint64_t> too_far_ahead_total_{0};  // the writer adds
  LogBudget too_far_ahead_budget_;                // the writer's
  mutable std::atomic<uint64_t> disk_reads_total_{0};
  mutable std::atomic<uint64_t> errors_total_{0};
  mutable LogBudget error_budget_;
};

}  // namespace seen
