#pragma once
// Memory of a partition's tails, in chunks. A later tail reuses the chunks of an earlier one, because
// faulting a page in costs more than filling it. Any thread.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/mutex.h"

namespace seen {

class TailMemory {
 public:
  /// `tail_bytes_max`: the limit of each tail. Chunks are an eighth of it, within 64 KiB to 2 MiB (a huge
  /// page).
  explicit TailMemory(uint64_t tail_bytes_max);
  ~TailMemory();
  TailMemory(const TailMemory&) = delete;
  TailMemory& operator=(const TailMemory&) = delete;

  uint64_t tail_bytes_max() const { return tail_bytes_max_; }
  size_t chunk_bytes() const { return chunk_bytes_; }

  /// A chunk, aligned to at least 64 bytes, of any content.
  std::byte* Take();
  /// Takes back all chunks of a tail of `users` users. Keeps as many free chunks as it got, because the next
  /// tail will need about as many.
  void GiveBack(std::vector<std::byte*> chunks, uint32_t users);
  /// The number of users of the tail that was given back last.
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
