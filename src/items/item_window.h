#pragma once
// How long items are kept. The index keeps them in buckets of days, four to a window, and drops a bucket once
// all of its days have left the window.

#include <cstdint>

namespace seen {

inline constexpr int32_t kBucketsAWindow = 4;
inline constexpr uint64_t kBucketsKept = kBucketsAWindow + 1;  // including the one that is leaving

/// The days of a bucket. `window_days` is at least 1, here and below.
constexpr int32_t BucketDays(int32_t window_days) {
  return (window_days + kBucketsAWindow - 1) / kBucketsAWindow;
}

/// The number of days that the index can know an item: until its bucket is dropped, plus the day on which
/// that happens.
constexpr int32_t KeptDays(int32_t window_days) { return window_days + BucketDays(window_days) + 1; }

}  // namespace seen
