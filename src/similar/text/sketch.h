#pragma once
// Makes two small forms of a set of shingles in one pass: the adaptive sample (Sketch) and the minima of
// MinHash.

#include <array>
#include <cstdint>
#include <vector>

#include "similar/text/item_features.h"

namespace seen {

/// Makes a sample of at most `values_max` values. Changes `hashes`.
void SampleInto(std::vector<uint64_t>& hashes, size_t values_max, NumberSketch& out);

/// One thread each; keeps its buffers.
class SketchBuilder {
 public:
  explicit SketchBuilder(int band_rows);  // 1 to kBandRowsMax
  /// Shingles may come in any order, and repeatedly.
  void Add(uint64_t shingle) {
    if (shingle > kept_max_) return AddToMinima(shingle);
    kept_.push_back(shingle);
    if (kept_.size() == kBufferMax) Drain();
    AddToMinima(shingle);
  }
  /// Without shingles all bands are 0. Then begins again.
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
  uint64_t kept_max_ = UINT64_MAX;  // the greatest hash that the level keeps
  std::vector<uint64_t> kept_;      // at most kBufferMax; after Drain unique, at most kSketchMax
  std::vector<uint64_t> scratch_;
  bool any_ = false;
  size_t waiting_count_ = 0;
  std::array<uint64_t, kWaitingMax> waiting_;
  std::array<uint64_t, kBands * kBandRowsMax> minima_;
};

}  // namespace seen
