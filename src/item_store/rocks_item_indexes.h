#pragma once
// Indexes of items on disk. One folder has them all, and names their topic.

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
