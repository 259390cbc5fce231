#pragma once
// What an item is like, by its fingerprint, in a fixed amount of memory: up to 33 fingerprints an item.
//
// Any thread; no allocation after construction, and no reader waits. A slot is guarded by a version that is
// odd while somebody writes it (a seqlock; source: Lameter 2005, Boehm 2012), so a reader that meets a writer
// misses. Two threads of which one fills what it has read from disk while the other changes it: the fill
// carries the slot's version from before the disk was read, and is dropped if that has moved on.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "model/fingerprint.h"
#include "model/item_group.h"

namespace seen {

class LikeCache {
 public:
  static constexpr size_t kLikesMax = kNearItemsMax + 1;
  using Likes = std::array<Fingerprint, kLikesMax>;

  explicit LikeCache(uint64_t bytes);

  void Prefetch(Fingerprint item) const;
  struct Found {
    size_t count = 0;        // copied to `likes`; 0: that it is like nothing is in here
    uint32_t created_s = 0;  // as filled
  };
  /// nullopt: it isn't in here.
  std::optional<Found> Find(Fingerprint item, Likes& likes) const;

  /// Whether Fill would take nothing else's place. Of at most 12 likes; no promise where others fill.
  bool HasRoom(Fingerprint item) const;

  /// Where Fill will put the item: to be asked for before what is filled is read.
  struct Ticket {
    uint32_t small_way = 0;
    uint32_t small_version = 0;
    uint32_t large_version = 0;
  };
  Ticket Begin(Fingerprint item) const;
  /// `created_s`: of the item, seconds since 1970. `likes`: at most kLikesMax.
  void Fill(Fingerprint item, const Ticket& ticket, uint32_t created_s, std::span<const Fingerprint> likes);
  /// After a change: what was known of the item, and what others have read of it meanwhile, isn't used.
  void Invalidate(Fingerprint item);
  void Clear();

  uint64_t bytes() const { return small_sets_ * kWays * sizeof(Small) + large_count_ * sizeof(Large); }

 private:
  static constexpr size_t kWays = 2;
  static constexpr uint32_t kUsed = 1u << 31;  // of `count`
  template <size_t kMax>
  struct Slot {
    static constexpr size_t kLikes = kMax;
    std::atomic<uint32_t> version{0};
    std::atomic<uint32_t> key{0};
    std::atomic<uint32_t> count{0};  // with kUsed, or 0: free
    std::atomic<uint32_t> created_s{0};
    std::array<std::atomic<uint32_t>, kMax> likes{};
  };
  struct alignas(64) Small : Slot<12> {};  // a cache line: nearly all items
  struct Large : Slot<kLikesMax> {};
  static_assert(sizeof(Small) == 64);

  Small* SetOf(Fingerprint item) const {
    return &small_[static_cast<size_t>(uint64_t{item.value} * small_sets_ >> 32) * kWays];
  }
  Large& LargeOf(Fingerprint item) const {
    return large_[static_cast<size_t>(uint64_t{item.value} * large_count_ >> 32)];
  }

  const size_t small_sets_;
  const size_t large_count_;
  const std::unique_ptr<Small[]> small_;
  const std::unique_ptr<Large[]> large_;
};

}  // namespace seen
