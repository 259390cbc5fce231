#include "similar/groups/group_rules.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "similar/text/simhash.h"

namespace seen {
namespace {

constexpr double kSimilaritySteps = 10'000;
// An excerpt is no repost, and a licence isn't the texts that quote it: the smaller text is at least so much
// of the larger.
constexpr double kSharesMin = 0.4;

double Rounded(double value) { return std::round(value * kSimilaritySteps) / kSimilaritySteps; }

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
  if (a.content_hash == b.content_hash) return Match{1.0, 0, FoundBy::kCopy, std::nullopt};
  if (a.length == LengthClass::kTooShort || b.length == LengthClass::kTooShort) return std::nullopt;
  const int distance = std::popcount(a.simhash ^ b.simhash);
  const bool same_class = a.length == b.length && a.script == b.script;
  const bool by_simhash = UsesSimHash(options_.method) && same_class && distance <= DistanceMax(a);
  const bool by_minhash = UsesMinHash(options_.method) && ShareABand(a, b);
  if ((!by_simhash && !by_minhash) || NumbersDiffer(a.numbers, b.numbers)) return CompareContainment(a, b);
  const FoundBy found = !by_minhash ? FoundBy::kSimHash : by_simhash ? FoundBy::kBoth : FoundBy::kMinHash;
  if (!options_.verify) return Match{std::nullopt, distance, found};
  const double similarity = SketchSimilarity(a.sketch, b.sketch);
  if (similarity < options_.similarity_min) return CompareContainment(a, b);
  return Match{Rounded(similarity), distance, found, std::nullopt};
}

// Additions have numbers of their own, and are no band's. So only the numbers of the smaller text count.
std::optional<Match> GroupRules::CompareContainment(const ItemFeatures& a, const ItemFeatures& b) const {
  if (options_.containment_min == 0 || !options_.verify || !UsesMinHash(options_.method)) return std::nullopt;
  const auto found = ContainmentOf(a.sketch, b.sketch);
  if (!found || found->contained < options_.containment_min || found->shares < kSharesMin ||
      found->of < kContainedMin)
    return std::nullopt;
  const auto [smaller, larger] = found->a_is_smaller ? std::pair(&a, &b) : std::pair(&b, &a);
  const uint32_t words_added = larger->words - std::min(smaller->words, larger->words);
  if (!NumbersFitAdditions(smaller->numbers, larger->numbers, words_added)) return std::nullopt;
  return Match{Rounded(SketchSimilarity(a.sketch, b.sketch)), std::popcount(a.simhash ^ b.simhash),
               FoundBy::kMinHash, Rounded(found->contained)};
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
