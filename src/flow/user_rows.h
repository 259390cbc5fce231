#pragma once
// Rows of bytes by user, in memory, readable while they are written. They are what a partition knows of its
// users since the last checkpoint, beside their seen sets. Threads are as in the tail: one writer and any
// number of readers, and neither waits for the other. A row can be read when Append returns.
//
// A user's rows are a list, newest first. A look-up costs two cache misses. Prefetch takes the one of the
// index in advance.

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "filter/snapshot_format.h"
#include "flow/store_port.h"
#include "flow/tail_memory.h"
#include "flow/user_index.h"
#include "model/answer_limits.h"
#include "model/hashes.h"

namespace seen {

class UserRows {
 public:
  /// `memory` may be shared with later UserRows. The writer must keep bytes() within
  /// memory->tail_bytes_max(), except for one row.
  explicit UserRows(std::shared_ptr<TailMemory> memory);
  ~UserRows() { memory_->GiveBack(std::move(chunks_), index_.size()); }
  UserRows(const UserRows&) = delete;
  UserRows& operator=(const UserRows&) = delete;

  struct Row {
    const Row* older;
    uint32_t size;
    std::string_view bytes() const { return {reinterpret_cast<const char*>(this + 1), size}; }
  };

  void Prefetch(const UserKey& user) const { index_.Prefetch(user); }
  /// Writer. Copies `row`.
  void Append(const UserKey& user, std::string_view row);

  /// Any thread. The user's newest row, which leads to the older ones; nullptr: none. Rows live as long as
  /// this.
  const Row* Newest(const UserKey& user) const;
  /// Any thread. Bytes in use.
  uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

  struct User {
    UserKey key;
    std::atomic<const Row*> newest{nullptr};
  };
  /// Once the writer is done: all users, ascending by key.
  std::vector<const User*> SortedUsers() const;

 private:
  User* Find(const UserKey& user) const;
  User& NewUser(const UserKey& user);
  std::byte* NewBytes(size_t size);
  User& UserAt(uint32_t number) const {
    return user_chunks_[number >> user_bits_][number & ((1u << user_bits_) - 1)];
  }
  void AddBytes(uint64_t bytes) {
    bytes_.store(bytes_.load(std::memory_order_relaxed) + bytes, std::memory_order_relaxed);
  }

  const std::shared_ptr<TailMemory> memory_;
  const uint32_t user_bits_;  // a chunk holds 2^user_bits_ users
  std::atomic<uint64_t> bytes_{0};
  // Allocated as long as it can ever get, because a reader must not see it move.
  const size_t user_chunks_max_;
  std::unique_ptr<User*[]> user_chunks_;

  UserIndex index_;  // of users by number, from 0 on

  // Writer.
  std::byte* next_ = nullptr;
  size_t left_ = 0;
  std::vector<std::byte*> chunks_;
  std::vector<std::unique_ptr<std::byte[]>> long_rows_;
};

/// The id of a user whom no tail knows: from the mark, else from the state, else from the kept last published
/// snapshot. Empty: none has it.
Result<std::string> StoredUserId(const PartitionStore& store, const UserRef& user);

/// A user's items by the days they count for.
enum class DayBy : uint8_t {
  kWindow,  // CountedEnd::day: for readers that drop days past the window
  kTime,    // the day of CountedEnd::second: for readers that ask when an item was seen
};

/// Keeps its memory: one per thread.
class ItemsByDay {
 public:
  /// Returns the newest day first, and each day's fingerprints in order. `ends`: of unique fingerprints, in
  /// any order. The result is valid until the next call.
  std::span<const DayOfItems> Group(std::span<const CountedEnd> ends, DayBy by);

 private:
  std::vector<Fingerprint> fingerprints_;
  std::vector<DayOfItems> days_;
};

}  // namespace seen
