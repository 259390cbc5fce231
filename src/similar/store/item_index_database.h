#pragma once
// The files of an index of items: its folder, the settings it was built with, and its own RocksDB. The
// RocksDB has a column family per bucket. schemas/store.md, "The index of items".
//
// Threads. Writer (one): Open, MakeFamily, Drop, CompactAll. Any thread: the rest.

#include <rocksdb/db.h>
#include <rocksdb/env.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "rocks/listener.h"
#include "rocks/resources.h"
#include "similar/groups/item_index_port.h"
#include "similar/port/options.h"
#include "similar/store/item_index_families.h"
#include "similar/store/item_index_generation.h"
#include "similar/text/idf_table.h"

namespace seen {

struct ItemIndexOptions {
  std::string directory;  // of the store
  int32_t partition = 0;  // of the ordered topic
  IndexGeneration generation{};
  KeptSettings kept{};                  // what `generation` says only for a new index
  std::shared_ptr<const IdfTable> idf;  // as configured; sets generation.idf_version
  std::string idf_text;                 // its text form
  StoreResources resources;
  uint64_t presence_bytes_max = 256 << 20;  // for what memory holds of all items: item_presence.h
  std::shared_ptr<rocksdb::FileSystem> file_system = nullptr;  // for tests; nullptr: the disk
};

class ItemIndexDatabase {
 public:
  explicit ItemIndexDatabase(ItemIndexOptions options);
  ~ItemIndexDatabase();
  /// See RocksItemIndex::Open.
  Status Open();
  static Status Remove(const std::string& directory, int32_t partition);
  static std::string PathOf(const std::string& directory, int32_t partition);

  rocksdb::DB& db() const { return *db_; }
  const ItemIndexFamilies& families() const { return families_; }
  /// Finds the family, or creates it.
  rocksdb::Status MakeFamily(int32_t bucket, ItemIndexFamilies::Pointer& family);
  rocksdb::Status Drop(int32_t first_bucket) { return families_.Drop(*db_, first_bucket); }
  Result<std::optional<IndexPosition>> ReadPosition() const;
  uint64_t bytes() const;
  Status CompactAll();

  int32_t partition() const { return options_.partition; }
  const std::shared_ptr<const IdfTable>& idf() const { return options_.idf; }
  /// What the index was built with, after Open.
  const IndexGeneration& generation() const { return options_.generation; }
  // The index has only the lists that its method needs.
  SimilarMethod method() const { return options_.generation.method; }
  bool lists_simhashes() const { return UsesSimHash(options_.generation.method); }
  bool lists_bands() const { return UsesMinHash(options_.generation.method); }
  /// True: all buckets have rows of presence. A version that writes them began the index, and no older
  /// version has written to it since.
  bool keeps_presence() const { return keeps_presence_; }
  uint64_t presence_bytes() const;

  // For writing files.
  const std::string& path() const { return path_; }
  rocksdb::FileSystem& file_system() const { return *file_system_; }
  rocksdb::Options FileOptions() const { return {rocks_options_, bucket_options_}; }
  /// True: a background error has stopped the database. Files that the database wanted to delete may still be
  /// needed.
  bool HasStopped() const { return !errors_->Stopped().ok(); }

  std::string What(std::string_view action) const;  // for messages
  Error Corrupt(std::string_view what) const;

 private:
  uint64_t PresenceBytesMax() const { return options_.presence_bytes_max / kBucketsKept; }
  Status Prepare();  // the folder, and the settings that it is built with
  Status TakeOwnIdf(const IndexGeneration& stored);
  Status OpenRocks();
  Status ReadKeepsPresence(const std::optional<IndexPosition>& position);
  size_t HashesExpected(int32_t bucket, const IndexPosition& position) const;
  Status FindPresent(std::span<const ItemIndexFamilies::Pointer> families) const;
  Status ReadPresence(const BucketFamily& family) const;
  Status ReadItems(const BucketFamily& family) const;

  ItemIndexOptions options_;  // Open sets `idf` and `generation`
  const std::string path_;
  const std::shared_ptr<BackgroundErrors> errors_;
  const std::shared_ptr<rocksdb::FileSystem> file_system_;
  const std::unique_ptr<rocksdb::Env> env_;
  const rocksdb::Options rocks_options_;
  const rocksdb::ColumnFamilyOptions bucket_options_;
  bool keeps_presence_ = true;
  std::unique_ptr<rocksdb::DB> db_;
  ItemIndexFamilies families_;  // released before the database
};

}  // namespace seen
