#pragma once
// Indexes of items on disk: a folder for all of them, which says of what topic they are.

#include <optional>
#include <string>

#include "item_store/item_index_generation.h"
#include "items/item_indexes_port.h"

namespace seen {

class StoreResources;

class RocksItemIndexes final : public ItemIndexes {
 public:
  struct Options {
    std::string directory;
    std::string topic;       // that they are built from
    int32_t partitions = 1;  // of it
    IndexGeneration generation;
    bool keeps_method = false;            // an index that is there has its own, but for `rebuild`
    std::shared_ptr<const IdfTable> idf;  // as configured
    std::string idf_text;
    const StoreResources* resources = nullptr;  // outlives this
    uint64_t presence_bytes_max = 0;            // of all indexes together
    bool rebuild = false;                       // those that don't fit are removed, and built again
  };
  explicit RocksItemIndexes(Options options) : options_(std::move(options)) {}
  /// Before everything else. Makes the folder; with `rebuild` it removes indexes of another topic, or of
  /// another number of partitions. Without it they stay, and none can be opened. kUnavailable, kNoSpace.
  Status Prepare();

  Result<Opened> Open(int32_t partition) override;
  Status Remove(int32_t partition) override;
  std::string PathOf(int32_t partition) const override;

 private:
  const Options options_;
  std::optional<Error> misfit_;
};

}  // namespace seen
