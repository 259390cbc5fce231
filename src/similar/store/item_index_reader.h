#pragma once
// Reads rows of the index of items: changes since the last checkpoint first, then the files. Any thread.

#include <optional>
#include <shared_mutex>
#include <span>
#include <string_view>
#include <vector>

#include "similar/groups/item_index_port.h"
#include "similar/store/item_index_database.h"
#include "similar/store/item_index_tail.h"
#include "similar/store/item_point_reads.h"

namespace seen {

/// Only the writer changes the tail, under the exclusive lock. It also holds that lock when files replace the
/// tail. So a holder of the shared lock sees both in one state.
struct SharedItemTail {
  mutable std::shared_mutex mutex;
  ItemIndexTail tail;  // under `mutex`; only the writer reads it without a lock
};

class ItemIndexReader {
 public:
  ItemIndexReader(const ItemIndexDatabase& database, const SharedItemTail& tail)
      : database_(database), tail_(tail) {}

  // See ItemIndex.
  Status Find(std::optional<std::string_view> item_id, std::optional<uint64_t> content_hash,
              int32_t first_bucket, KnownItem& out) const;
  Status Items(std::span<const ItemRef> items, std::vector<std::optional<StoredItem>>& out) const;
  Status Groups(std::span<const ItemRef> items, std::vector<std::optional<StoredGroup>>& out) const;
  Status Members(ItemRef first, std::vector<ItemRef>& out) const;

  /// Reads the wanted keys of a bucket. Call it under the tail's lock: the values are valid only while it is
  /// held.
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
