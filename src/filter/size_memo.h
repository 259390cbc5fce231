#pragma once
// Remembers results for small counts, for the first few rates of the process. A daemon has few rates, set at
// the start, and most of its users have few items.

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace seen {

inline constexpr size_t kCountsRemembered = 16'384;

/// `kRates` rates, with the counts below `kCounts`. Any thread, no lock. Each function has its own memo, in
/// static storage (constinit). Memory is touched only up to the greatest count that is asked.
template <size_t kRates, size_t kCounts = kCountsRemembered>
class SizeMemo {
 public:
  /// The result of `compute()` for (count, rate), a number other than 0. If it was asked before, it is
  /// remembered. Two threads may both compute it, so it must be the same.
  template <typename Compute>
  uint32_t Get(size_t count, double rate, Compute compute) {
    Values* const known = count < kCounts ? Find(rate) : nullptr;
    if (known == nullptr) return compute();
    uint32_t value = (*known)[count].load(std::memory_order_relaxed);
    if (value == 0) {
      value = compute();
      (*known)[count].store(value, std::memory_order_relaxed);
    }
    return value;
  }

 private:
  using Values = std::array<std::atomic<uint32_t>, kCounts>;

  // Null: other rates have all places. A place is never given up, so a reader needs no lock.
  Values* Find(double rate) {
    const auto bits = std::bit_cast<uint64_t>(rate);
    size_t at = (bits * 0x9e3779b97f4a7c15U >> 32) * kRates >> 32;
    for (size_t tried = 0; tried < kRates; ++tried, at = (at + 1) % kRates) {
      uint64_t found = rates_[at].load(std::memory_order_relaxed);
      if (found == 0 && rates_[at].compare_exchange_strong(found, bits, std::memory_order_relaxed)) {
        return &values_[at];
      }
      if (found == bits) return &values_[at];
    }
    return nullptr;
  }

  std::array<std::atomic<uint64_t>, kRates> rates_{};  // their bits; 0: free, because no rate has these bits
  std::array<Values, kRates> values_{};
};

}  // namespace seen
