#pragma once
// Which entries of a PublishTable are due, and which become due at a time: when a debounce ends, or after a
// failed delivery. Leading edges go before all others; of each kind, the first to come goes first.
//
// Not thread-safe: PublishFlow's mutex guards it.

#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <vector>

#include "base/clock.h"
#include "flow/publish_table.h"

namespace seen {

class DueUsers {
 public:
  /// `table` outlives this.
  DueUsers(PublishTable& table, size_t outlets) : table_(table), debounces_(outlets) {}

  struct Limits {
    size_t leading;
    size_t waiting;  // all that isn't a leading edge
  };

  /// Queues an entry. One that waits already becomes a leading edge.
  void AddLeading(uint32_t number);
  /// Queues an entry, if it isn't queued.
  void Add(uint32_t number) {
    if (!table_[number].queued) Queue(false, number);
  }
  /// It was taken, and goes before the others of its kind.
  void PutBack(uint32_t number);
  /// Takes the next one. kNone: nothing is due, or not within the limits.
  uint32_t Take(Limits& limits);

  /// The entry's next change waits for this time. The times of an outlet come in order, except after a change
  /// of its debounce: then some wait for an earlier, longer one.
  void Debounce(uint32_t number, Instant until);
  /// The entry is due again after half a second, doubled as often as `doubled` says, at most a minute.
  void Retry(uint32_t number, size_t doubled, Instant now);
  /// Queues those whose time has come, and forgets those for whom there is nothing to do.
  void Fire(Instant now);

  bool HasSome() const { return !leading_.empty() || !waiting_.empty(); }
  /// How many wait, at most; leading edges don't count.
  size_t waiting() const { return waiting_.size(); }
  /// Instant::max(): nothing is waiting for a time.
  Instant NextAt() const;

  static constexpr size_t kDelays = 8;

 private:
  struct Timer {
    Instant at;
    uint32_t entry;
  };
  void Queue(bool leading, uint32_t number);
  uint32_t TakeFront(std::deque<uint32_t>& due);
  void EndDebounce(uint32_t number);

  PublishTable& table_;
  // An entry that moves from waiting_ to leading_ leaves its number in waiting_. It is skipped there.
  std::deque<uint32_t> leading_, waiting_;
  std::vector<std::deque<Timer>> debounces_;        // one per outlet
  std::array<std::deque<Timer>, kDelays> retries_;  // one per delay, so that each queue is in order
};

}  // namespace seen
