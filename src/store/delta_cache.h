#pragma once
// A cache of what the store holds of users who were read lately. A read from RocksDB costs some five
// microseconds, a read from here a few tenths. The cache also remembers that the store holds nothing of a
// user.
//
// An entry never holds less than the store does. A checkpoint composes its deltas onto the entries as it
// writes them. If the checkpoint then fails, an entry holds more than the store: what the frozen tail holds
// too. This is harmless, because composing twice changes nothing.
// A reader may have read from the store during a checkpoint, or before a checkpoint that has ended since.
// That reader must not offer its result, because the result may lack the checkpoint's deltas. The era detects
// this.
// Any thread; each shard has a lock, which is held for a copy.

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "base/probed_cells.h"
#include "flow/store_port.h"
#include "store/merge_rules.h"

namespace seen {

class DeltaCache {
 public:
  /// `bytes_max`: of the whole cache; 0: the cache holds nothing.
  DeltaCache(uint64_t bytes_max, const MergeRules& rules);

  /// True: `out` is what the store has of the user; empty if it has nothing.
  bool Get(const UserRef& user, std::string& out) { return GetEach({&user, 1}, {&out, 1}) == 1; }
  /// Gets several users, kAtOnce at most. Bit i of the result: user i was found. The users' cache misses
  /// overlap.
  static constexpr size_t kAtOnce = 32;
  uint32_t GetEach(std::span<const UserRef> users, std::span<std::string> out);

  /// Call Era before a read from the store whose result will be offered.
  uint64_t Era() const { return era_.load(); }
  void Offer(const UserRef& user, std::string_view stored, uint64_t era);

  /// For the one running checkpoint. Call Compose before the delta can be in the store.
  void CheckpointBegins();
  void Compose(const UserRef& user, std::string_view encoded_delta);
  void CheckpointEnds();

  uint64_t bytes() const;

 private:
  static constexpr size_t kShards = 16;
  struct Slot {
    UserKey user;
    std::unique_ptr<char[]> value;
    uint32_t size = 0;
    FilterId filter;
    bool used = false;
    bool recent = false;  // read since the clock's hand last passed
    std::string_view view() const { return {value.get(), size}; }
    UserRef ref() const { return {filter, user}; }
  };
  static_assert(sizeof(Slot) == 32);
  struct alignas(64) Shard {
    mutable Mutex mutex;
    // Under mutex too: the analysis can't follow the functions that are passed to the index.
    SlotIndex index;
    std::vector<Slot> slots;
    std::vector<uint32_t> free GUARDED_BY(mutex);
    uint64_t bytes GUARDED_BY(mutex) = 0;
    size_t hand GUARDED_BY(mutex) = 0;
    std::string scratch GUARDED_BY(mutex);
  };

  static uint32_t TagOf(const UserRef& user) {
    return static_cast<uint32_t>(user.user.low >> 8) ^
           static_cast<uint32_t>(user.filter.number() * 0x9e3779b1u);
  }
  Shard& ShardOf(const UserRef& user) { return shards_[user.user.low % kShards]; }
  static auto HashOf(const Shard& shard) {
    return [&shard](uint32_t number) { return TagOf(shard.slots[number].ref()); };
  }
  static uint32_t Find(const Shard& shard, const UserRef& user) REQUIRES(shard.mutex);
  static uint64_t BytesOf(size_t value);
  static void Set(Shard& shard, Slot& slot, std::string_view value) REQUIRES(shard.mutex);
  static void Remove(Shard& shard, uint32_t number) REQUIRES(shard.mutex);
  void MakeSpace(Shard& shard) const REQUIRES(shard.mutex);

  const uint64_t shard_bytes_max_;
  const MergeRules& rules_;
  std::atomic<uint64_t> era_{0};  // odd: a checkpoint is under way
  std::array<Shard, kShards> shards_;
};

}  // namespace seen
