#pragma once
// A partition's state in a RocksDB of its own. A checkpoint is a file of sorted keys that is ingested as a
// whole. There is no write-ahead log, and nothing goes through memtables. Formats: schemas/store.md.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "flow/store_port.h"
#include "rocks/resources.h"
#include "rows/descriptor.h"
#include "rows/keys.h"
#include "state_stream/state_port.h"

namespace rocksdb {
class FileSystem;
}

namespace seen {

struct StoreOptions {
  std::string directory;  // a StoreDirectory's, which stays open as long as the store
  StoreIdentity identity;
  std::vector<StoredFilter> filters;  // in the configuration's order; names differ
  StoreResources resources;
  /// All files go through it; nullptr: the operating system's file system.
  std::shared_ptr<rocksdb::FileSystem> file_system = nullptr;
  /// For users read lately: see store/delta_cache.h. 0: none.
  uint64_t delta_cache_bytes = 0;
  /// Keeps a journal. False: an existing journal is dropped.
  bool journal = false;
  std::vector<std::string> kinds = {};   // the declared kinds of all filters; names differ
  std::vector<std::string> topics = {};  // the topics of the filters' snapshots
};

class DeltaCache;

class RocksPartitionStore final : public PartitionStore, public RowSource {
 public:
  /// Creates the store if it is missing. kRefused, with the remedy, if the store's state doesn't fit
  /// `options`. Also kCorrupt, kNoSpace, kUnavailable. Takes under a second for any size.
  static Result<std::unique_ptr<RocksPartitionStore>> Open(StoreOptions options);
  /// Waits until a running compaction stops; loses nothing that was committed.
  ~RocksPartitionStore() override;

  /// The filters' ids, in the configuration's order.
  const std::vector<FilterId>& filter_ids() const;
  /// Ids of filters that the store holds and the configuration doesn't, ascending.
  const std::vector<FilterId>& retired_filters() const;
  /// Topics that the store's snapshots went to and that `options` doesn't name.
  const std::vector<RetiredTopic>& retired_topics() const;
  /// The declared kinds' numbers (of SegmentKind), in the order of StoreOptions.
  const std::vector<uint8_t>& kind_numbers() const;
  /// FilterPolicy::past_kinds of each filter, in the configuration's order.
  const std::vector<std::vector<KindPolicy>>& past_kinds() const;

  /// The descriptor's bytes in the store.
  std::string EncodedDescriptor() const;
  /// Runs beside checkpoints, one cursor at a time. A cursor keeps files from being deleted while it lives,
  /// and holds nothing else.
  Result<std::unique_ptr<RowCursor>> ReadRows() override;
  /// Makes `folder`, which must not exist yet, a copy of the store as of now. The copy links to the store's
  /// files, which takes some milliseconds for any size. Beside checkpoints, any thread. kNoSpace,
  /// kUnavailable.
  Status LinkTo(const std::string& folder);

  Result<std::optional<Position>> ReadPosition() const override;
  Result<std::unique_ptr<CheckpointWriter>> BeginCheckpoint(const Position& position) override;
  Result<bool> ReadDelta(const UserRef& user, std::string& out) const override;
  Status ReadDeltas(std::span<const UserRef> users, std::span<std::string> out) const override;
  Result<std::optional<Mark>> ReadMark(const UserRef& user) const override;
  Result<std::vector<Mark>> ScanMarks(const std::optional<UserRef>& after, size_t limit) const override;
  Result<std::vector<Ending>> ScanEndings(const std::optional<Ending>& after, uint32_t until_s,
                                          size_t limit) const override;
  Result<std::optional<UserRef>> ScanUsers(const std::optional<UserRef>& after, size_t limit,
                                           const VisitUser& visit) const override;
  Result<ServedPage> ScanServed(const std::optional<ServedRow>& after, uint32_t due_s,
                                size_t limit) const override;
  Result<std::string> ReadSweep() const override;
  Status KeepPublished(std::span<const PublishedRow> rows) override;
  Status ReadPublished(std::span<const UserRef> users, std::span<PublishedRow> out) const override;
  Result<std::vector<PublishedRow>> ScanPublished(const std::optional<UserRef>& after,
                                                  size_t limit) const override;
  void SetHorizon(FilterId filter, const Horizon& horizon) override;
  Result<std::optional<Day>> ReadJournalStart() const override;
  Status ReadRows(const UserKey& user, Day from, const std::optional<JournalPlace>& after,
                  const VisitJournalRow& visit) const override;
  std::vector<JournalDay> JournalDays() const override;
  uint32_t Level0Files() const override;
  StoreFigures Figures() const override;

  /// Rewrites everything into one level: merged, expired, smallest. Takes as long as reading and writing the
  /// whole store; reads and checkpoints go on meanwhile.
  Status CompactAll();

 private:
  class Database;
  class Writer;
  class JournalFiles;
  template <typename Visit>
  Status ScanTable(std::string_view what, Table table, std::string_view from, bool exclusive,
                   const Visit& visit) const;
  Status ReadFromDisk(std::span<const UserRef> users, std::span<const size_t> which,
                      std::span<std::string> out) const;
  RocksPartitionStore(std::unique_ptr<Database> database, uint64_t delta_cache_bytes);

  std::unique_ptr<Database> database_;
  std::unique_ptr<DeltaCache> cache_;
};

}  // namespace seen
