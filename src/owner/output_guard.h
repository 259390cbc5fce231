#pragma once
// The guard finds records of the snapshot topics that this process hasn't written. A former owner may wake
// up, or a network may hold its requests back. Then an old snapshot may replace a newer one, whatever the
// lease says. A partition of a snapshot topic has one writer, and delivery reports carry offsets. So an
// offset between this process's own is foreign. What stands behind its last offset for a while is foreign,
// too. docs/decisions/0009.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "base/mutex.h"
#include "model/filter_number.h"

namespace seen {

/// A partition of a filter's snapshot topic.
struct OutputPlace {
  FilterIndex filter;
  int32_t partition = 0;
  friend auto operator<=>(const OutputPlace&, const OutputPlace&) = default;
};

/// Thread-safe.
class OutputGuard {
 public:
  struct Delivered {
    OutputPlace place;
    int64_t offset = 0;
  };
  /// Offsets [from, to).
  struct Range {
    OutputPlace place;
    int64_t from = 0;
    int64_t to = 0;
    bool is_foreign = true;  // false: the writer isn't known
    friend bool operator==(const Range&, const Range&) = default;
  };

  /// From now on the process owns the partition. Users who changed since the last checkpoint have a mark, or
  /// change again as the input is read on. The newest records in the partition's topics are checked once: the
  /// former owner may have stopped before it found foreign records there.
  void Own(int32_t partition);
  /// Takes the partitions whose newest records are still to be checked.
  std::vector<int32_t> TakeUnverified();
  void PutBackUnverified(int32_t partition);
  /// Makes the offsets [from, to) due for repair, as far as they stood there before this process wrote or
  /// watched. `to`: where the topic ends.
  void LookBack(const OutputPlace& place, int64_t from, int64_t to);
  void Disown(int32_t partition);
  std::vector<int32_t> Owned() const;
  /// The place held the offsets below `floor`, by what an owner knew before. AtEnd finds out whether it still
  /// does.
  void RaiseFloor(const OutputPlace& place, int64_t floor);
  /// RaiseFloor was called for all that the partition's state knows. Until then nobody can say whether its
  /// topics were cut while nobody owned them.
  void FloorsKnown(int32_t partition);
  bool KnowsFloors(int32_t partition) const;

  /// Delivery reports, in their order. Those of a partition that was lost meanwhile count, too: if the
  /// partition comes back, its topics still hold those records.
  void OnDelivered(std::span<const Delivered> delivered);

  /// Expected: where the process's next records would stand; call it before asking the brokers for the ends.
  /// AtEnd: what a broker said then. Call both again and again.
  std::map<OutputPlace, int64_t> Expected() const;
  void AtEnd(const OutputPlace& place, std::optional<int64_t> expected, int64_t end);

  /// Where the place ends, as far as this process knows: all that it was told is written stands before.
  /// nullopt: not known, or the place was cut, or it may have been.
  std::optional<int64_t> EndOf(const OutputPlace& place) const;
  /// Takes the ranges whose users must be republished.
  std::vector<Range> TakeForeign();
  void PutBack(const Range& range);
  /// Takes the owned places whose offsets went back: the topic was recreated, or lost its end. The place of a
  /// partition that was lost meanwhile waits until the partition comes back.
  std::vector<OutputPlace> TakeCut();
  void PutBackCut(const OutputPlace& place);

 private:
  struct Known {
    int64_t next = -1;       // -1: not known yet
    int64_t first = -1;      // LookBack checks what stands before it; the rest is watched
    int64_t last_own = -1;   // of this process's, as last reported
    int64_t suspected = -1;  // an end after `next`: reports of own records may still be on their way
    bool seems_cut = false;
    int64_t floor = -1;  // where it ended when this process, or the state's last owner, owned it; -1: unknown
  };
  void NoteFloors(int32_t partition) REQUIRES(mutex_);
  static void WatchFrom(int64_t offset, Known& known);
  void AddForeign(const Range& range) REQUIRES(mutex_);
  void Cut(const OutputPlace& place, Known& known) REQUIRES(mutex_);

  mutable Mutex mutex_;
  std::map<int32_t, std::map<FilterIndex, Known>> owned_ GUARDED_BY(mutex_);  // by partition
  std::map<OutputPlace, int64_t> floors_ GUARDED_BY(mutex_);                  // of places owned before
  std::set<int32_t> unverified_ GUARDED_BY(mutex_);
  std::set<int32_t> floors_unknown_ GUARDED_BY(mutex_);  // owned partitions
  std::vector<Range> foreign_ GUARDED_BY(mutex_);
  std::set<OutputPlace> cut_ GUARDED_BY(mutex_);
};

}  // namespace seen
