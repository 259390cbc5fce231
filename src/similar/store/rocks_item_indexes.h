#pragma once
// Indexes of items on disk. One folder has them all, and names their topic.

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "similar/groups/item_index_port.h"
#include "similar/store/item_index_checkpoint.h"
#include "similar/store/item_index_database.h"
#include "similar/store/item_index_generation.h"
#include "similar/store/item_index_reader.h"

namespace seen {

/// The index of items on disk: schemas/store.md, "The index of items". Only Checkpoint writes to the disk,
/// everything at once (item_index_checkpoint.h); there is no write-ahead log. Until then changes are in
/// memory (item_index_tail.h), where reads look first.
class RocksItemIndex final : public ItemIndex {
 public:
  /// Opens or creates "item-index-<partition>" of the directory. kRefused: it was built with other settings.
  /// The message names the key, both values and the remedy. If another idf table is configured, the index
  /// keeps its own copy of the table it was built with, and logs a warning.
  static Result<std::unique_ptr<RocksItemIndex>> Open(ItemIndexOptions options);
  /// Removes the index completely, or (after a crash) not at all. A missing index is no error. It must not be
  /// open.
  static Status Remove(const std::string& directory, int32_t partition) {
    return ItemIndexDatabase::Remove(directory, partition);
  }
  static std::string PathOf(const std::string& directory, int32_t partition) {
    return ItemIndexDatabase::PathOf(directory, partition);
  }

  /// The table that the index was built with: compute features with it.
  const std::shared_ptr<const IdfTable>& idf() const { return database_.idf(); }
  const IndexGeneration& generation() const { return database_.generation(); }
  SimilarMethod method() const { return database_.method(); }

  Status Find(std::optional<std::string_view> item_id, std::optional<uint64_t> content_hash,
              int32_t first_bucket, KnownItem& out) const override {
    return reader_.Find(item_id, content_hash, first_bucket, out);
  }
  Status Candidates(const CandidateQuery& query, uint32_t entries_max, CandidateLists& out) const override;
  Status Items(std::span<const ItemRef> items, std::vector<std::optional<StoredItem>>& out) const override {
    return reader_.Items(items, out);
  }
  Status Groups(std::span<const ItemRef> items, std::vector<std::optional<StoredGroup>>& out) const override {
    return reader_.Groups(items, out);
  }
  Status Members(ItemRef first, std::vector<ItemRef>& out) const override {
    return reader_.Members(first, out);
  }
  Status Write(const IndexChange& change) override;
  Status Checkpoint(const IndexPosition& position, int32_t first_bucket) override;
  Result<std::optional<IndexPosition>> ReadPosition() const override { return database_.ReadPosition(); }
  uint64_t unsaved_bytes() const override { return unsaved_bytes_.load(std::memory_order_relaxed); }
  uint64_t bytes() const override { return database_.bytes(); }
  /// Bytes of memory for its keys (similar/store/item_presence.h). Writer.
  uint64_t presence_bytes() const { return database_.presence_bytes(); }

  /// Merges the files of each bucket into one sorted run. For measurements.
  Status CompactAll() { return database_.CompactAll(); }

 private:
  explicit RocksItemIndex(ItemIndexOptions options)
      : database_(std::move(options)),
        reader_(database_, tail_),
        writer_(database_, tail_),
        checkpoint_(database_, tail_) {}
  Status Stop(const rocksdb::Status& status, std::string_view action);

  ItemIndexDatabase database_;
  SharedItemTail tail_;
  ItemIndexReader reader_;          // any thread
  ItemIndexWriter writer_;          // the writer's
  ItemIndexCheckpoint checkpoint_;  // the writer's
  std::atomic<uint64_t> unsaved_bytes_{0};
  std::optional<Error> stopped_;  // the writer's
};

class StoreResources;

class RocksItemIndexes final : public ItemIndexes {
 public:
  struct Options {
    std::string directory;
    std::string topic;       // the topic that they are built from
    int32_t partitions = 1;  // of the topic
    IndexGeneration generation;
    KeptSettings kept{};                  // what an existing index keeps, except with `rebuild`
    std::shared_ptr<const IdfTable> idf;  // as configured
    std::string idf_text;
    const StoreResources* resources = nullptr;  // outlives this
    uint64_t presence_bytes_max = 0;            // of all indexes together
    bool rebuild = false;                       // removes indexes that don't fit; they are built again
  };
  explicit RocksItemIndexes(Options options) : options_(std::move(options)) {}
  /// Call it first. Creates the folder. With `rebuild` it removes indexes of another topic, or of another
  /// number of partitions. Without `rebuild` they stay, and none can be opened. kUnavailable, kNoSpace.
  Status Prepare();

  Result<Opened> Open(int32_t partition) override;
  Status Remove(int32_t partition) override;
  std::string PathOf(int32_t partition) const override;

 private:
  const Options options_;
  std::optional<Error> misfit_;
};

}  // namespace seen
