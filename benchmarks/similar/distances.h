#pragma once
// By how many bits SimHashes differ: for all pairs, and for given pairs.

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "similar/text/item_features.h"

namespace seen::bench {

/// Pairs by distance, 0 to 64 bits.
using Distances = std::array<uint64_t, 65>;
/// Positions in the file, first < second.
using Pair = std::pair<uint32_t, uint32_t>;

/// The lengths of two texts: both short, both long, or one of each. kNone: a text has no word.
enum class Lengths : uint8_t { kShort = 0, kLong = 1, kMixed = 2, kNone = 3 };
inline constexpr size_t kLengths = 3;
Lengths LengthsOf(const ItemFeatures& a, const ItemFeatures& b);

std::array<Distances, kLengths> DistancesOfAll(std::span<const ItemFeatures> features);
std::array<Distances, kLengths> DistancesOf(std::span<const ItemFeatures> features,
                                            std::span<const Pair> pairs);

}  // namespace seen::bench
