#pragma once
// Rows of the index of items: what was written since the last checkpoint first, then the files. Any thread.

#include <optional>
#include <shared_mutex>
#include <span>
#include <string_view>
#include <vector>

#include "item_store/item_index_database.h"
#include "item_store/item_index_tail.h"
#include "item_store/item_point_reads.h"
#include "items/item_index_port.h"

namespace seen {

/// Only the writer changes the tail, under the lock; so does it when files take the tail's place. Who holds
/// the lock shared sees both as they are.
struct SharedItemTail {
  mutable std::shared_mutex mutex;
  ItemIndexTail tail;  // mutex; the writer alone reads it without
};

class ItemIndexReader {
 public:
  ItemIndexReader(const ItemIndexDatabase& database, const SharedItemTail& tail)
      : database_(database), tail_(tail) {}

  // As ItemIndex says.
  Status Find(std::optional<std::string_view> item_id, std::optional<uint64_t> content_hash,
              int32_t first_bucket, KnownItem& out) const;
  Status Items(std::span<const ItemRef> items, std::vector<std::optional<StoredItem>>& out) const;
  Status Groups(std::span<const ItemRef> items, std::vector<std::optional<StoredGroup>>& out) const;
  Status Members(ItemRef first, std::vector<ItemRef>& out) const;

  /// The wanted keys of a bucket. Under the tail's lock, and what was read counts while it is held.
  rocksdb::Status Read(const BucketFamily& family, ItemPointReads& reads) const;
  std::shared_mutex& mutex() const { return tail_.mutex; }
  const ItemIndexDatabase& database() const { return database_; }

 private:
  static void WantPresent(const BucketFamily& family, ItemPointReads& reads);
  template <typename Decoded>
  Status ReadRows(ItemTable table, std::span<const ItemRef> items,
                  std::optional<Decoded> (*decode)(std::string_view),
                  std::vector<std::optional<Decoded>>& out) const;

  const ItemIndexDatabase& database_;
  const SharedItemTail& tail_;
};

}  // namespace seen
