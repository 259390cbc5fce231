#include "group/simhash.h"

namespace seen {

void SimHasher::Add(uint64_t token_hash, uint32_t weight) {
  constexpr Lanes kBits = {1, 2, 4, 8, 16, 32, 64, 128};
  const auto w = static_cast<uint16_t>(weight);
  const Lanes weights = {w, w, w, w, w, w, w, w};
  for (size_t part = 0; part < 8; ++part) {
    const auto byte = static_cast<uint16_t>(token_hash >> (8 * part) & 0xff);
    const Lanes bytes = {byte, byte, byte, byte, byte, byte, byte, byte};
    const auto is_set = reinterpret_cast<Lanes>((bytes & kBits) == kBits);
    lanes_[part] += is_set & weights;
  }
  weight_ += weight;
  if (++in_lanes_ == kSpillAfter) Spill();
}

void SimHasher::Spill() {
  for (size_t bit = 0; bit < 64; ++bit) sums_[bit] += lanes_[bit / 8][bit % 8];
  lanes_ = {};
  in_lanes_ = 0;
}

uint64_t SimHasher::Finish() {
  Spill();
  uint64_t simhash = 0;
  for (size_t bit = 0; bit < 64; ++bit) {
    simhash |= static_cast<uint64_t>(2 * sums_[bit] > weight_) << bit;
  }
  sums_ = {};
  weight_ = 0;
  return simhash;
}

}  // namespace seen
