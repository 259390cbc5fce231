#pragma once
// The users that a publisher follows: found by key, numbered for tickets and timers. Not thread-safe.
//
// An index over entries of one cache line. Entries never move. Both can be prefetched, because the users of a
// batch are known before the first of them is looked up.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/clock.h"
#include "base/hyper_log_log.h"
#include "base/probed_cells.h"
#include "flow/store_port.h"

namespace seen {

// A set of users, contiguous in memory. Not thread-safe.

/// The tag of a user in a TagIndex. User keys are hashes, so their bits make a good tag.
inline uint32_t TagOf(const UserRef& ref) {
  return static_cast<uint32_t>(ref.user.low) ^ static_cast<uint32_t>(ref.filter.number() * 0x9e3779b1u);
}

class UserRefSet {
 public:
  bool contains(const UserRef& ref) const { return Find(ref) != TagIndex::kNone; }
  bool empty() const { return refs_.empty(); }
  size_t size() const { return refs_.size(); }
  /// In no order; valid until the next change.
  std::span<const UserRef> refs() const { return refs_; }

  void insert(const UserRef& ref) {
    if (contains(ref)) return;
    index_.Insert(TagOf(ref), static_cast<uint32_t>(refs_.size()));
    refs_.push_back(ref);
  }
  /// Whether it was there.
  bool erase(const UserRef& ref) {
    const uint32_t at = Find(ref);
    if (at == TagIndex::kNone) return false;
    const auto last = static_cast<uint32_t>(refs_.size() - 1);
    index_.Remove(TagOf(ref), at);
    if (at != last) {  // the last moves into the gap
      index_.Remove(TagOf(refs_[last]), last);
      refs_[at] = refs_[last];
      index_.Insert(TagOf(refs_[at]), at);
    }
    refs_.pop_back();
    return true;
  }

 private:
  uint32_t Find(const UserRef& ref) const {
    return index_.Find(TagOf(ref), [&](uint32_t number) { return refs_[number] == ref; });
  }

  TagIndex index_;
  std::vector<UserRef> refs_;
};

/// A number for each place that PublishFlow publishes to: filters in configuration order, then retired
/// topics.
enum class Outlet : uint16_t {};

struct alignas(64) PublishEntry {
  UserKey user;
  FilterId filter;
  Outlet outlet{};
  bool used = false;
  bool dirty = false;      // changed since the last rendering
  bool in_flight = false;  // sent, not acknowledged
  bool marked = false;     // a mark stands in the store
  bool queued = false;     // waits to be sent
  bool leading = false;    // in the queue of leading edges
  bool timed = false;      // in its filter's timers
  bool waits = false;      // for a retry: its snapshot was too large for its topic
  bool retry_set = false;  // a retry after such a refusal is set
  bool held = false;       // its mark stands for a change that a replay holds; no snapshot has the change
  uint8_t too_large = 0;   // refusals for size in a row
  uint8_t awaited = 0;     // renderings that PublishFlow::PublishedTo waits for
  Instant dirty_since{};   // when the oldest change that isn't rendered became visible
  TimeMs dirty_record{};
  Instant sent_since{};  // the same for the snapshot in flight
  TimeMs sent_record{};

  bool unclean() const { return dirty || in_flight; }
  UserRef ref() const { return {filter, user}; }
};
static_assert(sizeof(PublishEntry) == 64);

class PublishTable {
 public:
  static constexpr uint32_t kNone = TagIndex::kNone;
  /// Bytes per entry, with its share of the index and of the queues that hold its number.
  static constexpr uint64_t kBytesAnEntry = 128;

  size_t size() const { return index_.size(); }
  /// All numbers are below it. Entries that aren't `used` are free.
  uint32_t end() const { return end_; }
  PublishEntry& operator[](uint32_t number) { return chunks_[number / kChunk][number % kChunk]; }
  const PublishEntry& operator[](uint32_t number) const { return chunks_[number / kChunk][number % kChunk]; }

  void PrefetchIndex(const UserRef& ref) const { index_.Prefetch(TagOf(ref)); }
  /// `ahead`: how many other users are looked up before this one. A new user will get an entry that is free
  /// now.
  void PrefetchEntry(const UserRef& ref, size_t ahead) const;
  void PrefetchEntry(uint32_t number) const { PrefetchLine(&(*this)[number]); }

  /// kNone: there is no such user.
  uint32_t Find(const UserRef& ref) const;
  /// A new entry has only `used`, user, filter and outlet set.
  uint32_t FindOrAdd(const UserRef& ref, Outlet outlet);
  void Remove(uint32_t number);

 private:
  static constexpr uint32_t kChunk = 1024;

  TagIndex index_;
  std::vector<std::unique_ptr<PublishEntry[]>> chunks_;
  std::vector<uint32_t> free_;
  uint32_t end_ = 0;
};

/// How many marks of the store have a user whom the publisher doesn't follow. Not thread-safe.
/// An overload leaves a user to a mark again and again, but the store has one mark of the user. A scan reads
/// the marks in ascending order. It reads those ahead of its place. The next scan reads those behind.
class MarksLeft {
 public:
  /// A checkpoint wrote the user's mark, for the first time or again. `behind`: a scan is under way and has
  /// passed the mark.
  void Add(const UserRef& ref, bool behind) { (behind ? behind_ : ahead_).Add(ref); }
  /// The scan has read so many marks more.
  void Scanned(uint64_t marks) { scanned_ += marks; }
  /// The next scan begins with the first mark.
  void ScanEnded();

  bool None() const { return UpperBound() == 0; }
  /// Exact if no user was added twice. Otherwise too high, by up to 30% of what the scan began with.
  uint64_t UpperBound() const;

 private:
  struct Part {
    uint64_t added = 0;
    HyperLogLog<10> users;  // a standard error of 3%

    void Add(const UserRef& ref);
    uint64_t UpperBound() const;
  };
  Part ahead_, behind_;
  uint64_t scanned_ = 0;
};

}  // namespace seen
