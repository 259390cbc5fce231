#pragma once
// The groups and near items of many items, as fingerprints, from the daemon's copy of the groups.

#include <cstdint>
#include <span>
#include <vector>

#include "flow/item_groups_port.h"
#include "model/fingerprint.h"

namespace seen {

/// Keep one a thread: it reuses its memory.
class LikeLists {
 public:
  void Read(std::span<const Fingerprint> items, const ItemGroups& groups);
  size_t size() const { return items_.size(); }
  Fingerprint item(size_t place) const { return items_[place]; }
  /// False: the item is alone, as far as is known.
  bool IsLikeAny(size_t place) const { return starts_[place] != starts_[place + 1]; }
  /// The first item of the item's group; the item itself if nothing is known of it.
  Fingerprint group(size_t place) const { return IsLikeAny(place) ? all_[starts_[place]] : items_[place]; }
  /// The item's near items, nearest first.
  std::span<const Fingerprint> near(size_t place) const {
    if (!IsLikeAny(place)) return {};
    return std::span(all_).subspan(starts_[place] + 1, starts_[place + 1] - starts_[place] - 1);
  }
  /// All fingerprints that near and group return; those of a place stand from start to end.
  std::span<const Fingerprint> all() const { return all_; }
  size_t start(size_t place) const { return starts_[place]; }
  size_t end(size_t place) const { return starts_[place + 1]; }

 private:
  std::vector<Fingerprint> items_;
  std::vector<Fingerprint> all_;  // of each item that is like any: its group, then its near items
  std::vector<uint32_t> starts_;  // one more than items
};

}  // namespace seen
