#pragma once
// The buckets of an open index of items: a column family each. Threads: Make, Drop, Adopt and Clear by the
// writer; the rest by any. A dropped family stays readable for its holders.

#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/options.h>

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "rocks/listener.h"
#include "rocks/resources.h"
#include "similar/store/item_index_rows.h"
#include "similar/store/item_presence.h"

namespace seen {

class BucketFamily {
 public:
  BucketFamily(rocksdb::DB& db, rocksdb::ColumnFamilyHandle* handle, int32_t bucket, ItemPresence presence)
      : db_(db), handle_(handle), bucket_(bucket), presence_(std::move(presence)) {}
  ~BucketFamily() { db_.DestroyColumnFamilyHandle(handle_).PermitUncheckedError(); }
  BucketFamily(const BucketFamily&) = delete;
  BucketFamily& operator=(const BucketFamily&) = delete;
  rocksdb::ColumnFamilyHandle* handle() const { return handle_; }
  int32_t bucket() const { return bucket_; }
  /// Covers all keys except those of items and members. Use it under the index's lock. NotePresent and
  /// NoteListed change it.
  ItemPresence& presence() const { return presence_; }
  /// Writer, under the index's lock. NotePresent: the bucket gets this key. NoteListed: an item gets into
  /// these lists.
  void NotePresent(std::string_view key) const;
  void NoteListed(std::span<const uint64_t> list_hashes) const;
  /// Writer. TakeUnsaved: what was noted since its last call. TakeRow: the number of the next row of
  /// presence.
  PresenceHashes TakeUnsaved() const { return std::exchange(unsaved_, {}); }
  uint64_t TakeRow() const { return next_row_++; }
  void SetNextRow(uint64_t row) const { next_row_ = row; }

 private:
  rocksdb::DB& db_;
  rocksdb::ColumnFamilyHandle* const handle_;
  const int32_t bucket_;
  mutable ItemPresence presence_;
  mutable PresenceHashes unsaved_;
  mutable uint64_t next_row_ = 0;
};

class ItemIndexFamilies {
 public:
  using Pointer = std::shared_ptr<const BucketFamily>;
  using List = std::vector<Pointer>;  // newest bucket first

  std::shared_ptr<const List> All() const {
    const MutexLock lock(mutex_);
    return list_;
  }
  /// nullptr: none.
  Pointer Find(int32_t bucket) const;
  void Adopt(List families);
  void Clear() { Adopt({}); }
  /// `presence_bytes_max`: the limit of the family's presence.
  rocksdb::Status Make(rocksdb::DB& db, const rocksdb::ColumnFamilyOptions& options, int32_t bucket,
                       uint64_t presence_bytes_max, Pointer& family);
  /// Drops the families of the buckets before `first_bucket`.
  rocksdb::Status Drop(rocksdb::DB& db, int32_t first_bucket);

 private:
  mutable Mutex mutex_;
  std::shared_ptr<const List> list_ GUARDED_BY(mutex_) = std::make_shared<List>();
};

// RocksDB's options for the index of items: random writes of rows and short lists, point reads of many keys.

/// `env` must outlive the database.
rocksdb::Options ItemIndexRocksOptions(const StoreResources& resources, rocksdb::Env* env,
                                       std::shared_ptr<BackgroundErrors> errors, int32_t partition);
/// The options of a bucket's family.
rocksdb::ColumnFamilyOptions BucketFamilyOptions(const StoreResources& resources);

// How RocksDB merges the lists of the index of items.

/// Appends `operand` to `list` in place. A list that keeps its newest entries is cut only beyond twice the
/// bound. False: one of them isn't a list.
bool AppendToList(std::string_view key, std::string_view operand, std::string& list);

/// The merge itself: appends up to a bound. Candidate lists keep their newest entries, lists of copies their
/// oldest. Associative: it doesn't matter which merges happen first. False: one of `parts` isn't a list.
bool MergeLists(std::string_view key, const std::vector<std::string_view>& parts, std::string& out);

}  // namespace seen
