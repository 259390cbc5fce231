#pragma once
// The daemon's own copy of the topic of groups, as the flow and its readers ask it. Implemented by store/
// over RocksDB with a cache of bounded memory; faked in tests.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/fingerprint.h"
#include "model/item_group.h"

namespace seen {

/// Any thread.
class ItemGroups {
 public:
  virtual ~ItemGroups() = default;
  /// Asks for the memory that AppendSimilar will look at. No more than that: cheap.
  virtual void Prefetch(Fingerprint /*item*/) const {}
  /// Of one that was prefetched a while ago.
  virtual void PrefetchLikes(Fingerprint /*item*/) const {}
  /// Appends what an exposure of `item` records as similar: NearFingerprintOf its near items and
  /// GroupFingerprintOf its group. Nothing where nothing is known, or it is alone. On the way of every
  /// exposed item: no allocation beyond `out`, a disk read only where the item has a group that the cache
  /// hasn't. An error of the disk is counted, and nothing is appended.
  virtual void AppendSimilar(Fingerprint item, std::vector<Fingerprint>& out) const = 0;
  /// The same in plain fingerprints, on the way of every candidate: appends FingerprintOf its group's first
  /// item, then of its near items, nearest first. False, and nothing appended: nothing is known of it, or it
  /// is alone. Costs and errors are AppendSimilar's.
  virtual bool AppendLike(Fingerprint item, std::vector<Fingerprint>& out) const = 0;
  /// nullopt: not known.
  virtual Result<std::optional<ItemGroup>> Find(std::string_view item_id) const = 0;
  /// Ids of up to `limit` of the group's items that are known, greater than `after`, ascending.
  virtual Result<std::vector<std::string>> Members(std::string_view group_id, std::string_view after,
                                                   size_t limit) const = 0;
};

}  // namespace seen
