#pragma once
// A horizon that one thread sets and any thread reads, as a whole and without a lock. A reader reads again if
// the horizon was being written meanwhile.

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>

#include "model/horizon.h"

namespace seen {

class SharedHorizon {
 public:
  SharedHorizon() { Set({}); }

  /// One thread at a time.
  void Set(const Horizon& horizon) {
    const auto words = std::bit_cast<Words>(horizon);
    const uint32_t writes = writes_.load(std::memory_order_relaxed);
    writes_.store(writes + 1, std::memory_order_relaxed);
    for (size_t i = 0; i < words.size(); ++i) words_[i].store(words[i], std::memory_order_release);
    writes_.store(writes + 2, std::memory_order_release);
  }

  /// Any thread.
  Horizon Get() const {
    for (;;) {
      const uint32_t before = writes_.load(std::memory_order_acquire);
      Words words;
      for (size_t i = 0; i < words.size(); ++i) words[i] = words_[i].load(std::memory_order_acquire);
      if (before % 2 == 0 && writes_.load(std::memory_order_relaxed) == before) {
        return std::bit_cast<Horizon>(words);
      }
    }
  }

 private:
  using Words = std::array<uint32_t, sizeof(Horizon) / sizeof(uint32_t)>;

  std::atomic<uint32_t> writes_{0};  // odd: a write is under way
  std::array<std::atomic<uint32_t>, std::tuple_size_v<Words>> words_{};
};

}  // namespace seen
