#pragma once
// A partition's changes since its last checkpoint, in memory, readable while they are written.
//
// Threads: one writer and any number of readers; neither waits for the other. A change is visible when Append
// returns. Layout, in units of a cache line: an index (flow/user_index.h) over slots of one user each. A slot
// holds the user's first two changes. Further changes are in a list of blocks, newest first. Blocks never
// move. What changes have in common is stored once per slot and block.
//
// A look-up costs three cache misses: index, slot, block. The writer has many users at hand at once, so it
// prefetches: PrefetchIndex for all of them, then PrefetchSlot, then SlotOf and PrefetchBlock, then Append.

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/probed_cells.h"
#include "flow/filter_policy.h"
#include "flow/tail_memory.h"
#include "flow/user_index.h"
#include "model/change.h"
#include "model/hashes.h"

namespace seen {

class Tail {
 public:
  /// `similar_filters`: the filters that record what is similar. Changes of kSimilar are for these alone.
  explicit Tail(std::shared_ptr<TailMemory> memory, FilterMask similar_filters = 0);
  /// A tail with a memory of its own.
  explicit Tail(uint64_t bytes_max) : Tail(std::make_shared<TailMemory>(bytes_max)) {}
  ~Tail();
  Tail(const Tail&) = delete;
  Tail& operator=(const Tail&) = delete;

 private:
  struct Entry {
    uint32_t fingerprint;
    uint32_t second;
  };
  static constexpr uint8_t kInline = 2;

 public:
  struct alignas(64) UserSlot {
    UserKey key;
    const char* id = nullptr;         // in the tail: its length in two bytes, then the id
    uint32_t id_check = 0;            // writer only
    std::atomic<uint32_t> newest{0};  // block, as unit + 1; 0: none yet
    uint32_t dirty_batch = 0;         // writer only: the last batch that touched it
    uint32_t dirty_index = 0;         // writer only: its place among that batch's dirty users
    FilterMask deferred = 0;          // writer only: filters whose publication was left to a mark
    bool has_collision = false;       // writer only: two ids came under this key
    std::atomic<uint8_t> used{0};     // of `first`
    FilterMask filters = 0;           // of all in `first`
    ChangeKind kind{};                // of all in `first`, except kSimilar ones
    std::atomic<uint8_t> similar{0};  // a bit each: which of `first` are kSimilar
    std::array<Entry, kInline> first;

    std::string_view user_id() const;
  };
  static_assert(sizeof(UserSlot) == 64);

  void PrefetchIndex(const UserKey& key) const { index_.Prefetch(key); }
  void PrefetchSlot(const UserKey& key) const;
  void PrefetchBlock(const UserSlot& slot) const;
  static void PrefetchId(const UserSlot& slot) { PrefetchLine(slot.id); }

  /// Writer. Returns the user's slot, and adds it if the user is new. The slot never moves. `id_check`: a
  /// hash of the id, another one than the key. It reveals two ids under one key without comparing the ids.
  UserSlot& SlotOf(const UserKey& key, std::string_view user_id, uint32_t id_check);
  /// Writer. It may exceed the limit by what it adds. kSimilar: if `filters` are all similar filters of the
  /// exposure before it, the change joins that exposure's block. Else it takes a block of its own.
  void Append(UserSlot& slot, const Change& change, FilterMask filters);
  bool Full() const { return bytes() >= bytes_max_; }
  bool Empty() const { return index_.size() == 0; }

  /// Any thread. Appends the user's changes for the filters in `filters` to `out`, in log order. Returns the
  /// user's id, empty if the tail has nothing of the user.
  std::string_view Read(const UserKey& key, FilterMask filters, std::vector<Change>& out) const;

  /// Any thread. The user's id; empty if the tail doesn't have the user.
  std::string_view IdOf(const UserKey& key) const;

  /// Any thread. Bytes in use.
  uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

  /// Once the writer is done with the tail: all slots, ascending by key.
  std::vector<const UserSlot*> SortedUsers() const;
  void ReadSlot(const UserSlot& slot, FilterMask filters, std::vector<Change>& out) const;

 private:
  struct Block {
    uint32_t older = 0;  // as unit + 1
    std::atomic<uint16_t> used{0};
    FilterMask filters = 0;  // of all in it
    uint16_t capacity = 0;
    ChangeKind kind{};  // of all in it, except kSimilar ones
    // A bit each: which entries are kSimilar. They are for those of `filters` that are similar filters. They
    // come between exposures. If they had blocks of their own, each switch of kind would begin a new block.
    std::atomic<uint32_t> similar{0};
    Entry* entries() { return reinterpret_cast<Entry*>(this + 1); }
    const Entry* entries() const { return reinterpret_cast<const Entry*>(this + 1); }
  };
  static_assert(sizeof(Block) == 16);

  static constexpr size_t kUnit = 64;

  void* UnitAt(uint32_t unit) const { return chunks_[unit >> unit_bits_] + (unit & unit_mask_) * kUnit; }
  UserSlot& SlotAt(uint32_t unit) const { return *static_cast<UserSlot*>(UnitAt(unit)); }
  Block& BlockAt(uint32_t unit) const { return *static_cast<Block*>(UnitAt(unit)); }
  bool Takes(FilterMask of, ChangeKind kind, const Change& change, FilterMask filters) const;
  uint32_t NewUnits(uint32_t count);
  const UserSlot* Find(const UserKey& key) const;
  const char* StoreId(std::string_view user_id);
  void AddBytes(uint64_t bytes) {
    bytes_.store(bytes_.load(std::memory_order_relaxed) + bytes, std::memory_order_relaxed);
  }

  const std::shared_ptr<TailMemory> memory_;
  const uint64_t bytes_max_;
  const FilterMask similar_filters_;
  const uint32_t unit_bits_;  // a chunk has 2^unit_bits_ units
  const uint32_t unit_mask_;
  std::atomic<uint64_t> bytes_{0};
  uint32_t next_unit_ = 0;  // writer
  uint32_t unit_end_ = 0;   // writer: where the chunks taken so far end
  // Allocated as long as it can ever get, because a reader must not see it move.
  std::unique_ptr<std::byte*[]> chunks_;
  size_t chunks_max_;
  char* id_next_ = nullptr;  // writer
  size_t id_left_ = 0;       // writer
  UserIndex index_;          // of slots by their units
};

}  // namespace seen
