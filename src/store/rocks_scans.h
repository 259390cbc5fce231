#pragma once

#include <rocksdb/db.h>

#include <memory>
#include <string_view>

#include "rows/keys.h"

namespace seen {

// An iterator over a table of a partition's RocksDB, for the store's own files.

inline std::string_view View(const rocksdb::Slice& slice) { return {slice.data(), slice.size()}; }

/// Iterates over [`after`, end of `table`), without the key `after` itself if `exclusive`.
class TableScan {
 public:
  TableScan(rocksdb::DB& db, Table table, std::string_view after, bool exclusive) : end_(EndOf(table)) {
    rocksdb::ReadOptions read;
    read.fill_cache = false;  // rows are read once; the cache is for users who are asked for
    read.iterate_upper_bound = &end_;
    at_.reset(db.NewIterator(read));
    at_->Seek(rocksdb::Slice(after));
    if (exclusive && at_->Valid() && View(at_->key()) == after) at_->Next();
  }
  rocksdb::Iterator* operator->() { return at_.get(); }

 private:
  const rocksdb::Slice end_;
  std::unique_ptr<rocksdb::Iterator> at_;
};

}  // namespace seen
