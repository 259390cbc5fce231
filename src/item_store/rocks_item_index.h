#pragma once
// The index of items on disk: schemas/store.md, "The index of items". A RocksDB of its own without a
// write-ahead log: nothing reaches the disk but by Checkpoint, all of it at once, as files that are ingested
// together. Until then it is in memory (item_index_tail.h), where reads look first.

#include <rocksdb/db.h>
#include <rocksdb/env.h>

#include <atomic>
#include <memory>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

#include "group/idf_table.h"
#include "item_store/item_index_families.h"
#include "item_store/item_index_generation.h"
#include "item_store/item_index_tail.h"
#include "item_store/item_point_reads.h"
#include "items/item_index_port.h"
#include "items/item_window.h"
#include "rocks/listener.h"
#include "rocks/resources.h"

namespace seen {

struct ItemIndexOptions {
  std::string directory;  // of the store
  int32_t partition = 0;  // of the ordered topic
  IndexGeneration generation;
  std::shared_ptr<const IdfTable> idf;  // as configured; sets generation.idf_version
  std::string idf_text;                 // its text form
  StoreResources resources;
  uint64_t presence_bytes_max = 256 << 20;  // of what is held in memory of all items: item_presence.h
  std::shared_ptr<rocksdb::FileSystem> file_system = nullptr;  // for tests; nullptr: the disk
};

class RocksItemIndex final : public ItemIndex {
 public:
  /// Opens or makes "item-index-<partition>" of the directory. kRefused, naming key, both values and the
  /// remedy, where it was built with other settings. With another idf table it goes on with its own copy of
  /// the one it was built with, and a warning says so.
  static Result<std::unique_ptr<RocksItemIndex>> Open(ItemIndexOptions options);
  /// Removes it wholly, or (after a crash) not at all; none is no error. It must not be open.
  static Status Remove(const std::string& directory, int32_t partition);
  static std::string PathOf(const std::string& directory, int32_t partition);
  ~RocksItemIndex() override;

  /// The table that the index was built with: features must be made with it.
  const std::shared_ptr<const IdfTable>& idf() const { return options_.idf; }

  Status Find(std::optional<std::string_view> item_id, std::optional<uint64_t> content_hash,
              int32_t first_bucket, KnownItem& out) const override;
  Status Candidates(const CandidateQuery& query, uint32_t entries_max, CandidateLists& out) const override;
  Status Items(std::span<const ItemRef> items, std::vector<std::optional<StoredItem>>& out) const override;
  Status Groups(std::span<const ItemRef> items, std::vector<std::optional<StoredGroup>>& out) const override;
  Status Members(ItemRef first, std::vector<ItemRef>& out) const override;
  Status Write(const IndexChange& change) override;
  Status Checkpoint(const IndexPosition& position, int32_t first_bucket) override;
  Result<std::optional<IndexPosition>> ReadPosition() const override;
  uint64_t unsaved_bytes() const override;
  uint64_t bytes() const override;

  /// Merges all files of a bucket into one sorted run each. For measurements.
  Status CompactAll();

 private:
  explicit RocksItemIndex(ItemIndexOptions options);
  Status Prepare();  // the folder, and what it is built with
  Status TakeOwnIdf(const IndexGeneration& stored);
  Status OpenRocks();
  Status FindPresent(const BucketFamily& family) const;
  std::string What(std::string_view action) const;
  Error Corrupt(std::string_view what) const;
  Status Stop(const rocksdb::Status& status, std::string_view action);

  class Lister;
  struct File;
  static ItemPointReads& Reads();
  // Under mutex_, and what they read counts while it is held.
  rocksdb::Status Read(const BucketFamily& family, ItemPointReads& reads) const;
  static void WantPresent(const BucketFamily& family, ItemPointReads& reads);
  template <typename Decoded>
  Status ReadRows(ItemTable table, std::span<const ItemRef> items,
                  std::optional<Decoded> (*decode)(std::string_view),
                  std::vector<std::optional<Decoded>>& out) const;
  rocksdb::Status MakeFamily(int32_t bucket, ItemIndexFamilies::Pointer& family);
  // What the method doesn't ask for isn't listed.
  bool ListsSimHashes() const { return options_.generation.method != "minhash"; }
  bool ListsBands() const { return options_.generation.method != "simhash"; }
  uint64_t PresenceBytesMax() const { return options_.presence_bytes_max / kBucketsKept; }
  rocksdb::Status WriteAdded(const IndexChange::Added& added);
  rocksdb::Status WriteTaken(const IndexChange::Taken& taken);
  rocksdb::Status WriteListed(const IndexChange::Listed& listed);
  void WriteGroups(const IndexChange& change);
  std::string FilePath(std::string_view family) const;
  void RemoveFiles() const;
  rocksdb::Status WriteFiles(const IndexPosition& position, std::vector<File>& files) const;
  rocksdb::Status Ingest(std::span<const File> files);

  ItemIndexOptions options_;
  const std::string path_;
  const std::shared_ptr<BackgroundErrors> errors_;
  const std::shared_ptr<rocksdb::FileSystem> file_system_;
  const std::unique_ptr<rocksdb::Env> env_;
  const rocksdb::Options rocks_options_;
  const rocksdb::ColumnFamilyOptions bucket_options_;
  std::unique_ptr<rocksdb::DB> db_;
  ItemIndexFamilies families_;  // let go of before the database

  mutable std::shared_mutex mutex_;  // of the tail, and of it with the files that take its place
  ItemIndexTail tail_;               // mutex_; only the writer changes it
  std::atomic<uint64_t> unsaved_bytes_{0};
  std::optional<Error> stopped_;  // the writer's
  bool told_full_ = false;        // likewise
};

}  // namespace seen
