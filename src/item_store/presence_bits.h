#pragma once
// Says whether a key is worth a look-up: no, or maybe. A Bloom filter that keeps all bits of a key in one
// cache line. Source: Putze, Sanders, Singler 2007, "blocked Bloom filters". In a register-blocked filter of
// the same size five times as many missing keys pass.

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

#include "base/prefetch.h"

namespace seen {

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

}  // namespace seen
