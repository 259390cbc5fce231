#include "similar/text/simhash.h"

#include <algorithm>

namespace seen {

namespace {

struct Added {
  uint64_t carry, sum;
};
Added Add3(uint64_t a, uint64_t b, uint64_t c) {
  const uint64_t either = a ^ b;
  return {(a & b) | (either & c), either ^ c};
}

}  // namespace

void SimHasher::AddBlock() {
  const auto& h = block_;
  const Added a = Add3(planes_[0], h[0], h[1]);
  const Added b = Add3(a.sum, h[2], h[3]);
  const Added c = Add3(b.sum, h[4], h[5]);
  const Added d = Add3(c.sum, h[6], h[7]);
  const Added twos = Add3(planes_[1], a.carry, b.carry);
  const Added more_twos = Add3(twos.sum, c.carry, d.carry);
  const Added fours = Add3(planes_[2], twos.carry, more_twos.carry);
  planes_[0] = d.sum;
  planes_[1] = more_twos.sum;
  planes_[2] = fours.sum;
  uint64_t carry = fours.carry;
  for (size_t i = 3; carry != 0; ++i) {
    const uint64_t next = planes_[i] & carry;
    planes_[i] ^= carry;
    carry = next;
  }
  weight_ += in_block_;
  in_block_ = 0;
}

void SimHasher::SpillPlanes() {
  if (in_block_ > 0) {
    for (size_t i = in_block_; i < kBlock; ++i) block_[i] = 0;
    AddBlock();
  }
  for (size_t i = 0; i < planes_.size(); ++i) {
    for (uint64_t plane = planes_[i]; plane != 0; plane &= plane - 1)
      sums_[static_cast<size_t>(std::countr_zero(plane))] += uint64_t{1} << i;
  }
  planes_ = {};
}

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
  SpillPlanes();
  uint64_t simhash = 0;
  for (size_t bit = 0; bit < 64; ++bit) {
    simhash |= static_cast<uint64_t>(2 * sums_[bit] > weight_) << bit;
  }
  sums_ = {};
  weight_ = 0;
  return simhash;
}

namespace {

// By length and script. Measured on Debian's one-line descriptions (English 60,294, Japanese 5,739). Of the
// pairs at 2 bits or less, 28% (English) and 67% (Japanese) are similar by their shingles; at 3 bits 25% and
// 38%. See docs/LEVERS.md.
constexpr int kShortMax[] = {2, 2};  // alphabetic, dictionary
constexpr int kLongMax[] = {3, 3};

}  // namespace

int DistanceMax(int configured, LengthClass length, ScriptClass script) {
  if (length == LengthClass::kEmpty) return -1;
  const auto place = static_cast<size_t>(script);
  return std::min(configured, length == LengthClass::kShort ? kShortMax[place] : kLongMax[place]);
}

}  // namespace seen
