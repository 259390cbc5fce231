#include "store/delta_cache.h"

#include <algorithm>
#include <cstring>

#include "base/result.h"
#include "model/delta_fold.h"

namespace seen {
namespace {
constexpr size_t kLine = 64;
constexpr size_t kPrefetchedBytes = 4 * kLine;  // of a value; the processor prefetches the rest by itself
}  // namespace

DeltaCache::DeltaCache(uint64_t bytes_max, const MergeRules& rules)
    : shard_bytes_max_(bytes_max / kShards), rules_(rules) {}

uint32_t DeltaCache::Find(const Shard& shard, const UserRef& user) {
  return shard.index.Find(TagOf(user), [&](uint32_t number) { return shard.slots[number].ref() == user; });
}

uint64_t DeltaCache::BytesOf(size_t value) {
  constexpr size_t kAllocationUnit = 16;
  return sizeof(Slot) + SlotIndex::kBytesANumber +
         (value + kAllocationUnit - 1) / kAllocationUnit * kAllocationUnit;
}

uint32_t DeltaCache::GetEach(std::span<const UserRef> users, std::span<std::string> out) {
  Check(users.size() <= kAtOnce, "too many users are looked up at once");
  if (shard_bytes_max_ == 0) return 0;
  // A user's cell, slot and value are a cache miss each. So all users' lines are prefetched before the first
  // is needed. Between the rounds no lock is held and all may change; only the last round counts.
  if (users.size() > 1) {
    for (const UserRef& user : users) {
      Shard& shard = ShardOf(user);
      const MutexLock lock(shard.mutex);
      shard.index.Prefetch(TagOf(user));
    }
    for (const UserRef& user : users) {
      Shard& shard = ShardOf(user);
      const MutexLock lock(shard.mutex);
      const uint32_t number = shard.index.Find(TagOf(user), [](uint32_t) { return true; });
      if (number != SlotIndex::kNone) PrefetchLine(&shard.slots[number]);
    }
    for (const UserRef& user : users) {
      Shard& shard = ShardOf(user);
      const MutexLock lock(shard.mutex);
      const uint32_t number = shard.index.Find(TagOf(user), [](uint32_t) { return true; });
      if (number == SlotIndex::kNone) continue;
      const std::string_view value = shard.slots[number].view();
      for (size_t at = 0; at < std::min(value.size(), kPrefetchedBytes); at += kLine) {
        PrefetchLine(value.data() + at);
      }
    }
  }
  uint32_t found = 0;
  for (size_t i = 0; i < users.size(); ++i) {
    Shard& shard = ShardOf(users[i]);
    const MutexLock lock(shard.mutex);
    const uint32_t number = Find(shard, users[i]);
    if (number == SlotIndex::kNone) continue;
    Slot& slot = shard.slots[number];
    slot.recent = true;
    out[i].assign(slot.view());
    found |= 1u << i;
  }
  return found;
}

void DeltaCache::Offer(const UserRef& user, std::string_view stored, uint64_t era) {
  if (BytesOf(stored.size()) > shard_bytes_max_ / 4) return;  // one user mustn't drive out all others
  Shard& shard = ShardOf(user);
  const MutexLock lock(shard.mutex);
  // The era is checked under the lock: a checkpoint that begins from here on finds the entry and composes
  // onto it.
  if (era % 2 != 0 || era != era_.load() || Find(shard, user) != SlotIndex::kNone) return;
  uint32_t number;
  if (shard.free.empty()) {
    number = static_cast<uint32_t>(shard.slots.size());
    if (number > SlotIndex::kNumberMax) return;
    shard.slots.emplace_back();
  } else {
    number = shard.free.back();
    shard.free.pop_back();
  }
  Slot& slot = shard.slots[number];
  slot.user = user.user;
  slot.filter = user.filter;
  slot.used = true;
  slot.recent = false;
  shard.index.Insert(TagOf(user), number, HashOf(shard));
  shard.bytes += BytesOf(0);
  Set(shard, slot, stored);
  MakeSpace(shard);
}

void DeltaCache::Set(Shard& shard, Slot& slot, std::string_view value) {
  shard.bytes -= BytesOf(slot.size);
  shard.bytes += BytesOf(value.size());
  slot.value = value.empty() ? nullptr : std::make_unique_for_overwrite<char[]>(value.size());
  slot.size = static_cast<uint32_t>(value.size());
  if (!value.empty()) std::memcpy(slot.value.get(), value.data(), value.size());
}

void DeltaCache::Remove(Shard& shard, uint32_t number) {
  Slot& slot = shard.slots[number];
  shard.index.Remove(TagOf(slot.ref()), number, HashOf(shard));
  shard.bytes -= BytesOf(slot.size);
  slot.value.reset();
  slot.size = 0;
  slot.used = false;
  shard.free.push_back(number);
}

void DeltaCache::MakeSpace(Shard& shard) const {
  while (shard.bytes > shard_bytes_max_ && shard.index.size() > 0) {
    const size_t number = shard.hand++ % shard.slots.size();
    Slot& slot = shard.slots[number];
    if (!slot.used) continue;
    if (slot.recent) {
      slot.recent = false;
    } else {
      Remove(shard, static_cast<uint32_t>(number));
    }
  }
}

void DeltaCache::CheckpointBegins() { era_.fetch_add(1); }
void DeltaCache::CheckpointEnds() { era_.fetch_add(1); }

void DeltaCache::Compose(const UserRef& user, std::string_view encoded_delta) {
  if (shard_bytes_max_ == 0) return;
  Shard& shard = ShardOf(user);
  const MutexLock lock(shard.mutex);
  const uint32_t number = Find(shard, user);
  if (number == SlotIndex::kNone) return;
  Slot& slot = shard.slots[number];
  const std::array<std::string_view, 2> parts = {slot.view(), encoded_delta};
  const auto both = slot.size == 0 ? std::span(parts).subspan(1) : std::span(parts);
  if (FoldEncoded(both, rules_.LimitsOf(user.filter), rules_.HorizonOf(user.filter), shard.scratch)) {
    Set(shard, slot, shard.scratch);
  } else {
    Remove(shard, number);  // the next read from the store reports the error
  }
  MakeSpace(shard);
}

uint64_t DeltaCache::bytes() const {
  uint64_t bytes = 0;
  for (const Shard& shard : shards_) {
    const MutexLock lock(shard.mutex);
    bytes += shard.bytes;
  }
  return bytes;
}

}  // namespace seen
