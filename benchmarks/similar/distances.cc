#include "similar/distances.h"

#include <algorithm>
#include <bit>
#include <thread>

namespace seen::bench {
namespace {

/// Counts the distances of each of `mine` to each of `others`.
void Count(std::span<const uint64_t> mine, std::span<const uint64_t> others, Distances& out) {
  for (const uint64_t one : mine)
    for (const uint64_t other : others) ++out[static_cast<size_t>(std::popcount(one ^ other))];
}

/// Counts every pair once. The rows are shared out among threads.
Distances CountPairs(std::span<const uint64_t> hashes) {
  const size_t threads = std::clamp<size_t>(std::thread::hardware_concurrency(), 1, 16);
  std::vector<Distances> parts(threads, Distances{});
  {
    std::vector<std::jthread> running;
    for (size_t t = 0; t < threads; ++t) {
      running.emplace_back([&, t] {
        Distances part{};
        for (size_t i = t; i < hashes.size(); i += threads)
          Count(hashes.subspan(i, 1), hashes.subspan(i + 1), part);
        parts[t] = part;
      });
    }
  }
  Distances sum{};
  for (const Distances& part : parts)
    for (size_t d = 0; d < sum.size(); ++d) sum[d] += part[d];
  return sum;
}

}  // namespace

Lengths LengthsOf(const ItemFeatures& a, const ItemFeatures& b) {
  if (a.length == LengthClass::kEmpty || b.length == LengthClass::kEmpty) return Lengths::kNone;
  if (a.length != b.length) return Lengths::kMixed;
  return a.length == LengthClass::kShort ? Lengths::kShort : Lengths::kLong;
}

std::array<Distances, kLengths> DistancesOfAll(std::span<const ItemFeatures> features) {
  std::vector<uint64_t> of_short, of_long;
  for (const ItemFeatures& item : features) {
    if (item.length == LengthClass::kShort) of_short.push_back(item.simhash);
    if (item.length == LengthClass::kLong) of_long.push_back(item.simhash);
  }
  std::array<Distances, kLengths> all{CountPairs(of_short), CountPairs(of_long), Distances{}};
  Count(of_short, of_long, all[static_cast<size_t>(Lengths::kMixed)]);
  return all;
}

std::array<Distances, kLengths> DistancesOf(std::span<const ItemFeatures> features,
                                            std::span<const Pair> pairs) {
  std::array<Distances, kLengths> out{};
  for (const auto& [i, j] : pairs) {
    const ItemFeatures &a = features[i], &b = features[j];
    const Lengths lengths = LengthsOf(a, b);
    if (lengths == Lengths::kNone) continue;
    ++out[static_cast<size_t>(lengths)][static_cast<size_t>(std::popcount(a.simhash ^ b.simhash))];
  }
  return out;
}

}  // namespace seen::bench
