#pragma once
// Remembers, for the first few rates of the process, what was computed of a small count. A daemon has few
// rates, set at the start, and most of its users have few items.

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace seen {

/// `Sizes` rates of `Counts` counts. Any thread, no lock. One in static storage (constinit) for each
/// function; memory is touched only as far as counts are met.
template <size_t kRates, size_t kCounts>
class SizeMemo {
 public:
  /// What `compute()` says of (count, rate), a number other than 0, from memory where it was asked before.
  /// Two threads may both compute it: it must be the same.
  template <typename Compute>
  uint32_t Get(size_t count, double rate, Compute compute) {
    Rate* const known = count < kCounts ? Find(rate) : nullptr;
    if (known == nullptr) return compute();
    uint32_t value = known->values[count].load(std::memory_order_relaxed);
    if (value == 0) {
      value = compute();
      known->values[count].store(value, std::memory_order_relaxed);
    }
    return value;
  }

 private:
  struct Rate {
    std::atomic<uint64_t> bits{0};  // 0: free. No rate has these bits, zero being none.
    std::array<std::atomic<uint32_t>, kCounts> values{};
  };

  // Null when all are taken by others. They are never given up, so a reader needs no lock.
  Rate* Find(double rate) {
    const auto bits = std::bit_cast<uint64_t>(rate);
    for (Rate& known : rates_) {
      uint64_t found = known.bits.load(std::memory_order_relaxed);
      if (found == 0 && known.bits.compare_exchange_strong(found, bits, std::memory_order_relaxed))
        return &known;
      if (found == bits) return &known;
    }
    return nullptr;
  }

  std::array<Rate, kRates> rates_;
};

}  // namespace seen
