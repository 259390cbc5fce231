#pragma once
// The number of distinct values of a stream, in bounded memory: exact up to 100,000, then within about 1%.

#include <cstdint>
#include <unordered_set>

#include "base/hyper_log_log.h"

namespace seen {

/// One thread.
class DistinctCount {
 public:
  /// `hash`: 64 evenly distributed bits of the value.
  void Add(uint64_t hash) {
    sketch_.Add(hash);
    if (is_exact_) {
      exact_.insert(hash);
      is_exact_ = exact_.size() <= kExactMax;
      if (!is_exact_) exact_ = {};
    }
  }
  bool is_exact() const { return is_exact_; }
  uint64_t count() const { return is_exact_ ? exact_.size() : static_cast<uint64_t>(sketch_.Estimate()); }

 private:
  static constexpr size_t kExactMax = 100'000;
  HyperLogLog<14> sketch_;
  std::unordered_set<uint64_t> exact_;
  bool is_exact_ = true;
};

}  // namespace seen
