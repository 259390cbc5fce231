#pragma once
// The daemon's own copy of the topic of groups, as the flow and its readers use it. Implemented by
// item_store/ over RocksDB, with a cache of bounded memory; faked in tests.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/hashes.h"
#include "similar/port/item_group.h"

namespace seen {

/// Any thread.
class ItemGroups {
 public:
  virtual ~ItemGroups() = default;
  /// Prefetches memory that AppendSimilar will read. Does nothing else, so it is cheap.
  virtual void Prefetch(Fingerprint /*item*/) const {}
  /// The second prefetch, for an item that was prefetched a while ago.
  virtual void PrefetchSimilar(Fingerprint /*item*/) const {}
  /// Appends what an exposure of `item` records as similar: NearFingerprintOf its near items and
  /// GroupFingerprintOf its group. Appends nothing if the item is unknown or alone. Called for every exposed
  /// item: allocates only in `out`, and reads the disk only if the item has a group that the cache lacks.
  /// Counts a disk error, and appends nothing.
  virtual void AppendSimilar(Fingerprint item, std::vector<Fingerprint>& out) const = 0;
  /// The same in plain fingerprints, for every candidate: appends FingerprintOf its group's first item, then
  /// of its near items, nearest first. False: the item is unknown or alone, and nothing was appended. Costs
  /// and errors are AppendSimilar's.
  virtual bool AppendGroupAndNear(Fingerprint item, std::vector<Fingerprint>& out) const = 0;
  /// nullopt: not known.
  virtual Result<std::optional<ItemGroup>> Find(std::string_view item_id) const = 0;
  /// Ids of up to `limit` known items of the group, greater than `after`, ascending.
  virtual Result<std::vector<std::string>> Members(std::string_view group_id, std::string_view after,
                                                   size_t limit) const = 0;
};

}  // namespace seen
