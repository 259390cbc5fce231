#pragma once
// The options that decide which items are similar, and how far the index goes back.

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/clock.h"
#include "model/day.h"

namespace seen {

/// How candidates are found. An index keeps its method, and only the lists that this method needs, for its
/// whole life.
enum class SimilarMethod : uint8_t { kSimHash, kMinHash, kBoth };
inline constexpr std::array<std::string_view, 3> kSimilarMethodNames{"simhash", "minhash", "both"};
/// The method of a new index if none is configured. docs/SIMILAR.md says what the other methods find and
/// cost.
inline constexpr SimilarMethod kDefaultMethod = SimilarMethod::kMinHash;

inline constexpr bool UsesSimHash(SimilarMethod method) { return method != SimilarMethod::kMinHash; }
inline constexpr bool UsesMinHash(SimilarMethod method) { return method != SimilarMethod::kSimHash; }
inline constexpr std::string_view SimilarMethodName(SimilarMethod method) {
  return kSimilarMethodNames[static_cast<size_t>(method)];
}
/// nullopt: no method has this name.
inline constexpr std::optional<SimilarMethod> SimilarMethodNamed(std::string_view name) {
  const auto found = std::find(kSimilarMethodNames.begin(), kSimilarMethodNames.end(), name);
  if (found == kSimilarMethodNames.end()) return std::nullopt;
  return static_cast<SimilarMethod>(found - kSimilarMethodNames.begin());
}

struct GroupOptions {
  SimilarMethod method = SimilarMethod::kBoth;
  bool verify = true;
  int distance_max = 3;
  double similarity_min = 0.8;
  int32_t window_days = 30;
  uint32_t list_max = 256;            // entries read of one list of candidates: the newest; at most kListMax
  uint32_t candidates_max = 128;      // verified for one item
  TimeMs stored_time_max{INT64_MAX};  // Open corrects a stored index time beyond it: StoredTimeMax
};

/// A stored time beyond the result was never true. The margin is at least a day. A clock that is slow by
/// minutes must not cause a correction, and a time that is hours ahead does no harm.
inline TimeMs StoredTimeMax(TimeMs wall_now, std::chrono::milliseconds future_skew_max) {
  return {wall_now.value + std::max(future_skew_max.count(), kMsPerDay)};
}

}  // namespace seen
