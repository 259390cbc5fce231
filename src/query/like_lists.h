#pragma once
// What many items are like, as the daemon's copy of the groups has it, in plain fingerprints.

#include <cstdint>
#include <span>
#include <vector>

#include "flow/item_groups_port.h"
#include "model/fingerprint.h"

namespace seen {

/// One a thread: it keeps its memory.
class LikeLists {
 public:
  void Read(std::span<const Fingerprint> items, const ItemGroups& groups);
  size_t size() const { return items_.size(); }
  Fingerprint item(size_t place) const { return items_[place]; }
  /// False: it is alone, as far as is known.
  bool IsLikeAny(size_t place) const { return starts_[place] != starts_[place + 1]; }
  /// Of the first item of its group; itself where nothing is known.
  Fingerprint group(size_t place) const { return IsLikeAny(place) ? all_[starts_[place]] : items_[place]; }
  /// Nearest first.
  std::span<const Fingerprint> near(size_t place) const {
    if (!IsLikeAny(place)) return {};
    return std::span(all_).subspan(starts_[place] + 1, starts_[place + 1] - starts_[place] - 1);
  }
  /// Everything that near and group give, and where in it those of a place are.
  std::span<const Fingerprint> all() const { return all_; }
  size_t start(size_t place) const { return starts_[place]; }
  size_t end(size_t place) const { return starts_[place + 1]; }

 private:
  std::vector<Fingerprint> items_;
  std::vector<Fingerprint> all_;  // of each that is like any: its group, then its near ones
  std::vector<uint32_t> starts_;  // one more than items
};

}  // namespace seen
