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
  /// What the former owner's last beat says of the place: the number of its log (LogOf), and where it ended,
  /// if it was sure. Also before Own. Ends of earlier logs count no more. If this process has found a cut
  /// since Own, that end is of an earlier log.
  void ContinueFormer(const OutputPlace& place, int64_t log, std::optional<int64_t> end);
  /// The former owner wrote into another topic.
  void BeginLog(const OutputPlace& place, int64_t former_log);
  /// Where the partition's topics ended by what its state knows, by filter; below 0: not known. Until then
  /// nobody can say whether they were cut while nobody owned them. Empty: the state isn't open yet.
  void KnowFloors(int32_t partition, std::span<const int64_t> ends);
  bool KnowsFloors(int32_t partition) const;
  /// Numbers the times that the process came to own a partition. 0: it doesn't own this one, or doesn't know
  /// the floors yet. A beat that is made then names no end that may be cut.
  uint64_t Ownership(int32_t partition) const;
  /// A beat that was made in this ownership has arrived.
  void BeatArrived(int32_t partition, uint64_t ownership);
  /// Whether the beat before was replaced: the former owner's, or the last one before a place was cut. Before
  /// that, nothing may be written: it could make up for what was cut meanwhile, and a reader of that beat
  /// would take it for what the beat vouches for.
  bool MayWrite(int32_t partition) const;
  /// A number of the log that the place is: it grows with each cut. Readers of snapshots start over then.
  int64_t LogOf(const OutputPlace& place) const;

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
  /// Behind the last record that this process was told it has written there; at most 0: none.
  int64_t WrittenTo(const OutputPlace& place) const;
  /// Takes the ranges whose users must be republished.
  std::vector<Range> TakeForeign();
  void PutBack(const Range& range);
  /// Takes the owned places whose offsets went back: the topic was recreated, or lost its end. The place of a
  /// partition that was lost meanwhile waits until the partition comes back. One of the two calls below must
  /// follow.
  std::vector<OutputPlace> TakeCut();
  void PutBackCut(const OutputPlace& place);
  /// All users of the place are requested, and nothing counts as published any more.
  void Requested(const OutputPlace& place);
  /// Whether a place of the partition was cut, or seems to be, and its users aren't requested yet. The next
  /// owner can't find that out: EndOf no longer says where the place ended.
  bool MayBeCut(int32_t partition) const;

 private:
  struct Known {
    int64_t next = -1;       // -1: not known yet
    int64_t first = -1;      // LookBack checks what stands before it; the rest is watched
    int64_t last_own = -1;   // of this process's, as last reported
    int64_t suspected = -1;  // an end after `next`: reports of own records may still be on their way
    bool seems_cut = false;
    int64_t floor = -1;  // where it ended when this process, or the state's last owner, owned it; -1: unknown
  };
  struct Partition {
    std::map<FilterIndex, Known> places;
    uint64_t ownership = 0;
    bool knows_floors = false;
    bool beat_arrived = false;
  };
  struct Log {
    int64_t number = 0;
    int64_t cuts = 0;  // since Own
  };
  void NoteFloors(int32_t partition) REQUIRES(mutex_);
  const Partition* Find(int32_t partition) const REQUIRES(mutex_);
  Known* KnownAt(const OutputPlace& place) REQUIRES(mutex_);
  static void WatchFrom(int64_t offset, Known& known);
  static void Raise(int64_t floor, Known& known);
  void KeepFloor(const OutputPlace& place, int64_t floor) REQUIRES(mutex_);
  void AddForeign(const Range& range) REQUIRES(mutex_);
  void Cut(const OutputPlace& place, Known& known) REQUIRES(mutex_);
  void AwaitBeat(Partition& partition) REQUIRES(mutex_);
  void ForgetEnds(const OutputPlace& place) REQUIRES(mutex_);

  mutable Mutex mutex_;
  std::map<int32_t, Partition> owned_ GUARDED_BY(mutex_);
  uint64_t ownerships_ GUARDED_BY(mutex_) = 0;
  std::map<OutputPlace, int64_t> floors_ GUARDED_BY(mutex_);  // of places owned before
  std::map<OutputPlace, Log> logs_ GUARDED_BY(mutex_);
  std::set<int32_t> unverified_ GUARDED_BY(mutex_);
  std::vector<Range> foreign_ GUARDED_BY(mutex_);
  std::set<OutputPlace> cut_ GUARDED_BY(mutex_);
  std::set<OutputPlace> taken_ GUARDED_BY(mutex_);  // by TakeCut; their users aren't requested yet
};

}  // namespace seen
