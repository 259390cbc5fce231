#pragma once
// Which keys are worth a look-up: no, or maybe. A Bloom filter whose bits of a key lie in one 64-bit
// word, so that an answer costs one cache line. Source: Putze, Sanders, Singler 2007, "register-blocked".

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace seen {

/// Keys are hashes, uniform in their upper half. Any thread, no lock. What was added before a reader began is
/// never denied.
class PresenceBits {
 public:
  static constexpr size_t kBytesAKey = 2;
  /// Four keys a word: some seven in a thousand of what isn't in it pass.
  explicit PresenceBits(size_t keys) : count_(WordsFor(keys)), words_(new std::atomic<uint64_t>[count_]()) {}

  static size_t WordsFor(size_t keys) { return std::max<size_t>(keys / 4, 1024); }
  size_t bytes() const { return count_ * sizeof(uint64_t); }
  size_t keys_max() const { return count_ * 4; }

  void Prefetch(uint64_t key) const { __builtin_prefetch(&words_[PlaceOf(key)]); }
  bool Test(uint64_t key) const {
    const uint64_t bits = BitsOf(key);
    return (words_[PlaceOf(key)].load(std::memory_order_acquire) & bits) == bits;
  }
  /// False: it would have passed already.
  bool Add(uint64_t key) {
    const uint64_t bits = BitsOf(key);
    return (words_[PlaceOf(key)].fetch_or(bits, std::memory_order_acq_rel) & bits) != bits;
  }
  void Clear() {
    for (size_t i = 0; i < count_; ++i) words_[i].store(0, std::memory_order_relaxed);
  }

 private:
  size_t PlaceOf(uint64_t key) const { return static_cast<size_t>((key >> 32) * count_ >> 32); }
  static uint64_t BitsOf(uint64_t key) {
    const uint64_t mixed = (key + 1) * 0x9e3779b97f4a7c15u;
    return uint64_t{1} << (mixed >> 58) | uint64_t{1} << (mixed >> 52 & 63) |
           uint64_t{1} << (mixed >> 46 & 63) | uint64_t{1} << (mixed >> 40 & 63);
  }

  const size_t count_;
  const std::unique_ptr<std::atomic<uint64_t>[]> words_;
};

}  // namespace seen
