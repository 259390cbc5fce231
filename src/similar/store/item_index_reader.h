#pragma once
// Reads rows of the index of items: changes since the last checkpoint first, then the files. Any thread.

#include <rocksdb/slice.h>
#include <rocksdb/status.h>

#include <cstdint>
#include <optional>
#include <shared_mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "similar/groups/item_index_port.h"
#include "similar/store/item_index_database.h"
#include "similar/store/item_index_tail.h"

namespace seen {

/// Rows of one bucket that are read together, and their values. One per thread: it keeps its buffers.
struct ItemPointReads {
  std::vector<std::string> keys;
  std::vector<uint32_t> wanted;  // places in `keys`: these are read
  // By place in `keys`; nullopt also for keys that weren't wanted. Valid until the next read.
  std::vector<std::optional<std::string_view>> values;

  void Clear() {
    keys.clear();
    wanted.clear();
  }
  void WantAll() {
    wanted.resize(keys.size());
    for (uint32_t i = 0; i < wanted.size(); ++i) wanted[i] = i;
  }
  /// Releases the pinned blocks of the files.
  void LetGo() {
    for (rocksdb::PinnableSlice& value : pinned) value.Reset();
  }
  /// Releases the pinned blocks when a look-up ends, also with an error.
  struct Use {
    explicit Use(ItemPointReads& of) : reads(of) {}
    ~Use() { reads.LetGo(); }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    ItemPointReads& reads;
  };

  // State of a read:
  std::vector<uint64_t> hashes;  // of `keys`, if presence is tested first
  std::vector<uint32_t> asked;   // read from the files: places in `keys`
  std::vector<rocksdb::Slice> slices;
  std::vector<rocksdb::PinnableSlice> pinned;
  std::vector<rocksdb::Status> read;
  std::vector<std::string> unsaved;  // by place in `keys`: the tail's value
  std::vector<ItemIndexTail::Kind> kinds;
};

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
  Status Read(const BucketFamily& family, ItemPointReads& reads) const;
  std::shared_mutex& mutex() const { return tail_.mutex; }
  const ItemIndexDatabase& database() const { return database_; }

 private:
  rocksdb::Status ReadStored(const BucketFamily& family, ItemPointReads& reads) const;
  static void WantPresent(const BucketFamily& family, ItemPointReads& reads);
  template <typename Decoded>
  Status ReadRows(ItemTable table, std::span<const ItemRef> items,
                  std::optional<Decoded> (*decode)(std::string_view),
                  std::vector<std::optional<Decoded>>& out) const;

  const ItemIndexDatabase& database_;
  const SharedItemTail& tail_;
};

}  // namespace seen
