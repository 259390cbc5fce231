#include "similar/store/similar_cache.h"

#include <algorithm>
#include <thread>

#include "base/probed_cells.h"

namespace seen {
namespace {

constexpr uint32_t kUsed = 1u << 31;  // a bit of `count`

// Acquire on each word keeps the second read of the version after these words. Release on each store keeps
// the odd version before them. On x86 both are plain moves.
template <typename Slot>
std::optional<SimilarCache::Found> Read(const Slot& slot, Fingerprint item,
                                        SimilarCache::Fingerprints& similar) {
  const uint32_t version = slot.version.load(std::memory_order_acquire);
  if ((version & 1) != 0 || slot.key.load(std::memory_order_acquire) != item.value) return std::nullopt;
  const uint32_t marked = slot.count.load(std::memory_order_acquire);
  if ((marked & kUsed) == 0) return std::nullopt;
  const size_t count = std::min<size_t>(marked & ~kUsed, Slot::kMost);
  for (size_t i = 0; i < count; ++i) similar[i] = {slot.similar[i].load(std::memory_order_acquire)};
  const uint32_t created_s = slot.created_s.load(std::memory_order_acquire);
  if (slot.version.load(std::memory_order_relaxed) != version) return std::nullopt;
  return SimilarCache::Found{count, created_s};
}

template <typename Slot>
bool Lock(Slot& slot, uint32_t version) {
  return (version & 1) == 0 &&
         slot.version.compare_exchange_strong(version, version + 1, std::memory_order_acq_rel);
}

// The wait is short: the holder of the lock writes a hundred bytes.
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
bool IsFree(const Slot& slot) {
  return (slot.count.load(std::memory_order_relaxed) & kUsed) == 0;
}

}  // namespace

template <size_t kMax, size_t kWays>
SimilarCache::Slots<kMax, kWays>::Slots(uint64_t bytes)
    : count_(std::max<uint64_t>(bytes / sizeof(Set), 8)), sets_(new Set[count_]()) {}

template <size_t kMax, size_t kWays>
void SimilarCache::Slots<kMax, kWays>::Prefetch(Fingerprint item) const {
  const Set& set = SetOf(item);
  for (size_t line = 0; line < sizeof set; line += 64) {
    PrefetchLine(reinterpret_cast<const char*>(&set) + line);
  }
}

template <size_t kMax, size_t kWays>
std::optional<SimilarCache::Found> SimilarCache::Slots<kMax, kWays>::Find(Fingerprint item,
                                                                          Fingerprints& similar) const {
  for (const auto& slot : SetOf(item).slots) {
    if (const auto found = Read(slot, item, similar)) return found;
  }
  return std::nullopt;
}

template <size_t kMax, size_t kWays>
bool SimilarCache::Slots<kMax, kWays>::HasSpace(Fingerprint item) const {
  const auto& slots = SetOf(item).slots;
  return std::any_of(slots.begin(), slots.end(), [](const auto& slot) { return IsFree(slot); });
}

template <size_t kMax, size_t kWays>
SimilarCache::Ticket::Place SimilarCache::Slots<kMax, kWays>::Begin(Fingerprint item, uint32_t turn) const {
  const auto& slots = SetOf(item).slots;
  Ticket::Place place{static_cast<uint32_t>(turn % kWays), 0};
  for (uint32_t way = 0; way < kWays; ++way) {
    if (IsFree(slots[way]) || slots[way].key.load(std::memory_order_relaxed) == item.value) place.way = way;
  }
  place.version = slots[place.way].version.load(std::memory_order_acquire);
  return place;
}

template <size_t kMax, size_t kWays>
void SimilarCache::Slots<kMax, kWays>::Fill(Fingerprint item, const Ticket::Place& place, uint32_t created_s,
                                            std::span<const Fingerprint> similar) {
  auto& slot = SetOf(item).slots[place.way];
  if (!Lock(slot, place.version)) return;  // the slot has changed since Begin
  slot.key.store(item.value, std::memory_order_release);
  slot.created_s.store(created_s, std::memory_order_release);
  slot.count.store(kUsed | static_cast<uint32_t>(similar.size()), std::memory_order_release);
  for (size_t i = 0; i < similar.size(); ++i)
    slot.similar[i].store(similar[i].value, std::memory_order_release);
  slot.version.store(place.version + 2, std::memory_order_release);
}

template <size_t kMax, size_t kWays>
void SimilarCache::Slots<kMax, kWays>::Invalidate(Fingerprint item) {
  for (auto& slot : SetOf(item).slots) Free(slot, item, false);
}

template <size_t kMax, size_t kWays>
void SimilarCache::Slots<kMax, kWays>::Clear() {
  for (size_t i = 0; i < count_; ++i) {
    for (auto& slot : sets_[i].slots) Free(slot, {}, true);
  }
}

SimilarCache::SimilarCache(uint64_t bytes) : few_(bytes * 5 / 8), some_(bytes / 4), many_(bytes / 8) {}

void SimilarCache::Prefetch(Fingerprint item) const { few_.Prefetch(item); }

std::optional<SimilarCache::Found> SimilarCache::Find(Fingerprint item, Fingerprints& similar) const {
  if (const auto found = few_.Find(item, similar)) return found;
  if (const auto found = some_.Find(item, similar)) return found;
  return many_.Find(item, similar);
}

bool SimilarCache::HasSpace(Fingerprint item, size_t similar) const {
  if (similar <= few_.kMost) return few_.HasSpace(item);
  return similar <= some_.kMost ? some_.HasSpace(item) : many_.HasSpace(item);
}

SimilarCache::Ticket SimilarCache::Begin(Fingerprint item) const {
  thread_local uint32_t turn = 0;
  ++turn;
  return {few_.Begin(item, turn), some_.Begin(item, turn), many_.Begin(item, turn)};
}

void SimilarCache::Fill(Fingerprint item, const Ticket& ticket, uint32_t created_s,
                        std::span<const Fingerprint> similar) {
  if (similar.size() <= few_.kMost) {
    few_.Fill(item, ticket.few, created_s, similar);
  } else if (similar.size() <= some_.kMost) {
    some_.Fill(item, ticket.some, created_s, similar);
  } else {
    many_.Fill(item, ticket.many, created_s, similar);
  }
}

void SimilarCache::Invalidate(Fingerprint item) {
  few_.Invalidate(item);
  some_.Invalidate(item);
  many_.Invalidate(item);
}

void SimilarCache::Clear() {
  few_.Clear();
  some_.Clear();
  many_.Clear();
}

}  // namespace seen
