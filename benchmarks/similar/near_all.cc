#include <algorithm>
#include <bit>
#include <unordered_map>
#include <unordered_set>

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

// A list names each item by one beginning, and an item asks for the lists of three.
std::vector<Pair> SharingBeginning(const std::vector<ItemFeatures>& features) {
  std::unordered_map<uint64_t, std::vector<uint32_t>> places;
  for (uint32_t i = 0; i < features.size(); ++i) {
    if (features[i].beginning != 0) places[KeptBand(features[i].beginning)].push_back(i);
  }
  std::vector<Pair> pairs;
  for (uint32_t i = 0; i < features.size(); ++i) {
    const auto& [shorter, longer] = features[i].other_beginnings;
    for (const uint64_t beginning : {shorter, features[i].beginning, longer}) {
      const auto listed = beginning != 0 ? places.find(KeptBand(beginning)) : places.end();
      if (listed == places.end()) continue;
      for (const uint32_t other : listed->second) {
        if (other != i) pairs.emplace_back(std::min(i, other), std::max(i, other));
      }
    }
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

Found CompareAll(const Texts& texts, const GroupOptions& options) {
  std::unordered_set<uint64_t> candidates;
  const auto take = [&](const std::vector<Pair>& pairs) {
    for (const auto& [i, j] : pairs) candidates.insert(uint64_t{i} << 32 | j);
  };
  if (UsesSimHash(options.method)) take(WithinDistance(texts.features, options.distance_max));
  if (UsesMinHash(options.method)) take(SharingBand(texts.features));
  if (options.containment_min > 0) take(SharingBeginning(texts.features));
  take(Copies(texts.features));

  const GroupRules rules(options);
  Found out;
  out.similar.resize(texts.features.size());
  for (const uint64_t key : candidates) {
    const auto i = static_cast<uint32_t>(key >> 32), j = static_cast<uint32_t>(key);
    const auto match = rules.Compare(texts.features[i], texts.features[j]);
    if (!match) continue;
    const NearItem near{{}, match->similarity, match->distance, match->found, match->containment};
    out.similar[i].push_back({.item = j, .near = near});
    out.similar[j].push_back({.item = i, .near = near});
  }
  return out;
}

}  // namespace seen::bench
