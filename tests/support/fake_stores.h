#pragma once

#include <map>

#include "run/exposures_taker.h"
#include "support/fakes.h"

namespace seen::sim {

/// State that survives the process, with the faults that a test sets.
class FakeStores final : public PartitionStores {
 public:
  Result<Opened> Open(int32_t partition, int32_t partition_count) override {
    if (open_fails.contains(partition)) return Fail(open_fails.at(partition));
    PartitionOptions options;
    options.partition = partition;
    options.partition_count = partition_count;
    options.filters = {{0, "default", 30, 10'000, {}, std::nullopt}};
    options.checkpoint_interval = std::chrono::milliseconds(100);
    return Opened{std::make_unique<FakeStore>(disks[partition], fault, level0), options};
  }
  Status Remove(int32_t partition) override {
    disks.erase(partition);
    open_fails.erase(partition);
    return {};
  }
  std::map<int32_t, DurableState> disks;
  std::map<int32_t, Error> open_fails;
  StoreFault fault = StoreFault::kNone;
  uint32_t level0 = 0;
};

}  // namespace seen::sim
