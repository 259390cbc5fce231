#pragma once
// Memory of a partition's tails, in chunks that go from one tail to a later one: to fault a page in costs
// more than to fill it. Any thread.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/mutex.h"

namespace seen {

class TailMemory {
 public:
  /// `tail_bytes_max`: of each of the tails; chunks are an eighth of it, within 64 KiB to 2 MiB (a huge
  /// page).
  explicit TailMemory(uint64_t tail_bytes_max);
  ~TailMemory();
  TailMemory(const TailMemory&) = delete;
  TailMemory& operator=(const TailMemory&) = delete;

  uint64_t tail_bytes_max() const { return tail_bytes_max_; }
  size_t chunk_bytes() const { return chunk_bytes_; }

  /// A chunk, aligned to 64 bytes at least, of any content.
  std::byte* Take();
  /// All that a tail of `users` users had. As many are kept as it gave, for the next tail will be like it.
  void GiveBack(std::vector<std::byte*> chunks, uint32_t users);
  /// Of the tail that was given back last.
  uint32_t last_users() const;

 private:
  void Free(std::byte* chunk) const;

  const uint64_t tail_bytes_max_;
  const size_t chunk_bytes_;
  mutable Mutex mutex_;
  std::vector<std::byte*> free_ GUARDED_BY(mutex_);
  uint32_t last_users_ GUARDED_BY(mutex_) = 0;
};

}  // namespace seen
