#include "store/like_cache.h"

#include <algorithm>
#include <thread>

namespace seen {
namespace {

// Acquire on each word keeps the second look at the version behind them; release on each store keeps the odd
// version before them. On x86 both are plain moves.
template <typename Slot>
std::optional<LikeCache::Found> Read(const Slot& slot, Fingerprint item, uint32_t used,
                                     LikeCache::Likes& likes) {
  const uint32_t version = slot.version.load(std::memory_order_acquire);
  if ((version & 1) != 0 || slot.key.load(std::memory_order_acquire) != item.value) return std::nullopt;
  const uint32_t marked = slot.count.load(std::memory_order_acquire);
  if ((marked & used) == 0) return std::nullopt;
  const size_t count = std::min<size_t>(marked & ~used, Slot::kLikes);
  for (size_t i = 0; i < count; ++i) likes[i] = {slot.likes[i].load(std::memory_order_acquire)};
  const uint32_t created_s = slot.created_s.load(std::memory_order_acquire);
  if (slot.version.load(std::memory_order_relaxed) != version) return std::nullopt;
  return LikeCache::Found{count, created_s};
}

template <typename Slot>
bool Lock(Slot& slot, uint32_t version) {
  return (version & 1) == 0 &&
         slot.version.compare_exchange_strong(version, version + 1, std::memory_order_acq_rel);
}

// Whoever has it writes a hundred bytes.
template <typename Slot>
uint32_t LockNow(Slot& slot) {
  for (;;) {
    const uint32_t version = slot.version.load(std::memory_order_acquire);
    if (Lock(slot, version)) return version;
    std::this_thread::yield();
  }
}

template <typename Slot>
void Free(Slot& slot, Fingerprint item, bool whatever) {
  const uint32_t version = LockNow(slot);
  if (whatever || slot.key.load(std::memory_order_relaxed) == item.value) {
    slot.count.store(0, std::memory_order_release);
  }
  slot.version.store(version + 2, std::memory_order_release);
}

template <typename Slot>
void Write(Slot& slot, uint32_t version, Fingerprint item, uint32_t used, uint32_t created_s,
           std::span<const Fingerprint> likes) {
  if (!Lock(slot, version)) return;  // changed meanwhile
  slot.key.store(item.value, std::memory_order_release);
  slot.created_s.store(created_s, std::memory_order_release);
  slot.count.store(used | static_cast<uint32_t>(likes.size()), std::memory_order_release);
  for (size_t i = 0; i < likes.size(); ++i) slot.likes[i].store(likes[i].value, std::memory_order_release);
  slot.version.store(version + 2, std::memory_order_release);
}

}  // namespace

LikeCache::LikeCache(uint64_t bytes)
    : small_sets_(std::max<uint64_t>(bytes * 7 / 8 / (kWays * sizeof(Small)), 16)),
      large_count_(std::max<uint64_t>(bytes / 8 / sizeof(Large), 8)),
      small_(new Small[small_sets_ * kWays]()),
      large_(new Large[large_count_]()) {}

void LikeCache::Prefetch(Fingerprint item) const {
  const Small* const set = SetOf(item);
  for (size_t way = 0; way < kWays; ++way) __builtin_prefetch(set + way);
}

std::optional<LikeCache::Found> LikeCache::Find(Fingerprint item, Likes& likes) const {
  const Small* const set = SetOf(item);
  for (size_t way = 0; way < kWays; ++way) {
    if (const auto found = Read(set[way], item, kUsed, likes)) return found;
  }
  return Read(LargeOf(item), item, kUsed, likes);
}

bool LikeCache::HasRoom(Fingerprint item) const {
  const Small* const set = SetOf(item);
  return std::any_of(set, set + kWays, [](const Small& slot) {
    return (slot.count.load(std::memory_order_relaxed) & kUsed) == 0;
  });
}

LikeCache::Ticket LikeCache::Begin(Fingerprint item) const {
  thread_local uint32_t turn = 0;
  const Small* const set = SetOf(item);
  Ticket ticket;
  ticket.small_way = ++turn % kWays;
  for (uint32_t way = 0; way < kWays; ++way) {
    const bool free = (set[way].count.load(std::memory_order_relaxed) & kUsed) == 0;
    if (free || set[way].key.load(std::memory_order_relaxed) == item.value) ticket.small_way = way;
  }
  ticket.small_version = set[ticket.small_way].version.load(std::memory_order_acquire);
  ticket.large_version = LargeOf(item).version.load(std::memory_order_acquire);
  return ticket;
}

void LikeCache::Fill(Fingerprint item, const Ticket& ticket, uint32_t created_s,
                     std::span<const Fingerprint> likes) {
  if (likes.size() <= Small::kLikes) {
    Write(SetOf(item)[ticket.small_way], ticket.small_version, item, kUsed, created_s, likes);
  } else {
    Write(LargeOf(item), ticket.large_version, item, kUsed, created_s, likes);
  }
}

void LikeCache::Invalidate(Fingerprint item) {
  Small* const set = SetOf(item);
  for (size_t way = 0; way < kWays; ++way) Free(set[way], item, false);
  Free(LargeOf(item), item, false);
}

void LikeCache::Clear() {
  for (size_t i = 0; i < small_sets_ * kWays; ++i) Free(small_[i], {}, true);
  for (size_t i = 0; i < large_count_; ++i) Free(large_[i], {}, true);
}

}  // namespace seen
