#pragma once

#include <rocksdb/db.h>
#include <rocksdb/sst_file_writer.h>

#include <memory>
#include <string_view>

#include "rows/keys.h"
#include "rows/row_batch.h"

namespace seen {

// Rows of a partition's RocksDB, for the store's own files: one written, and a table read in order.

inline std::string_view View(const rocksdb::Slice& slice) { return {slice.data(), slice.size()}; }

/// Writes one row into a file that will be ingested. A range's tombstone doesn't cover the rows that the same
/// file adds.
inline rocksdb::Status AddRow(rocksdb::SstFileWriter& file, const Row& row) {
  const rocksdb::Slice key(row.key);
  const rocksdb::Slice value(row.value);
  switch (row.op) {
    case RowOp::kPut:
      return file.Put(key, value);
    case RowOp::kMerge:
      return file.Merge(key, value);
    case RowOp::kDelete:
      return file.Delete(key);
    case RowOp::kDeleteRange:
      return file.DeleteRange(key, value);
  }
  return {};
}

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
