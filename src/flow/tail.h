#pragma once
// A partition's changes since its last checkpoint, in memory, readable while they are written.
//
// Threads: one writer; any number of readers, which it never waits for and which never wait for it. A change
// is visible when Append returns. Layout: an open-addressed index of (hash tag, slot number) over slots of
// one user each, whose changes are a list, newest first, through chunks that never move. A grown index
// replaces the old one, which is kept until the tail goes: a reader that still looks there misses only what
// came after it began.

#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "flow/filter_policy.h"
#include "model/change.h"
#include "model/user_key.h"

namespace seen {

class Tail {
 public:
  /// `bytes_max`: Full() from there on. A single Append may go over it by what it adds.
  explicit Tail(uint64_t bytes_max);
  ~Tail();
  Tail(const Tail&) = delete;
  Tail& operator=(const Tail&) = delete;

  struct UserSlot {
    UserKey key;
    std::string_view user_id;         // in the tail's arena
    std::atomic<uint32_t> newest{0};  // entry number + 1; 0: none yet
    uint32_t dirty_batch = 0;         // writer only: the last batch that touched it,
    uint32_t dirty_index = 0;         // and its place among that batch's dirty users
    FilterMask deferred = 0;          // writer only: filters whose publication was left to a mark
    bool ids_met = false;             // writer only: two ids came under this key
  };

  /// Writer. The user's slot, made if new. The reference stays valid and its address stable.
  UserSlot& SlotOf(const UserKey& key, std::string_view user_id);
  /// Writer.
  void Append(UserSlot& slot, const Change& change, FilterMask filters);
  bool Full() const { return bytes_.load(std::memory_order_relaxed) >= bytes_max_; }
  bool Empty() const { return slot_count_ == 0; }

  /// Any thread. The user's changes for the filters in `filters`, in log order; appended to `out`.
  /// Returns the user's id, empty where the tail has nothing of the user.
  std::string_view Read(const UserKey& key, FilterMask filters, std::vector<Change>& out) const;

  /// Any thread.
  uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

  /// Once the writer is done with it: all slots, ascending by key.
  std::vector<const UserSlot*> SortedUsers() const;
  void ReadSlot(const UserSlot& slot, FilterMask filters, std::vector<Change>& out) const;

 private:
  struct Entry {
    uint32_t fingerprint;
    uint32_t second;
    uint32_t next;  // entry number + 1
    uint16_t filters;
    ChangeKind kind;
  };
  static_assert(sizeof(Entry) == 16);
  struct Index;

  static constexpr uint32_t kEntriesPerChunk = 4096;
  static constexpr uint32_t kSlotsPerChunk = 1024;
  static constexpr size_t kIdChunkBytes = 64 * 1024;

  const Entry& EntryAt(uint32_t number) const {
    return entry_chunks_[number / kEntriesPerChunk][number % kEntriesPerChunk];
  }
  UserSlot& SlotAt(uint32_t number) const {
    return slot_chunks_[number / kSlotsPerChunk][number % kSlotsPerChunk];
  }
  const UserSlot* Find(const UserKey& key) const;
  void Grow();
  std::string_view StoreId(std::string_view user_id);
  void AddBytes(uint64_t bytes) {
    bytes_.store(bytes_.load(std::memory_order_relaxed) + bytes, std::memory_order_relaxed);
  }

  const uint64_t bytes_max_;
  std::atomic<uint64_t> bytes_{0};
  uint32_t entry_count_ = 0;  // writer
  uint32_t slot_count_ = 0;   // writer
  // Tables of chunk pointers, as long as they can ever get: a reader must not see them move.
  std::unique_ptr<std::unique_ptr<Entry[]>[]> entry_chunks_;
  std::unique_ptr<std::unique_ptr<UserSlot[]>[]> slot_chunks_;
  size_t entry_chunks_max_;
  size_t slot_chunks_max_;
  std::vector<std::unique_ptr<char[]>> id_chunks_;  // writer
  size_t id_chunk_left_ = 0;                        // writer
  char* id_next_ = nullptr;                         // writer
  std::vector<std::unique_ptr<Index>> indexes_;     // writer; the last is current
  std::atomic<const Index*> index_;
};

}  // namespace seen
