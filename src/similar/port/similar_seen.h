#pragma once
// Finds the candidates that are lists something that was seen. What is known of groups comes from the
// daemon's copy of their topic. A candidate that isn't in the copy is never held up.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/probed_cells.h"
#include "base/result.h"
#include "model/delta_seen.h"
#include "similar/port/item_groups.h"
#include "similar/port/similar_port.h"

namespace seen {

/// The groups and near items of many items, as fingerprints, from the daemon's copy of the groups. Keep one a
/// thread: it reuses its memory.
class SimilarLists {
 public:
  void Read(std::span<const Fingerprint> items, const ItemGroups& groups);
  size_t size() const { return items_.size(); }
  Fingerprint item(size_t place) const { return items_[place]; }
  /// False: the item is alone, as far as is known.
  bool HasSimilar(size_t place) const { return starts_[place] != starts_[place + 1]; }
  /// The first item of the item's group; the item itself if nothing is known of it.
  Fingerprint group(size_t place) const { return HasSimilar(place) ? all_[starts_[place]] : items_[place]; }
  /// The item's near items, nearest first.
  std::span<const Fingerprint> near(size_t place) const {
    if (!HasSimilar(place)) return {};
    return std::span(all_).subspan(starts_[place] + 1, starts_[place + 1] - starts_[place] - 1);
  }
  /// All fingerprints that near and group return; those of a place stand from start to end.
  std::span<const Fingerprint> all() const { return all_; }
  size_t start(size_t place) const { return starts_[place]; }
  size_t end(size_t place) const { return starts_[place + 1]; }

 private:
  std::vector<Fingerprint> items_;
  std::vector<Fingerprint> all_;  // of each item that is lists any: its group, then its near items
  std::vector<uint32_t> starts_;  // one more than items
};

/// Maps many fingerprints to a number each, for one question. Keeps its memory. Not thread-safe; O(1) an
/// operation.
class FingerprintTable {
 public:
  /// Empties the table and makes space for `count_max` fingerprints.
  void Reset(size_t count_max) {
    constexpr size_t kKeptMax = 1 << 18;  // cells; a larger table is given back
    const size_t cells = std::bit_ceil(std::max<size_t>(count_max * 2, 64));
    if (cells_.cells() > kKeptMax && cells < cells_.cells()) cells_ = ProbedCells<uint64_t>(2);
    cells_.Reset(cells);
  }
  /// The first number that is given to a fingerprint stays.
  void Insert(Fingerprint fingerprint, uint32_t number) {
    if (Find(fingerprint)) return;
    cells_.Insert(fingerprint.value, uint64_t{fingerprint.value} << 32 | (number + 1));
  }
  std::optional<uint32_t> Find(Fingerprint fingerprint) const {
    const uint64_t cell = cells_.Find(fingerprint.value, [fingerprint](uint64_t candidate) {
      return candidate >> 32 == fingerprint.value;
    });
    if (cell == 0) return std::nullopt;
    return static_cast<uint32_t>(cell) - 1;
  }

 private:
  ProbedCells<uint64_t> cells_{2};  // upper half: fingerprint; lower: number + 1. 0: free
};

/// What counts as seen, in one question.
struct SeenSets {
  FingerprintSet& seen;
  FingerprintSet& similar;  // near and group fingerprints of what was shown
  std::span<const std::string_view> also_seen;
  // False if an item may be shown again while these count: its own exposure left its group's fingerprint.
  bool asks_groups_shown = true;
};

/// Keep one a thread: it reuses its memory.
class SimilarSeen {
 public:
  static constexpr size_t kMembersMax = 256;  // so many members of a group are searched for a seen one

  /// `asked`: the candidates, as indices into `ids`; none of them is seen. `lists`: what they are lists, by
  /// their place in `asked`. Appends the candidates that are lists something seen to `out`, in their order.
  /// Sets `found`, by place. Reads records only of candidates that are found, and of large groups. Errors:
  /// those of the groups' store.
  Status Find(const ItemGroups& groups, const SeenSets& sets, std::span<const std::string_view> ids,
              std::span<const uint32_t> asked, const SimilarLists& lists, std::vector<uint8_t>& found,
              std::vector<SimilarCandidate>& out);

 private:
  void ReadAlsoSeen(const ItemGroups& groups, std::span<const std::string_view> also_seen);
  bool IsSeen(const SeenSets& sets, Fingerprint item) const {
    return sets.seen.Contains(item) || also_seen_.Contains(item);
  }
  bool IsSeen(const SeenSets& sets, std::string_view item_id) const {
    return IsSeen(sets, FingerprintOf(item_id));
  }
  static void Ask(FingerprintSet& one, FingerprintSet& other, std::span<const Fingerprint> fingerprints,
                  std::vector<uint8_t>& of_one, std::vector<uint8_t>& of_other);
  void FindInSimilarSet(const SeenSets& sets, const SimilarLists& lists, std::vector<uint8_t>& found);
  void FindByNear(const SeenSets& sets, const SimilarLists& lists, std::vector<uint8_t>& found);
  Result<bool> HasSeenMember(const ItemGroups& groups, const SeenSets& sets, std::string_view id,
                             const SimilarLists& lists, size_t place);
  Result<std::optional<SimilarTo>> Explain(const ItemGroups& groups, const SeenSets& sets,
                                           std::string_view id);
  Result<std::string> SeenMember(const ItemGroups& groups, const SeenSets& sets, const std::string& group_id);

  std::vector<Fingerprint> probes_;
  std::vector<uint8_t> answers_, more_answers_;
  FingerprintSet also_seen_, also_similar_;  // what an exposure of also_seen would add
  std::vector<Fingerprint> scratch_;
  FingerprintTable groups_;                                    // whether the group has a seen member: 1 or 0
  std::unordered_map<std::string, std::string> seen_members_;  // a seen member of the group; empty: none
};

}  // namespace seen
