#pragma once
// What the store holds of users who were read lately, ready to be copied: a read from RocksDB costs some five
// microseconds, one from here a few tenths. "Nothing" is remembered as well.
//
// It never holds less than the store does. A checkpoint composes its deltas onto what is cached as it writes
// them; should it fail after that, what is cached holds more than the store, namely what the frozen tail
// holds too: composing twice changes nothing. A reader who read from the store while a checkpoint was under
// way, or before one that has ended since, must not offer what it read: it may lack the checkpoint's deltas.
// The era tells. Any thread; a lock a shard, held for a copy.

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "flow/store_port.h"
#include "store/merge_rules.h"
#include "store/slot_index.h"

namespace seen {

class DeltaCache {
 public:
  /// `bytes_max`: of all it holds; 0: it holds nothing.
  DeltaCache(uint64_t bytes_max, const MergeRules& rules);

  /// True: `out` is what the store has of the user, empty for nothing.
  bool Get(const UserRef& user, std::string& out) { return GetEach({&user, 1}, {&out, 1}) == 1; }
  /// The same of several, kAtOnce at most: bit i of the result tells of user i. Their cache misses overlap.
  static constexpr size_t kAtOnce = 32;
  uint32_t GetEach(std::span<const UserRef> users, std::span<std::string> out);

  /// To be asked before a read from the store whose result will be offered.
  uint64_t Era() const { return era_.load(); }
  void Offer(const UserRef& user, std::string_view stored, uint64_t era);

  /// The one checkpoint under way. Compose comes before the delta can be in the store.
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
    bool recent = false;  // hit since the clock's hand came by
    std::string_view view() const { return {value.get(), size}; }
    UserRef ref() const { return {filter, user}; }
  };
  static_assert(sizeof(Slot) == 32);
  struct alignas(64) Shard {
    mutable Mutex mutex;
    // Under mutex too: the analysis doesn't follow the functions that the index is given.
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
  void MakeRoom(Shard& shard) const REQUIRES(shard.mutex);

  const uint64_t shard_bytes_max_;
  const MergeRules& rules_;
  std::atomic<uint64_t> era_{0};  // odd: a checkpoint is under way
  std::array<Shard, kShards> shards_;
};

}  // namespace seen
