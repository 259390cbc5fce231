#include "flow/tail_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <new>

namespace seen {
namespace {
constexpr uint64_t kChunkMin = 64 * 1024;
constexpr uint64_t kHugePage = 2 * 1024 * 1024;
}  // namespace

TailMemory::TailMemory(uint64_t tail_bytes_max)
    : tail_bytes_max_(tail_bytes_max),
      chunk_bytes_(std::clamp<uint64_t>(std::bit_floor(tail_bytes_max / 8), kChunkMin, kHugePage)) {}

TailMemory::~TailMemory() {
  for (std::byte* chunk : free_) Free(chunk);
}

void TailMemory::Free(std::byte* chunk) const { ::operator delete(chunk, std::align_val_t(chunk_bytes_)); }

std::byte* TailMemory::Take() {
  {
    const MutexLock lock(mutex_);
    if (!free_.empty()) {
      std::byte* const chunk = free_.back();
      free_.pop_back();
      return chunk;
    }
  }
  auto* const chunk = static_cast<std::byte*>(::operator new(chunk_bytes_, std::align_val_t(chunk_bytes_)));
  // Look-ups of users access it at random, so huge pages help. Best effort: small pages work, too.
  if (chunk_bytes_ == kHugePage) (void)madvise(chunk, chunk_bytes_, MADV_HUGEPAGE);
  return chunk;
}

void TailMemory::GiveBack(std::vector<std::byte*> chunks, uint32_t users) {
  std::vector<std::byte*> surplus;
  {
    const MutexLock lock(mutex_);
    last_users_ = users;
    const size_t kept = chunks.size();
    free_.insert(free_.end(), chunks.begin(), chunks.end());
    if (free_.size() > kept) {
      surplus.assign(free_.begin() + static_cast<std::ptrdiff_t>(kept), free_.end());
      free_.resize(kept);
    }
  }
  for (std::byte* chunk : surplus) Free(chunk);
}

uint32_t TailMemory::last_users() const {
  const MutexLock lock(mutex_);
  return last_users_;
}

}  // namespace seen
