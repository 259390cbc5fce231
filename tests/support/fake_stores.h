#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>

#include "base/mutex.h"
#include "consume/exposures_handler.h"
#include "support/fakes.h"

namespace seen::sim {

/// State that survives the process, with the faults that a test sets.
class FakeStores final : public PartitionStores {
 public:
  Result<Opened> Open(int32_t partition, int32_t partition_count) override {
    if (open_fails.contains(partition)) return Fail(open_fails.at(partition));
    const auto lock = Lock(partition);
    if (!lock) return Fail(Code::kUnavailable, "the store is still open");
    PartitionOptions options;
    options.partition = partition;
    options.partition_count = partition_count;
    options.filters = {{0, "default", 30, 10'000, {}, snapshot}};
    options.filters[0].updates = updates;
    if (updates) options.updates = UpdatePolicy{};
    if (plan) options.plan = plan;
    options.checkpoint_interval = std::chrono::milliseconds(100);
    return Opened{std::make_unique<FakeStore>(disks[partition], fault, level0, lock), options};
  }
  Status Remove(int32_t partition) override {
    disks.erase(partition);
    open_fails.erase(partition);
    return {};
  }
  std::map<int32_t, DurableState> disks;
  std::map<int32_t, Error> open_fails;
  std::optional<SnapshotPolicy> snapshot;
  bool updates = false;
  std::shared_ptr<const EventPlan> plan;  // nullptr: the default
  StoreFault fault = StoreFault::kNone;
  uint32_t level0 = 0;
  std::function<void(int32_t partition)> on_closing = [](int32_t) {};  // the thread that closes the store

 private:
  // nullptr: somebody holds it.
  std::shared_ptr<const void> Lock(int32_t partition) {
    const MutexLock lock(mutex_);
    if (!locked_.insert(partition).second) return nullptr;
    return {this, [this, partition](const void*) {
              on_closing(partition);
              const MutexLock unlocking(mutex_);
              locked_.erase(partition);
            }};
  }
  Mutex mutex_;
  std::set<int32_t> locked_ GUARDED_BY(mutex_);
};

}  // namespace seen::sim
