#pragma once
// The additions of updates in memory: 12 bytes each, in the order of their arrival, and where each user's
// newest one is.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "seen/hash.h"
#include "seen/update.h"

namespace seen::client::internal {

/// What the additions of one section of an update have in common.
struct AdditionChunk {
  std::int64_t generation = 0;
  std::int64_t to = 0;
  std::int64_t as_of_before_ms = -1;  // of the generation, before the update came; -1: not known
  std::uint64_t record = 0;           // updates of all partitions in the order of their arrival
  std::uint32_t count = 0;
  std::uint32_t until_s = 0;
  AdditionKind kind = AdditionKind::kSeen;
  bool dropped = false;
};

/// The additions of one partition. Each has a number, modulo 2^32, and the number of the one before it of the
/// same user. Nothing is unlinked: a number that is no longer held ends the user's chain. So there must
/// never be more than kHeldMax between the first and the last.
///
///     chunks      | section | section    | dropped | section |
///     additions   | a  b  c | a  a  b  d |         | e  a    |  -> numbers ascend
class AdditionLog {
 public:
  static constexpr std::uint32_t kHeldMax = 1U << 31;

  struct Addition {
    Fingerprint fingerprint;
    std::uint32_t older;  // number of the user's addition before this one
    std::uint32_t chunk;
  };

  /// How many there are, without the dropped ones.
  std::uint32_t size() const { return size_; }
  /// With those that were dropped, but stand behind one that wasn't.
  std::uint32_t held() const { return next_ - first_; }
  std::size_t bytes() const {
    return blocks_.size() * sizeof(Block) + chunks_.size() * sizeof(AdditionChunk);
  }

  /// A number that isn't held, and never will be together with the next addition.
  std::uint32_t none() const { return next_ - kHeldMax; }
  bool Holds(std::uint32_t number) const { return number - first_ < held(); }
  /// `number` must be held; so on.
  const Addition& At(std::uint32_t number) const {
    return blocks_[static_cast<std::uint32_t>(number / kBlock - first_ / kBlock) % kBlocks]
        ->at[number % kBlock];
  }
  const AdditionChunk& ChunkOf(const Addition& addition) const {
    return chunks_[addition.chunk - first_chunk_];
  }
  const std::deque<AdditionChunk>& chunks() const { return chunks_; }

  /// `chunk.count` additions follow.
  void Begin(const AdditionChunk& chunk) {
    chunks_.push_back(chunk);
    size_ += chunk.count;
  }
  /// Returns the addition's number. `older`: the user's newest one before it.
  std::uint32_t Append(Fingerprint fingerprint, std::uint32_t older) {
    if (next_ % kBlock == 0) blocks_.emplace_back(new Block);
    const std::uint32_t chunk = first_chunk_ + static_cast<std::uint32_t>(chunks_.size()) - 1;
    if (!Holds(older)) older = none();
    blocks_.back()->at[next_ % kBlock] = {fingerprint, older, chunk};
    return next_++;
  }

  /// Drops the chunks for which `drop(chunk)` is true. O(chunks).
  template <typename Drop>
  void DropIf(Drop drop) {
    for (AdditionChunk& chunk : chunks_) {
      if (chunk.dropped || !drop(chunk)) continue;
      chunk.dropped = true;
      size_ -= chunk.count;
    }
    PopDropped();
  }
  /// Drops the oldest update's; there must be one. O(its sections).
  void DropOldest() {
    const std::uint64_t record = chunks_.front().record;
    for (AdditionChunk& chunk : chunks_) {
      if (chunk.record != record) break;
      if (!chunk.dropped) size_ -= chunk.count;
      chunk.dropped = true;
    }
    PopDropped();
  }

 private:
  static constexpr std::uint32_t kBlock = 1024;
  static constexpr std::uint32_t kBlocks = (std::uint64_t{1} << 32) / kBlock;
  struct Block {
    Addition at[kBlock];
  };

  void PopDropped() {
    for (; !chunks_.empty() && chunks_.front().dropped; chunks_.pop_front(), ++first_chunk_) {
      for (std::uint32_t left = chunks_.front().count; left > 0;) {
        const std::uint32_t here = std::min(left, kBlock - first_ % kBlock);
        first_ += here;
        left -= here;
        if (first_ % kBlock == 0) blocks_.pop_front();
      }
    }
  }

  std::deque<AdditionChunk> chunks_;  // the first one isn't dropped
  std::deque<std::unique_ptr<Block>> blocks_;
  // Both kinds of numbers begin shortly before they wrap, so that every reader soon passes over that.
  std::uint32_t first_ = 0U - 4 * kBlock, next_ = first_;  // of additions
  std::uint32_t first_chunk_ = 0U - 100;
  std::uint32_t size_ = 0;
};

/// The newest addition of each user in each partition: a table with linear probing, so that one run of slots
/// has all partitions of a user. Users whose additions were dropped leave when the table is rebuilt.
class UserIndex {
 public:
  static constexpr std::uint32_t kFree = 0xffffffffU;
  struct Slot {
    std::uint64_t user = 0;
    std::uint32_t partition = kFree;
    std::uint32_t newest = 0;
  };

  std::size_t bytes() const { return slots_.size() * sizeof(Slot); }

  /// Makes room for so many more users. `holds(slot)`: whether the slot's addition is still there.
  template <typename Holds>
  void Reserve(std::size_t more, Holds holds) {
    if (used_ + more <= slots_.size() / 4 * 3) return;
    Rebuild(more, holds);
  }
  template <typename Holds>
  void Rebuild(std::size_t more, Holds holds) {
    std::size_t alive = 0;
    for (const Slot& slot : slots_) alive += slot.partition != kFree && holds(slot) ? 1U : 0U;
    std::size_t size = 16;
    while (size < 2 * (alive + more)) size *= 2;
    std::vector<Slot> old(size);
    old.swap(slots_);
    used_ = 0;
    for (const Slot& slot : old) {
      if (slot.partition != kFree && holds(slot)) Find(slot.user, slot.partition, slot.newest);
    }
  }

  void Prefetch([[maybe_unused]] std::uint64_t user) const {
#if defined(__GNUC__)
    __builtin_prefetch(&slots_[user & (slots_.size() - 1)], 1);
#endif
  }
  /// The user's slot, or a new one with this `newest`; there must be room.
  Slot& Find(std::uint64_t user, std::uint32_t partition, std::uint32_t newest) {
    std::size_t at = user & (slots_.size() - 1);
    for (; slots_[at].partition != kFree; at = (at + 1) & (slots_.size() - 1)) {
      if (slots_[at].user == user && slots_[at].partition == partition) return slots_[at];
    }
    ++used_;
    slots_[at] = {user, partition, newest};
    return slots_[at];
  }
  /// Calls `visit(slot)` for each of the user's partitions, until it returns true; whether it did.
  template <typename Visit>
  bool Any(std::uint64_t user, Visit visit) const {
    if (slots_.empty()) return false;
    for (std::size_t at = user & (slots_.size() - 1); slots_[at].partition != kFree;
         at = (at + 1) & (slots_.size() - 1)) {
      if (slots_[at].user == user && visit(slots_[at])) return true;
    }
    return false;
  }

 private:
  std::vector<Slot> slots_;  // 0, or a power of two; at most three quarters are in use
  std::size_t used_ = 0;
};

}  // namespace seen::client::internal
