#pragma once
// The items that an item is similar to, by its fingerprint, in a fixed amount of memory: up to 33
// fingerprints per item.
//
// Any thread; no allocation after construction, and no reader waits. A version guards each slot. It is odd
// while a thread writes the slot, and then readers miss (a seqlock; source: Lameter 2005, Boehm 2012). One
// thread may fill a slot from disk while another changes the item. So the fill carries the slot's version
// from before the disk was read, and is dropped if the version has changed.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "model/hashes.h"
#include "similar/port/item_group.h"

namespace seen {

class SimilarCache {
 public:
  static constexpr size_t kFingerprintsMax = kNearItemsMax + 1;
  using Fingerprints = std::array<Fingerprint, kFingerprintsMax>;

  explicit SimilarCache(uint64_t bytes);

  void Prefetch(Fingerprint item) const;
  struct Found {
    size_t count = 0;        // copied to `similar`; 0: known to be similar to nothing
    uint32_t created_s = 0;  // as filled
  };
  /// nullopt: the cache doesn't have the item.
  std::optional<Found> Find(Fingerprint item, Fingerprints& similar) const;
  /// True: Fill would replace no other item. No promise if other threads fill.
  bool HasSpace(Fingerprint item, size_t similar) const;

  /// The places where Fill will put the item. Call Begin before you read what you will fill.
  struct Ticket {
    struct Place {
      uint32_t way = 0;
      uint32_t version = 0;
    };
    Place few, some, many;
  };
  Ticket Begin(Fingerprint item) const;
  /// `created_s`: of the item, seconds since 1970. `similar`: at most kFingerprintsMax.
  void Fill(Fingerprint item, const Ticket& ticket, uint32_t created_s, std::span<const Fingerprint> similar);
  /// Call it after a change. Drops what the cache has of the item, and what other threads have read of it
  /// meanwhile.
  void Invalidate(Fingerprint item);
  void Clear();

  uint64_t bytes() const { return few_.bytes() + some_.bytes() + many_.bytes(); }

 private:
  template <size_t kMax>
  struct Slot {
    static constexpr size_t kMost = kMax;
    std::atomic<uint32_t> version{0};
    std::atomic<uint32_t> key{0};
    std::atomic<uint32_t> count{0};  // with kUsed, or 0: free
    std::atomic<uint32_t> created_s{0};
    std::array<std::atomic<uint32_t>, kMax> similar{};
  };
  // Slots of one size. An item belongs to one set of them.
  template <size_t kMax, size_t kWays>
  class Slots {
   public:
    static constexpr size_t kMost = kMax;
    explicit Slots(uint64_t bytes);
    void Prefetch(Fingerprint item) const;
    std::optional<Found> Find(Fingerprint item, Fingerprints& similar) const;
    bool HasSpace(Fingerprint item) const;
    Ticket::Place Begin(Fingerprint item, uint32_t turn) const;
    void Fill(Fingerprint item, const Ticket::Place& place, uint32_t created_s,
              std::span<const Fingerprint> similar);
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
  Slots<kFingerprintsMax, 1> many_;
};

}  // namespace seen
