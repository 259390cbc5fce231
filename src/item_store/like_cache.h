#pragma once
// What an item is like, by its fingerprint, in a fixed amount of memory: up to 33 fingerprints an item.
//
// Any thread; no allocation after construction, and no reader waits. A slot is guarded by a version that is
// odd while somebody writes it (a seqlock; source: Lameter 2005, Boehm 2012), so a reader misses where
// a writer is at work. Two threads of which one fills what it has read from disk while the other changes it:
// the fill carries the slot's version from before the disk was read, and is dropped if that has moved on.

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
  /// Whether Fill would take nothing else's place. No promise where others fill.
  bool HasRoom(Fingerprint item, size_t likes) const;

  /// Where Fill will put the item: to be asked for before what is filled is read.
  struct Ticket {
    struct Place {
      uint32_t way = 0;
      uint32_t version = 0;
    };
    Place few, some, many;
  };
  Ticket Begin(Fingerprint item) const;
  /// `created_s`: of the item, seconds since 1970. `likes`: at most kLikesMax.
  void Fill(Fingerprint item, const Ticket& ticket, uint32_t created_s, std::span<const Fingerprint> likes);
  /// After a change: what was known of the item, and what others have read of it meanwhile, isn't used.
  void Invalidate(Fingerprint item);
  void Clear();

  uint64_t bytes() const { return few_.bytes() + some_.bytes() + many_.bytes(); }

 private:
  template <size_t kMax>
  struct Slot {
    static constexpr size_t kLikes = kMax;
    std::atomic<uint32_t> version{0};
    std::atomic<uint32_t> key{0};
    std::atomic<uint32_t> count{0};  // with kUsed, or 0: free
    std::atomic<uint32_t> created_s{0};
    std::array<std::atomic<uint32_t>, kMax> likes{};
  };
  // Slots of one size; an item has one set of them.
  template <size_t kMax, size_t kWays>
  class Slots {
   public:
    static constexpr size_t kLikes = kMax;
    explicit Slots(uint64_t bytes);
    void Prefetch(Fingerprint item) const;
    std::optional<Found> Find(Fingerprint item, Likes& likes) const;
    bool HasRoom(Fingerprint item) const;
    Ticket::Place Begin(Fingerprint item, uint32_t turn) const;
    void Fill(Fingerprint item, const Ticket::Place& place, uint32_t created_s,
              std::span<const Fingerprint> likes);
    void Invalidate(Fingerprint item);
    void Clear();
    uint64_t bytes() const { return count_ * sizeof(Set); }

   private:
    struct alignas(64) Set {
      std::array<Slot<kMax>, kWays> slots;
    };
    Set& SetOf(Fingerprint item) const {
      return sets_[static_cast<size_t>(uint64_t{item.value} * count_ >> 32)];
    }
    const size_t count_;
    const std::unique_ptr<Set[]> sets_;
  };

  Slots<4, 4> few_;  // 32 bytes each: nearly all items
  Slots<12, 2> some_;
  Slots<kLikesMax, 1> many_;
};

}  // namespace seen
