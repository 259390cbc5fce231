#pragma once
// Sets of shingles, small: the adaptive sample (Sketch) and the minima of MinHash, from one pass.

#include <array>
#include <cstdint>
#include <vector>

#include "group/item_features.h"

namespace seen {

/// One thread each; keeps its buffers.
class SketchBuilder {
 public:
  explicit SketchBuilder(int band_rows);  // 1 to kBandRowsMax
  /// In any order, repeated ones too.
  void Add(uint64_t shingle) {
    if (shingle > kept_max_) return AddToMinima(shingle);
    kept_.push_back(shingle);
    if (kept_.size() == kBufferMax) Drain();
    AddToMinima(shingle);
  }
  /// Bands of nothing are 0. Begins again.
  void Finish(Sketch& sketch, std::array<uint64_t, kBands>& bands);

 private:
  static constexpr size_t kBufferMax = 4 * kSketchMax;
  static constexpr size_t kWaitingMax = 128;

  void AddToMinima(uint64_t shingle) {
    waiting_[waiting_count_++] = shingle;
    if (waiting_count_ == kWaitingMax) TakeMinima();
  }
  void Drain();
  void TakeMinima();

  size_t minima_count_;
  uint8_t level_ = 0;
  uint64_t kept_max_ = UINT64_MAX;  // the greatest hash of the level
  std::vector<uint64_t> kept_;      // at most kBufferMax; unique and few after Drain
  std::vector<uint64_t> scratch_;
  bool any_ = false;
  size_t waiting_count_ = 0;
  std::array<uint64_t, kWaitingMax> waiting_;
  std::array<uint64_t, kBands * kBandRowsMax> minima_;
};

}  // namespace seen
