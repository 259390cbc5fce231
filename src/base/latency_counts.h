#pragma once
// A histogram for the hot path. Adding takes no lock. The owner reads it out once per batch.

#include <array>
#include <cstddef>
#include <cstdint>

namespace seen {

/// Latencies in milliseconds over fixed buckets. One thread.
class LatencyCounts {
 public:
  /// Upper bounds in ms, inclusive. One more bucket takes all larger latencies.
  static constexpr std::array<int64_t, 22> kBoundsMs = {
      1, 2, 3, 5, 7, 10, 15, 20, 25, 35, 50, 75, 100, 150, 250, 500, 1000, 1200, 2000, 5000, 30'000, 300'000};
  static constexpr size_t kBuckets = kBoundsMs.size() + 1;

  void Add(int64_t latency_ms, uint64_t times = 1) {
    // Successive latencies are similar: the bucket of the last one is nearly always right.
    while (bucket_ < kBoundsMs.size() && latency_ms > kBoundsMs[bucket_]) ++bucket_;
    while (bucket_ > 0 && latency_ms <= kBoundsMs[bucket_ - 1]) --bucket_;
    counts_[bucket_] += times;
    sum_ms_ += latency_ms * static_cast<int64_t>(times);
  }
  const std::array<uint64_t, kBuckets>& counts() const { return counts_; }
  int64_t sum_ms() const { return sum_ms_; }
  void Clear() { *this = {}; }

 private:
  std::array<uint64_t, kBuckets> counts_{};
  int64_t sum_ms_ = 0;
  size_t bucket_ = 0;
};

}  // namespace seen
