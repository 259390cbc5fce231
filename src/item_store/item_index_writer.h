#pragma once
// Writes changes of the index of items into its tail and its presence. Writer thread only.

#include "item_store/item_index_database.h"
#include "item_store/item_index_reader.h"
#include "items/item_index_port.h"

namespace seen {

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

}  // namespace seen
