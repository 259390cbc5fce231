#pragma once
// What a partition's store was made for, kept in the store itself: schemas/store.md, "Descriptor".

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
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
  /// In a descriptor, the kinds that the filter no longer counts follow the configured ones, each with its
  /// last window.
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
  /// Every filter that the store ever held. A filter's id is its index here. A filter that leaves the
  /// configuration keeps its id and its bytes, and uses both again when it comes back.
  std::vector<StoredFilter> filters;
  /// Every declared kind that the store ever held. A kind's number is 16 plus its index here, and never
  /// changes.
  std::vector<std::string> kinds = {};
  /// Every topic that the store's snapshots ever went to. A topic's number is its index here. An erasure
  /// concerns the records in each of these topics, also if no filter names the topic any more. At most
  /// kSnapshotTopicsMax.
  std::vector<std::string> topics = {};
  uint16_t version = kStoreVersion;  // the version that wrote it
  friend bool operator==(const StoreDescriptor&, const StoreDescriptor&) = default;
};

/// Encodes in this program's version.
std::string EncodeDescriptor(const StoreDescriptor& descriptor);

/// kRefused for a newer store version; kCorrupt for anything else EncodeDescriptor can't have written.
Result<StoreDescriptor> DecodeDescriptor(std::string_view bytes);

/// kRefused, with the remedy, where `stored` was made for another topic, partition, partition count or
/// partitioner.
Status CheckIdentity(const StoreIdentity& stored, const StoreIdentity& expected);

/// Returns the ids of the filters in `configured`, in the same order. Known names keep their ids, new names
/// get the next ones. Updates the filters' settings in `descriptor`.
std::vector<FilterId> RegisterFilters(StoreDescriptor& descriptor,
                                      const std::vector<StoredFilter>& configured);

/// Returns the numbers (of SegmentKind) of the declared kinds in `configured`, in the same order. Known names
/// keep their numbers, new names get the next ones. kRefused, with the remedy, if no number is left.
Result<std::vector<uint8_t>> RegisterKinds(StoreDescriptor& descriptor,
                                           const std::vector<std::string>& configured);

/// The kinds that filter `id` counted once and that `configured` doesn't count any more.
std::vector<KindPolicy> PastKinds(const StoreDescriptor& descriptor, FilterId id,
                                  const StoredFilter& configured);

/// Adds the topics of the configured filters' snapshots. Returns the other topics, which are retired.
/// kRefused, with the remedy, if no number is left.
Result<std::vector<RetiredTopic>> RegisterTopics(StoreDescriptor& descriptor,
                                                 const std::vector<std::string>& configured);

// How many items a day each filter of a descriptor keeps. Composing deltas needs these limits.

/// Pure, any thread.
class StoredLimits {
 public:
  explicit StoredLimits(const std::vector<StoredFilter>& filters) {
    for (const StoredFilter& filter : filters) limits_.push_back(filter.limits);
    resolving_.items_per_day_max = std::numeric_limits<uint32_t>::max();
  }
  /// `limits`: indexed by filter number.
  explicit StoredLimits(std::vector<DeltaLimits> limits) : limits_(std::move(limits)) {
    resolving_.items_per_day_max = std::numeric_limits<uint32_t>::max();
  }
  /// nullptr: there is no such filter.
  const DeltaLimits* Of(FilterId filter) const {
    if (filter == kResolvingFilter) return &resolving_;
    return filter.number() < limits_.size() ? &limits_[filter.number()] : nullptr;
  }

 private:
  std::vector<DeltaLimits> limits_;  // by number
  DeltaLimits resolving_;
};

}  // namespace seen
