#pragma once
// The users a publisher follows: found by key, numbered for tickets and timers. Not thread-safe.
//
// An index over entries of one cache line that never move. Both can be prefetched, for the users of a batch
// are known before the first of them is looked up.

#include <cstdint>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "base/prefetch.h"
#include "base/tag_index.h"
#include "flow/publish_ref_set.h"
#include "flow/store_port.h"

namespace seen {

/// A place among what PublishFlow publishes to: filters in configuration order, then retired topics.
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
  bool leading = false;    // ahead of what may wait
  bool timed = false;      // in its filter's timers
  bool waits = false;      // for a retry: its snapshot was longer than its topic takes
  bool retry_set = false;  // after such a refusal
  bool held = false;       // its mark stands for a change that a replay holds, and that no snapshot has
  uint8_t too_large = 0;   // refusals of that kind in a row
  uint8_t awaited = 0;     // renderings that PublishFlow::PublishedTo waits for
  Instant dirty_since{};   // visible since: oldest change not rendered
  TimeMs dirty_record{};
  Instant sent_since{};  // the same of what is in flight
  TimeMs sent_record{};

  bool unclean() const { return dirty || in_flight; }
  UserRef ref() const { return {filter, user}; }
};
static_assert(sizeof(PublishEntry) == 64);

class PublishTable {
 public:
  static constexpr uint32_t kNone = TagIndex::kNone;
  /// Per entry, with its share of the index and of the queues its number stands in.
  static constexpr uint64_t kBytesAnEntry = 128;

  size_t size() const { return index_.size(); }
  /// Numbers are below it; what isn't `used` is free.
  uint32_t end() const { return end_; }
  PublishEntry& operator[](uint32_t number) { return chunks_[number / kChunk][number % kChunk]; }
  const PublishEntry& operator[](uint32_t number) const { return chunks_[number / kChunk][number % kChunk]; }

  void PrefetchIndex(const UserRef& ref) const { index_.Prefetch(TagOf(ref)); }
  /// `ahead`: so many users before it is looked up; a new one will get an entry that is free now.
  void PrefetchEntry(const UserRef& ref, size_t ahead) const;
  void PrefetchEntry(uint32_t number) const { PrefetchLine(&(*this)[number]); }

  /// kNone: there is no such user.
  uint32_t Find(const UserRef& ref) const;
  /// A new one is `used`, with its user, filter and outlet, and nothing else.
  uint32_t FindOrAdd(const UserRef& ref, Outlet outlet);
  void Remove(uint32_t number);

 private:
  static constexpr uint32_t kChunk = 1024;

  TagIndex index_;
  std::vector<std::unique_ptr<PublishEntry[]>> chunks_;
  std::vector<uint32_t> free_;
  uint32_t end_ = 0;
};

}  // namespace seen
