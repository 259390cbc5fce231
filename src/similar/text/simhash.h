#pragma once
// SimHash: 64 bits. The smaller the angle between the weighted words of two texts, the more bits they share.
// Source: Charikar, "Similarity Estimation Techniques from Rounding Algorithms", STOC 2002; Manku, Jain, Das
// Sarma, "Detecting Near-Duplicates for Web Crawling", WWW 2007.

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "similar/text/item_features.h"

namespace seen {

inline int HammingDistance(uint64_t a, uint64_t b) { return std::popcount(a ^ b); }

/// Adds up weights of tokens for each bit of their hashes. Whole numbers: the order and the machine don't
/// matter.
class SimHasher {
 public:
  static constexpr uint32_t kWeightMax = 1023;

  /// `weight` <= kWeightMax. A token that comes twice is added twice.
  void Add(uint64_t token_hash, uint32_t weight);
  /// The same as Add with a weight of 1, several times as fast.
  void AddOne(uint64_t token_hash) {
    block_[in_block_] = token_hash;
    if (++in_block_ == kBlock) AddBlock();
  }
  /// Sets bit i if the tokens with bit i set weigh more than half of all. 0 if nothing was added. Then begins
  /// again.
  uint64_t Finish();
  uint64_t weight() const { return weight_ + in_block_; }

 private:
  void Spill();
  void AddBlock();
  void SpillPlanes();

  static constexpr size_t kSpillAfter = 64;  // times kWeightMax is less than 2^16
  // Lane j of part i: the weights of the tokens whose bit 8 * i + j is set. The compiler uses SSE2 or NEON.
  using Lanes [[gnu::vector_size(16)]] = uint16_t;
  std::array<Lanes, 8> lanes_{};
  size_t in_lanes_ = 0;
  // AddOne counts in planes: bit j of plane i is bit i of the number of tokens whose bit j is set. A block
  // goes through a tree of carry-save adders. Source: Harley and Seal, in Mula, Kurz, Lemire, "Faster
  // Population Counts Using AVX2 Instructions", The Computer Journal 61, 2018.
  static constexpr size_t kBlock = 8;
  std::array<uint64_t, kBlock> block_{};
  size_t in_block_ = 0;
  std::array<uint64_t, 40> planes_{};
  std::array<uint64_t, 64> sums_{};
  uint64_t weight_ = 0;
};

// How near two SimHashes have to be for their items to be compared.

/// The greatest distance at which items of these classes are candidates: at most `configured` (0 to 3). -1:
/// no item is a candidate. For a pair of different classes the smaller distance counts.
int DistanceMax(int configured, LengthClass length, ScriptClass script);

}  // namespace seen
