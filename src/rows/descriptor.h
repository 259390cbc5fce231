#pragma once
// What a partition's store was made for, kept in the store itself: schemas/store.md, "Descriptor".

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "flow/filter_policy.h"
#include "flow/store_port.h"
#include "model/delta.h"

namespace seen {

/// Raised when an older program would misread what a newer one wrote.
inline constexpr uint16_t kStoreVersion = 4;

/// A declared kind as a filter counts it.
struct StoredKind {
  std::string name;
  int32_t window_days = 0;
  friend bool operator==(const StoredKind&, const StoredKind&) = default;
};

/// A filter as the configuration names it.
struct StoredFilter {
  std::string name;
  int32_t window_days = 0;
  DeltaLimits limits;
  /// In a descriptor, behind those configured: those that it counted once, each with its last window.
  std::vector<StoredKind> kinds = {};
  friend bool operator==(const StoredFilter& a, const StoredFilter& b) {
    return a.name == b.name && a.window_days == b.window_days &&
           a.limits.items_per_day_max == b.limits.items_per_day_max && a.kinds == b.kinds;
  }
};

/// What the state of a partition depends on beyond its records.
struct StoreIdentity {
  std::string topic;
  int32_t partition = 0;
  int32_t partition_count = 0;
  std::string partitioner;  // PartitionerName
  friend bool operator==(const StoreIdentity&, const StoreIdentity&) = default;
};

struct StoreDescriptor {
  StoreIdentity identity;
  /// Every filter the store ever held, its id its place: a filter taken out of the configuration keeps its id
  /// and its bytes, and has them again when it comes back.
  std::vector<StoredFilter> filters;
  /// Every declared kind the store ever held, its number 16 and its place: it too keeps it for good.
  std::vector<std::string> kinds = {};
  /// Every topic that the store's snapshots ever went to, its number its place: an erasure concerns what lies
  /// in each of them, also where no filter names it any more. At most kSnapshotTopicsMax.
  std::vector<std::string> topics = {};
  uint16_t version = kStoreVersion;  // it was written in
  friend bool operator==(const StoreDescriptor&, const StoreDescriptor&) = default;
};

/// In this program's version.
std::string EncodeDescriptor(const StoreDescriptor& descriptor);

/// kRefused for a newer store version; kCorrupt for anything else EncodeDescriptor can't have written.
Result<StoreDescriptor> DecodeDescriptor(std::string_view bytes);

/// kRefused, with the remedy, where `stored` was made for another topic, partition, partition count or
/// partitioner.
Status CheckIdentity(const StoreIdentity& stored, const StoreIdentity& expected);

/// Gives the filters in `configured` their ids, in its order: known names keep theirs, new ones get the next.
/// Brings their settings in `descriptor` up to date.
std::vector<FilterId> RegisterFilters(StoreDescriptor& descriptor,
                                      const std::vector<StoredFilter>& configured);

/// Gives the declared kinds in `configured` their numbers (of SegmentKind), in its order, likewise. kRefused,
/// with the remedy, where there are no numbers left.
Result<std::vector<uint8_t>> RegisterKinds(StoreDescriptor& descriptor,
                                           const std::vector<std::string>& configured);

/// What filter `id` counted once and doesn't any more, as `configured` says.
std::vector<KindPolicy> PastKinds(const StoreDescriptor& descriptor, FilterId id,
                                  const StoredFilter& configured);

/// Takes in the topics of the configured filters' snapshots. Returns the others, which are retired. kRefused,
/// with the remedy, where there are no numbers left.
Result<std::vector<RetiredTopic>> RegisterTopics(StoreDescriptor& descriptor,
                                                 const std::vector<std::string>& configured);

}  // namespace seen
