#pragma once
// Writes the tail of an index of items to disk: one sorted file per bucket and one for the position, ingested
// together. Writer thread only.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "similar/groups/item_index_port.h"
#include "similar/store/item_index_database.h"
#include "similar/store/item_index_reader.h"

namespace seen {

/// Writes changes of the index of items into its tail and its presence. Writer thread only.
class ItemIndexWriter {
 public:
  ItemIndexWriter(ItemIndexDatabase& database, SharedItemTail& tail) : database_(database), tail_(tail) {}
  /// After an error the tail has a part of the change, and must not be read any more.
  rocksdb::Status Write(const IndexChange& change);

 private:
  rocksdb::Status WriteAdded(const IndexChange::Added& added);
  rocksdb::Status WriteTaken(const IndexChange::Taken& taken);
  rocksdb::Status WriteListed(const IndexChange::Listed& listed);
  void WriteGroups(const IndexChange& change);

  ItemIndexDatabase& database_;
  SharedItemTail& tail_;
  bool warned_full_ = false;
};

class ItemIndexCheckpoint {
 public:
  ItemIndexCheckpoint(const ItemIndexDatabase& database, SharedItemTail& tail)
      : database_(database), tail_(tail) {}
  /// Either everything is durable and the tail is empty, or nothing has changed.
  rocksdb::Status Write(const IndexPosition& position);
  /// Removes the files of a checkpoint that a crash has interrupted.
  void RemoveUnfinished() const;

 private:
  struct File;
  std::string FilePath(std::string_view family) const;
  void PutPresence();
  rocksdb::Status WriteFiles(const IndexPosition& position, std::vector<File>& files) const;
  rocksdb::Status Ingest(std::span<const File> files);

  const ItemIndexDatabase& database_;
  SharedItemTail& tail_;
};

}  // namespace seen
