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

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/probed_cells.h"
#include "similar/groups/item_index_port.h"

namespace seen {

/// Says whether a key is worth a look-up: no, or maybe. A Bloom filter that keeps all bits of a key in one
/// cache line. Source: Putze, Sanders, Singler 2007, "blocked Bloom filters". In a register-blocked filter of
/// the same size five times as many missing keys pass.
/// Keys are hashes, uniform in their upper half, which selects the cache line. One writer adds and clears.
/// Any thread tests, without a lock. A key that was added before a reader began is never denied.
class PresenceBits {
 public:
  static constexpr size_t kBytesAKey = 2;
  static constexpr size_t kKeysMin = 8192;
  /// With `keys` keys in it, about one or two in a thousand missing keys pass.
  explicit PresenceBits(size_t keys)
      : count_(std::max(keys, kKeysMin) / kKeysALine), lines_(MakeLines(count_)) {}

  size_t bytes() const { return count_ * sizeof(Line); }
  size_t keys_max() const { return count_ * kKeysALine; }

  void Prefetch(uint64_t key) const { PrefetchLine(&lines_[PlaceOf(key)]); }
  bool Test(uint64_t key) const {
    const Line& line = lines_[PlaceOf(key)];
    uint64_t bits = BitsOf(key);
    for (int i = 0; i < kBitsAKey; ++i, bits >>= kBitWidth) {
      if ((line[WordOf(bits)].load(std::memory_order_acquire) & MaskOf(bits)) == 0) return false;
    }
    return true;
  }
  /// False: the key passed already.
  bool Add(uint64_t key) {
    if (Test(key)) return false;
    Line& line = lines_[PlaceOf(key)];
    uint64_t bits = BitsOf(key);
    for (int i = 0; i < kBitsAKey; ++i, bits >>= kBitWidth) {
      std::atomic<uint64_t>& word = line[WordOf(bits)];
      // No other thread writes. A locked instruction per bit would take most of a start's time.
      word.store(word.load(std::memory_order_relaxed) | MaskOf(bits), std::memory_order_release);
    }
    return true;
  }
  void Clear() {
    for (size_t i = 0; i < count_; ++i) {
      for (std::atomic<uint64_t>& word : lines_[i].words) word.store(0, std::memory_order_relaxed);
    }
  }

 private:
  static constexpr int kBitsAKey = 6;
  static constexpr int kBitWidth = 9;  // bits of a place in a line
  struct alignas(64) Line {
    std::array<std::atomic<uint64_t>, 8> words{};
    std::atomic<uint64_t>& operator[](size_t i) { return words[i]; }
    const std::atomic<uint64_t>& operator[](size_t i) const { return words[i]; }
  };
  static constexpr size_t kKeysALine = sizeof(Line) / kBytesAKey;

  size_t PlaceOf(uint64_t key) const { return static_cast<size_t>((key >> 32) * count_ >> 32); }
  static uint64_t BitsOf(uint64_t key) {
    key = (key ^ key >> 32) * 0x9e3779b97f4a7c15u;
    return (key ^ key >> 29) * 0xbf58476d1ce4e5b9u >> (64 - kBitsAKey * kBitWidth);
  }
  static size_t WordOf(uint64_t bits) { return bits >> 6 & 7; }
  static uint64_t MaskOf(uint64_t bits) { return uint64_t{1} << (bits & 63); }

  // Uses pages of two megabytes if there are such. Each test reads another line, and with small pages it also
  // costs a miss of the page table.
  struct Free {
    void operator()(Line* lines) const { std::free(lines); }
  };
  using Lines = std::unique_ptr<Line[], Free>;
  static Lines MakeLines(size_t count) {
    constexpr size_t kPage = 2 << 20;
    const bool is_large = count * sizeof(Line) >= kPage;
    const size_t alignment = is_large ? kPage : alignof(Line);
    const size_t bytes = (count * sizeof(Line) + alignment - 1) / alignment * alignment;
    void* const memory = std::aligned_alloc(alignment, bytes);
    if (memory == nullptr) throw std::bad_alloc();
    if (is_large) ::madvise(memory, bytes, MADV_HUGEPAGE);
    return Lines(new (memory) Line[count]());
  }

  const size_t count_;
  const Lines lines_;
};

/// Test, Prefetch and Count: any thread, under a lock that excludes the functions that add. No key is ever
/// removed. Of a hash only the upper 48 bits count, because files keep only these
/// (similar/store/item_presence.h).
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
  /// bands and its beginning. At the last two places an item has none, but a question may. 0: none.
  using ListHashes = std::array<uint64_t, kNearHashes + kBandLists>;
  static ListHashes HashesOf(const ItemFeatures& features);
  static uint64_t HashOfBeginning(uint64_t beginning);
  /// The place at which an item has the hash that another one asks for at `place`.
  static constexpr size_t ListedPlace(size_t place) { return std::min(place, kNearHashes + kBands); }
  /// Places in ListHashes. A list (SimHash tables, then bands) has an entry for the item only if the presence
  /// has the hash at one of these places.
  static std::span<const uint8_t> HashesOfList(size_t list);

  /// The hashes of ListHashes that are of these kinds of lists and name the item.
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
  /// True: a key wasn't noted, because there was no space.
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

/// A bucket's presence (similar/store/item_presence.h) as rows: schemas/store.md, "The index of items". Each
/// checkpoint writes the hashes that were noted since the one before. So a start reads six bytes per hash, 60
/// per item, instead of the items. Pure.
struct PresenceHashes {
  std::vector<uint64_t> keys;    // as ItemPresence::Add takes them
  std::vector<uint64_t> listed;  // as ItemPresence::AddListed takes them
};

/// The values of rows, about 400 KB each at most.
std::vector<std::string> EncodePresence(const PresenceHashes& hashes);

/// False: EncodePresence didn't write it.
[[nodiscard]] bool AddPresence(std::string_view row, ItemPresence& presence);

}  // namespace seen
