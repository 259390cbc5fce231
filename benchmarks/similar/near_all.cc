#include <algorithm>
#include <bit>
#include <unordered_map>

#include "similar/distances.h"
#include "similar/groups/group_rules.h"
#include "similar/groups/item_index_port.h"
#include "similar/near.h"
#include "similar/text/simhash.h"

namespace seen::bench {
namespace {

/// The fields that decide about a pair, close together. The loop over every pair reads nothing else.
struct Light {
  uint64_t simhash = 0;
  int distance_max = -1;
  int kind = 0;  // SimHashes of different kinds aren't compared
};

std::vector<Pair> WithinDistance(const std::vector<ItemFeatures>& features, int distance_max) {
  std::vector<Light> items;
  for (const ItemFeatures& item : features) {
    items.push_back({.simhash = item.simhash,
                     .distance_max = DistanceMax(distance_max, item.length, item.script),
                     .kind = 2 * static_cast<int>(item.length) + static_cast<int>(item.script)});
  }
  std::vector<Pair> pairs;
  for (uint32_t i = 0; i < items.size(); ++i) {
    const Light one = items[i];
    for (uint32_t j = i + 1; j < items.size(); ++j) {
      const int distance = std::popcount(one.simhash ^ items[j].simhash);
      if (distance <= one.distance_max && one.kind == items[j].kind) pairs.emplace_back(i, j);
    }
  }
  return pairs;
}

/// Appends the pairs of items with equal keys. `keys`: one for each item.
void AppendEqual(const std::vector<uint64_t>& keys, const std::vector<ItemFeatures>& features,
                 std::vector<Pair>& pairs) {
  std::unordered_map<uint64_t, std::vector<uint32_t>> places;
  for (uint32_t i = 0; i < keys.size(); ++i) {
    if (features[i].length == LengthClass::kEmpty) continue;
    std::vector<uint32_t>& equal = places[keys[i]];
    for (const uint32_t other : equal) pairs.emplace_back(other, i);
    equal.push_back(i);
  }
}

std::vector<Pair> SharingBand(const std::vector<ItemFeatures>& features) {
  std::vector<Pair> pairs;
  for (size_t band = 0; band < kBands; ++band) {
    std::vector<uint64_t> keys;
    for (const ItemFeatures& item : features) keys.push_back(KeptBand(item.bands[band]));
    AppendEqual(keys, features, pairs);
  }
  return pairs;
}

std::vector<Pair> Copies(const std::vector<ItemFeatures>& features) {
  std::vector<Pair> pairs;
  std::vector<uint64_t> keys;
  for (const ItemFeatures& item : features) keys.push_back(item.content_hash);
  AppendEqual(keys, features, pairs);
  return pairs;
}

}  // namespace

Found CompareAll(const Texts& texts, const Run& run, double similarity_min) {
  std::unordered_map<uint64_t, FoundBy> candidates;
  const auto take = [&](const std::vector<Pair>& pairs, FoundBy found) {
    for (const auto& [i, j] : pairs) {
      const auto [at, added] = candidates.try_emplace(uint64_t{i} << 32 | j, found);
      if (!added && at->second != found) at->second = FoundBy::kBoth;
    }
  };
  if (UsesSimHash(run.method)) take(WithinDistance(texts.features, run.distance_max), FoundBy::kSimHash);
  if (UsesMinHash(run.method)) take(SharingBand(texts.features), FoundBy::kMinHash);
  for (const auto& [i, j] : Copies(texts.features)) candidates[uint64_t{i} << 32 | j] = FoundBy::kCopy;

  Found out;
  out.similar.resize(texts.features.size());
  for (const auto& [key, found] : candidates) {
    const auto i = static_cast<uint32_t>(key >> 32), j = static_cast<uint32_t>(key);
    const ItemFeatures &a = texts.features[i], &b = texts.features[j];
    NearItem near;
    near.distance = std::popcount(a.simhash ^ b.simhash);
    near.found = found;
    if (found == FoundBy::kCopy) {
      near.similarity = 1;
    } else if (!IsListed(a) || !IsListed(b) || NumbersDiffer(a.numbers, b.numbers)) {
      continue;
    } else if (run.verify) {
      near.similarity = SketchSimilarity(a.sketch, b.sketch);
      if (*near.similarity < similarity_min) continue;
    }
    out.similar[i].push_back({.item = j, .near = near});
    out.similar[j].push_back({.item = i, .near = near});
  }
  return out;
}

}  // namespace seen::bench
