#pragma once
// The rules: which items are similar, which is nearer, and how long an item counts. Pure; any thread.

#include <cstdint>
#include <optional>

#include "model/day.h"
#include "similar/groups/item_index_port.h"
#include "similar/port/options.h"

namespace seen {

struct Match {
  std::optional<double> similarity;  // in steps of 0.0001
  int distance = 0;
  FoundBy found = FoundBy::kBoth;
  std::optional<double> containment{};  // in steps of 0.0001; set if one text contains the other
};

class GroupRules {
 public:
  explicit GroupRules(const GroupOptions& options);
  const GroupOptions& options() const { return options_; }

  /// Symmetric. nullopt: not similar. Two texts are similar by their Jaccard similarity, or because one
  /// contains the other.
  std::optional<Match> Compare(const ItemFeatures& a, const ItemFeatures& b) const;
  /// The number of bits by which a SimHash of the item's class may differ. -1: no list of SimHashes finds the
  /// item.
  int DistanceMax(const ItemFeatures& features) const;

  /// True: the item has left the window, or is ahead of index time. An item is ahead only if a stored index
  /// time was corrected: otherwise index time is the greatest time of all items.
  bool IsGone(TimeMs created_at, TimeMs index_time) const {
    const int64_t age_ms = index_time.value - created_at.value;
    return age_ms > window_ms_ || age_ms < 0;
  }
  int32_t BucketOf(TimeMs created_at) const { return DayOf(created_at).since_epoch / width_days_; }
  /// The last time of the bucket.
  TimeMs EndOf(int32_t bucket) const { return {(int64_t{bucket} + 1) * width_days_ * kMsPerDay - 1}; }
  /// All items of earlier buckets have left the window.
  int32_t FirstBucket(TimeMs index_time) const;

 private:
  std::optional<Match> CompareContainment(const ItemFeatures& a, const ItemFeatures& b) const;
  const GroupOptions options_;
  const int32_t width_days_;
  const int64_t window_ms_;
};

/// Whether candidate lists name the item. Otherwise nothing but equal texts is similar to it.
inline bool IsListed(const ItemFeatures& features) {
  return features.length == LengthClass::kShort || features.length == LengthClass::kLong;
}

/// Orders nearest first, and the older of equally near items first.
bool IsNearer(std::optional<double> similarity_a, int distance_a, uint64_t number_a,
              std::optional<double> similarity_b, int distance_b, uint64_t number_b);
inline bool IsNearer(const StoredNear& a, const StoredNear& b) {
  return IsNearer(a.near.similarity, a.near.distance, a.item.number, b.near.similarity, b.near.distance,
                  b.item.number);
}

}  // namespace seen
