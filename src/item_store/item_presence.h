#pragma once
// Which keys a bucket of the index of items has: the look-up of a missing key costs a cache line and no file.
// It takes two bytes of memory per key: 20 per item if only MinHash lists it, 64 if both methods do. In a
// first bucket it takes up to three times as much.
//
// RocksDB's own filters would give the same answer from its block cache, one key and one file at a time. With
// a small cache they were read from disk again and again (40% of the writer's time at 60,000 items).
//
// For lists of candidates it also gives the number of items in a list. A list needn't be read if all of its
// items are known from other lists. At a million items all SimHash lists have entries. For these it counts
// the items that may be within kNearBits. Take two SimHashes within three bits that agree in one of four
// blocks. Either they agree in another block too, or they differ by one bit in each of the other three. In
// the second case they agree in one half of each. In both cases 32 bits agree. A list has seven such choices,
// and hardly anything else passes (Manku, Jain, Das Sarma 2007, section 3, has tables by blocks that agree).

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "item_store/presence_bits.h"
#include "items/item_index_port.h"

namespace seen {

/// Test, Prefetch and Count: any thread, under a lock that excludes the functions that add. No key is ever
/// removed. Of a hash only the upper 48 bits count, because files keep only these
/// (item_store/presence_rows.h).
class ItemPresence {
 public:
  static constexpr size_t kPairs = 6;   // of blocks
  static constexpr size_t kHalves = 4;  // per table: of halves of two other blocks
  static constexpr size_t kNearHashes = kPairs + kSimHashTables * kHalves;
  static constexpr unsigned kCountMax = 4;  // this many, or more

  /// `keys`: about how many are expected. Beyond `bytes_max` nothing more is noted, and then every key may be
  /// there.
  ItemPresence(size_t keys, uint64_t bytes_max) : keys_expected_(keys), bytes_max_(bytes_max) {}

  static uint64_t HashOf(std::string_view key);
  /// Hashes of the lists that an item is in: first the parts of its SimHash that near ones share, then its
  /// bands.
  using ListHashes = std::array<uint64_t, kNearHashes + kBands>;
  static ListHashes HashesOf(const ItemFeatures& features);
  /// Places in ListHashes. A list (SimHash tables, then bands) has an entry for the item only if the presence
  /// has the hash at one of these places.
  static std::span<const uint8_t> HashesOfList(size_t list);

  /// The hashes of ListHashes that are of these kinds of lists.
  static std::span<const uint64_t> Listed(const ListHashes& hashes, bool by_simhash, bool by_minhash);

  /// `hash`: as HashOf returns it.
  void Add(uint64_t hash) { Note(hash); }
  /// `hash`: one of ListHashes. Counts one more item with it.
  void AddListed(uint64_t hash);
  void Prefetch(uint64_t hash) const {
    for (const auto& part : parts_) part->Prefetch(hash);
  }
  /// False: the hash was never added.
  bool Test(uint64_t hash) const {
    for (const auto& part : parts_) {
      if (part->Test(hash)) return true;
    }
    return full_;
  }
  /// `hash`: one of ListHashes. The number of items with it; kCountMax for more. Never too low, seldom too
  /// high.
  unsigned Count(uint64_t hash) const;
  size_t keys() const { return keys_; }
  /// True: a key wasn't noted, because there was no room.
  bool full() const { return full_; }
  uint64_t bytes() const;

 private:
  bool Note(uint64_t hash);
  void Grow();

  const size_t keys_expected_;
  const uint64_t bytes_max_;
  std::vector<std::unique_ptr<PresenceBits>> parts_;  // after the last one is full, a larger one follows
  size_t room_ = 0;                                   // keys that the last part can still take
  size_t keys_ = 0;
  bool full_ = false;
};

}  // namespace seen
