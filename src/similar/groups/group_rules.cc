#include "similar/groups/group_rules.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "similar/text/simhash.h"

namespace seen {
namespace {

constexpr double kSimilaritySteps = 10'000;

bool ShareABand(const ItemFeatures& a, const ItemFeatures& b) {
  for (size_t i = 0; i < kBands; ++i) {
    if (KeptBand(a.bands[i]) == KeptBand(b.bands[i])) return true;
  }
  return false;
}

}  // namespace

GroupRules::GroupRules(const GroupOptions& options)
    : options_(options),
      width_days_(BucketDays(std::max(1, options.window_days))),
      window_ms_(options.window_days * kMsPerDay) {}

int GroupRules::DistanceMax(const ItemFeatures& features) const {
  return seen::DistanceMax(options_.distance_max, features.length, features.script);
}

std::optional<Match> GroupRules::Compare(const ItemFeatures& a, const ItemFeatures& b) const {
  if (a.length == LengthClass::kEmpty || b.length == LengthClass::kEmpty) return std::nullopt;
  if (a.content_hash == b.content_hash) return Match{1.0, 0, FoundBy::kCopy};
  if (a.length == LengthClass::kTooShort || b.length == LengthClass::kTooShort) return std::nullopt;
  const int distance = std::popcount(a.simhash ^ b.simhash);
  const bool same_class = a.length == b.length && a.script == b.script;
  const bool by_simhash = UsesSimHash(options_.method) && same_class && distance <= DistanceMax(a);
  const bool by_minhash = UsesMinHash(options_.method) && ShareABand(a, b);
  if (!by_simhash && !by_minhash) return std::nullopt;
  if (NumbersDiffer(a.numbers, b.numbers)) return std::nullopt;
  const FoundBy found = !by_minhash ? FoundBy::kSimHash : by_simhash ? FoundBy::kBoth : FoundBy::kMinHash;
  if (!options_.verify) return Match{std::nullopt, distance, found};
  const double similarity = SketchSimilarity(a.sketch, b.sketch);
  if (similarity < options_.similarity_min) return std::nullopt;
  return Match{std::round(similarity * kSimilaritySteps) / kSimilaritySteps, distance, found};
}

int32_t GroupRules::FirstBucket(TimeMs index_time) const {
  return BucketOf({std::max<int64_t>(0, index_time.value - window_ms_)});
}

bool IsNearer(std::optional<double> similarity_a, int distance_a, uint64_t number_a,
              std::optional<double> similarity_b, int distance_b, uint64_t number_b) {
  const double a = similarity_a.value_or(0);
  const double b = similarity_b.value_or(0);
  if (a != b) return a > b;
  if (distance_a != distance_b) return distance_a < distance_b;
  return number_a < number_b;
}

}  // namespace seen
