#pragma once
// Which keys a bucket of the index of items has, so that a look-up of what isn't there costs a cache line and
// no file. In memory, two bytes a key: 20 an item where MinHash alone lists it, 64 where both methods do; in
// a first bucket up to three times as much.
//
// RocksDB's own filters would say the same from its block cache, a key and a file at a time; where the cache
// is small they were read from disk over and over (40% of the writer's time at 60,000 items).
//
// Of lists of candidates it says more: how many items stand in one, so that one needn't be read where all of
// these are known from others. Of SimHash lists, which at a million items all have entries, how many may be
// within kNearBits. Two SimHashes within three bits that agree in one block of four agree in another one too,
// or differ by a bit in each of the three others, and then in one half of each. So 32 bits agree, of which
// there are seven choices a list: hardly anything else passes (Manku, Jain, Das Sarma 2007, section 3, has
// tables by blocks that agree).

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "item_store/presence_bits.h"
#include "items/item_index_port.h"

namespace seen {

/// Test and Prefetch: any thread, under the lock that keeps the others out. Nothing is ever taken out. Of a
/// hash the upper 48 bits count: so many a file keeps (item_store/presence_rows.h).
class ItemPresence {
 public:
  static constexpr size_t kPairs = 6;   // of blocks
  static constexpr size_t kHalves = 4;  // a table: of halves of two other blocks
  static constexpr size_t kNearHashes = kPairs + kSimHashTables * kHalves;
  static constexpr unsigned kCountMax = 4;  // so many, or more

  /// `keys`: about so many are expected. Beyond `bytes_max` nothing more is noted, and all else may be there.
  ItemPresence(size_t keys, uint64_t bytes_max) : keys_expected_(keys), bytes_max_(bytes_max) {}

  static uint64_t HashOf(std::string_view key);
  /// Of what an item stands in: what its SimHash may have in common with others, then its bands.
  using ListHashes = std::array<uint64_t, kNearHashes + kBands>;
  static ListHashes HashesOf(const ItemFeatures& features);
  /// Places in ListHashes of which a list (SimHash tables, then bands) has one, if there is anything for the
  /// item.
  static std::span<const uint8_t> HashesOfList(size_t list);

  /// Of ListHashes, those of the lists of these kinds.
  static std::span<const uint64_t> Listed(const ListHashes& hashes, bool by_simhash, bool by_minhash);

  /// As HashOf makes it.
  void Add(uint64_t hash) { Note(hash); }
  /// One of ListHashes, of an item more.
  void AddListed(uint64_t hash);
  void Prefetch(uint64_t hash) const {
    for (const auto& part : parts_) part->Prefetch(hash);
  }
  /// False: it was never added.
  bool Test(uint64_t hash) const {
    for (const auto& part : parts_) {
      if (part->Test(hash)) return true;
    }
    return full_;
  }
  /// Of ListHashes: of how many items it is, kCountMax for more. Never too few, seldom too many.
  unsigned Count(uint64_t hash) const;
  size_t keys() const { return keys_; }
  /// Something wasn't noted for want of room.
  bool full() const { return full_; }
  uint64_t bytes() const;

 private:
  bool Note(uint64_t hash);
  void Grow();

  const size_t keys_expected_;
  const uint64_t bytes_max_;
  std::vector<std::unique_ptr<PresenceBits>> parts_;  // the last one grows full, and is followed by a larger
  size_t room_ = 0;                                   // keys that the last one takes yet
  size_t keys_ = 0;
  bool full_ = false;
};

}  // namespace seen
