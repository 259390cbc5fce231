#pragma once
// The guard: which records of the snapshot topics this process hasn't written. A former owner that wakes up,
// or a network that held its requests back, may put an old snapshot over a newer one, whatever its lease
// says. A partition of a snapshot topic has one writer, and delivery reports carry offsets: an offset between
// this process's own is somebody else's. So is what stands behind its last one for a while.
// docs/decisions/0009.

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
    bool is_foreign = true;  // false: nobody knows whose
    friend bool operator==(const Range&, const Range&) = default;
  };

  /// The process owns the partition from here on. Whoever changed since has a mark, or changes again as the
  /// input is read on. What its topics got just before is looked at: the former owner may have gone before it
  /// found others' records among them.
  void Own(int32_t partition);
  /// Partitions that haven't been looked back at; forgotten here.
  std::vector<int32_t> TakeUnverified();
  void PutBackUnverified(int32_t partition);
  /// `to`: where the topic ends. Of the range, what stood there before this process wrote or watched.
  void LookBack(const OutputPlace& place, int64_t from, int64_t to);
  void Disown(int32_t partition);
  std::vector<int32_t> Owned() const;

  /// In the order of their reports.
  void OnDelivered(std::span<const Delivered> delivered);

  /// Where the process's next record would stand, before the brokers are asked for the ends; then what they
  /// said. Called again and again.
  std::map<OutputPlace, int64_t> Expected() const;
  void AtEnd(const OutputPlace& place, std::optional<int64_t> expected, int64_t end);

  /// Ranges to be published again; they are forgotten here.
  std::vector<Range> TakeForeign();
  void PutBack(const Range& range);
  /// Whose offsets went back: the topic was made anew, or lost its end. Forgotten here.
  std::vector<OutputPlace> TakeCut();

 private:
  struct Known {
    int64_t next = -1;       // -1: not known yet
    int64_t first = -1;      // what stands before it is looked back at; what doesn't, watched
    int64_t last_own = -1;   // of this process's, as it was reported
    int64_t suspected = -1;  // an end behind `next`: perhaps of records whose reports are on their way
    bool seems_cut = false;
    int64_t floor = -1;  // where it ended when this process owned it last; -1: it never did
  };
  static void WatchFrom(int64_t offset, Known& known);
  void AddForeign(const Range& range) REQUIRES(mutex_);
  void Cut(const OutputPlace& place, Known& known) REQUIRES(mutex_);

  mutable Mutex mutex_;
  std::map<int32_t, std::map<FilterIndex, Known>> owned_ GUARDED_BY(mutex_);  // by partition
  std::map<OutputPlace, int64_t> floors_ GUARDED_BY(mutex_);                  // of places that it owned
  std::set<int32_t> unverified_ GUARDED_BY(mutex_);
  std::vector<Range> foreign_ GUARDED_BY(mutex_);
  std::vector<OutputPlace> cut_ GUARDED_BY(mutex_);
};

}  // namespace seen
