#pragma once
// Which users' snapshots of one partition are due, under way or left to a mark in the store.
//
// Leading edge: a change of a user who wasn't published within the debounce is due at once. Trailing edge:
// what comes within it is due when it ends. Where more is due than can be published, leading edges go first:
// trailing edges, retries, sweeps and what marks name wait, and a change more of such a user costs nothing.
// A user is unclean from a change until a snapshot rendered after
// it is acknowledged; CollectMarks says which unclean users a checkpoint must mark, so that a restart
// publishes them. Invariant: the last acknowledged snapshot of a user without an entry, and of a clean entry,
// holds everything the partition's state holds of the user, unless a mark for it stands in the store or in
// the tail. It doesn't hold for snapshots that are withheld: flow/last_published.h makes them due later.
//
// Threads: one mutex inside, held for moves between queues, never while rendering, sending or reading.

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "base/latency_counts.h"
#include "base/mutex.h"
#include "flow/filter_policy.h"
#include "flow/log_port.h"
#include "flow/publish_ref_set.h"
#include "flow/publish_table.h"
#include "flow/reporter.h"
#include "flow/snapshot_sample.h"

namespace seen {

struct DirtyUser {
  UserKey user;
  FilterMask filters = 0;
  TimeMs record_timestamp;  // of the oldest change in the batch
};

struct MarkChanges {
  std::vector<UserRef> set;    // ascending
  std::vector<UserRef> clear;  // ascending; disjoint from `set`
};

class PublishFlow {
 public:
  /// `filters` in configuration order. `entries_max`: users followed in memory; beyond, HasRoom() is false.
  /// `retired`: topics of no filter; their users come from marks alone, and what they get are tombstones.
  /// `may_have_marks`: the store isn't new.
  PublishFlow(std::vector<FilterPolicy> filters, size_t entries_max, Reporter& reporter,
              const std::vector<RetiredTopic>& retired = {}, bool may_have_marks = true);

  /// Worker thread. False: leave new dirty users to marks (PartitionFlow::Apply does).
  bool HasRoom() const { return entry_count_.load(std::memory_order_relaxed) < entries_max_; }
  /// Worker thread, once a batch, after its changes are visible.
  void AddDirty(std::span<const DirtyUser> users, Instant visible_at);

  /// Worker and checkpoint thread. While marks are held, users that were left to marks wait. What is dirty in
  /// memory doesn't.
  void HoldMarks(bool hold);
  /// Any thread. The marks that stand now don't wait.
  void LetMarksGo();

  /// Checkpoint thread, for a frozen tail: the marks its file must set and clear. `deferred`: users of the
  /// tail whose publication was left to a mark. `renewed`: users whose mark, where they need one, must be
  /// written even if one stands. `reaches`: the tail's end; everything below it has come through AddDirty.
  /// kNoOffset: PublishedTo doesn't go on. Ends with exactly one of the two calls below.
  MarkChanges CollectMarks(std::vector<UserRef> deferred, std::span<const UserRef> renewed = {},
                           int64_t reaches = kNoOffset);
  void MarksCommitted();
  void MarksFailed();
  /// Checkpoint thread, beside no checkpoint: the store has these marks, of changes that came through neither
  /// AddDirty nor a tail.
  void MarksWritten(std::span<const UserRef> users);
  /// Any thread. Marks in the store could be cleared by a checkpoint.
  bool HasMarkChanges() const;

  enum class Origin : uint8_t {
    kState,
    kUnion,      // of the state and the last published snapshot
    kPublished,  // that snapshot: it isn't sent again
  };
  /// A user's snapshot: what is asked for, and what came of it.
  struct Rendering {
    FilterIndex filter_index;
    const RetiredTopic* retired = nullptr;  // set: for this topic instead of a filter's
    UserKey user;
    std::string user_id;  // empty: nothing is known of the user
    std::string bytes;
    Origin origin = Origin::kState;
  };
  /// Renders a group, whose memory is used again and again; an error is one of all. A group is either of
  /// filters or of retired topics, for which only the users' ids are asked.
  using Render = std::function<Status(std::span<Rendering> group)>;
  struct Limits {
    size_t leading;
    size_t waiting;  // all that isn't a leading edge
  };
  /// What a call of Step came to.
  struct Stepped {
    uint64_t sent = 0;
    bool more = false;  // is due
    bool sink_full = false;
    Status status;
  };
  /// Publisher thread: sends what is due at `now`, at most so many. An error of `render` leaves the user due.
  Stepped Step(Instant now, Limits limits, const Render& render, SnapshotSink& sink, uint64_t ticket_tag);
  struct Acknowledgement {
    uint32_t ticket;  // as given to the sink, without its tag
    Delivery delivery;
  };
  /// Publisher thread.
  void Acknowledged(std::span<const Acknowledgement> acknowledgements, Instant now, TimeMs wall_now);
  /// Publisher thread, after acknowledgements: hands counts and latencies to the reporter.
  void Report();
  /// The same, where nothing was sent: they are dropped.
  void DropReport();
  /// When Step has work again; Instant::max() if nothing is waiting for a time.
  Instant NextDue() const;

  /// Publisher thread: where the next page of a scan of the store's marks starts, if one is wanted and there
  /// is room for what it may find.
  struct ScanRequest {
    bool wanted = false;
    std::optional<UserRef> after;
    size_t limit = 0;
  };
  ScanRequest WantsScan() const;
  /// What the page held; fewer than asked for: the end.
  void Scanned(std::span<const Mark> marks, size_t limit, Instant now);
  /// Publisher thread: `users` more can be made due, and it wouldn't keep others waiting.
  bool TakesMore(size_t users) const;
  /// Publisher thread: the users' snapshots are to be made again, though nothing of theirs changed.
  void AddDue(std::span<const UserRef> users, Instant now);
  /// Any thread.
  bool IsUnclean(const UserRef& ref) const;

  /// Users whose snapshot isn't acknowledged, in memory or by marks (an upper bound). Any thread.
  uint64_t Outstanding() const;
  /// Each change below this offset is in a snapshot that is acknowledged. It goes on by rounds: a checkpoint
  /// begins one, and it ends with the acknowledgement of all that were unclean. kNoOffset: none has ended
  /// yet. Any thread.
  int64_t PublishedTo() const;

  static constexpr int64_t kNoOffset = -1;
  static constexpr size_t kGroup = 128;  // rendered together

 private:
  static constexpr std::chrono::milliseconds kRetiredDebounce{1000};
  static constexpr size_t kRetryDelays = 8;  // from half a second to a minute
  // Of a user who comes from a mark, no event's time is known: no latency is told of it.
  static constexpr TimeMs kNoRecord{std::numeric_limits<int64_t>::max()};
  struct Timer {
    Instant at;
    uint32_t entry;
  };
  struct Tally {
    uint64_t sent = 0, bytes = 0, failed = 0, merged = 0, withheld = 0;
    ProbeCounts probed;
    LatencyCounts visible_to_published, record_to_published;
  };
  struct Batch {
    std::vector<DirtyUser> users;
    Instant visible_at;
  };

  void DrainChannel() REQUIRES(mutex_);
  bool HasRoomFor(size_t users) const REQUIRES(mutex_);
  uint32_t MakeDirty(Outlet outlet, const UserKey& user, Instant visible_at, TimeMs record_timestamp)
      REQUIRES(mutex_);
  void MakeDirtyNow(Outlet outlet, const DirtyUser& dirty, Instant visible_at) REQUIRES(mutex_);
  void MakeDue(Outlet outlet, const UserKey& user, Instant since) REQUIRES(mutex_);
  std::deque<uint32_t>& QueueOf(const PublishEntry& entry) REQUIRES(mutex_) {
    return entry.leading ? leading_ : waiting_;
  }
  void QueueAs(bool leading, uint32_t number) REQUIRES(mutex_);
  void Queue(uint32_t number) REQUIRES(mutex_);
  void SetTimer(uint32_t number, Instant at) REQUIRES(mutex_);
  void FireTimers(Instant now) REQUIRES(mutex_);
  void BecameClean(PublishEntry& entry) REQUIRES(mutex_);
  bool MayBeginRound(int64_t reaches, bool some_deferred) const REQUIRES(mutex_);
  void RenderingEnded(PublishEntry& entry) REQUIRES(mutex_);
  void EndRoundIfDone() REQUIRES(mutex_);
  uint32_t TakeNext(Limits& limits) REQUIRES(mutex_);
  uint32_t TakeFront(std::deque<uint32_t>& due) REQUIRES(mutex_);
  size_t TakeGroup(Limits& limits) REQUIRES(mutex_);
  static bool IsSent(const Rendering& made);
  void Sent(uint32_t number, size_t bytes, Instant now) REQUIRES(mutex_);
  void NothingToSend(uint32_t number) REQUIRES(mutex_);
  void PutBack(uint32_t number) REQUIRES(mutex_);
  void Delivered(uint32_t number, Instant now, TimeMs wall_now) REQUIRES(mutex_);
  void NotDelivered(uint32_t number, Instant now, bool too_large) REQUIRES(mutex_);
  void Release(uint32_t number) REQUIRES(mutex_);

  size_t outlets() const { return filters_.size() + retired_.size(); }
  FilterId IdOf(Outlet outlet) const;
  /// nullptr: a filter's.
  const RetiredTopic* RetiredAt(Outlet outlet) const;
  /// Nothing: what the id stands for isn't published.
  std::optional<Outlet> OutletOf(FilterId id) const;
  Tally& TallyOf(Outlet outlet) REQUIRES(mutex_) { return tallies_[static_cast<size_t>(outlet)]; }

  const std::vector<FilterPolicy> filters_;
  const std::vector<RetiredTopic> retired_;
  const size_t entries_max_;
  Reporter& reporter_;
  std::atomic<size_t> entry_count_{0};

  mutable Mutex channel_mutex_;
  std::vector<Batch> channel_ GUARDED_BY(channel_mutex_);

  mutable Mutex mutex_;
  PublishTable table_ GUARDED_BY(mutex_);
  // What is due. An entry that moved from the second to the first leaves its number there: it is skipped.
  std::deque<uint32_t> leading_ GUARDED_BY(mutex_);
  std::deque<uint32_t> waiting_ GUARDED_BY(mutex_);
  // One a filter: its debounce seldom changes, so they are in order, or wait for an earlier, longer one.
  std::vector<std::deque<Timer>> timers_ GUARDED_BY(mutex_);
  // After a failed delivery; by the delay, so that each is in order: kRetryAfter, doubled as often as the
  // index says.
  std::array<std::deque<Timer>, kRetryDelays> retries_ GUARDED_BY(mutex_);
  UserRefSet clears_ GUARDED_BY(mutex_);  // marks in the store whose snapshot is acknowledged
  std::vector<UserRef> collected_set_ GUARDED_BY(mutex_);  // between CollectMarks and its end
  std::vector<UserRef> collected_clear_ GUARDED_BY(mutex_);
  uint64_t unclean_ GUARDED_BY(mutex_) = 0;
  uint64_t marks_left_ GUARDED_BY(mutex_) = 0;  // in the store without an entry: an upper bound
  uint64_t deferred_collected_ GUARDED_BY(mutex_) = 0;
  // The round under way: the offset that it leads to, and the entries that it waits for.
  int64_t round_to_ GUARDED_BY(mutex_) = kNoOffset;
  uint64_t round_waits_ GUARDED_BY(mutex_) = 0;
  int64_t published_to_ GUARDED_BY(mutex_) = kNoOffset;
  // At first, where anything is published: a restart publishes what is marked.
  bool scan_wanted_ GUARDED_BY(mutex_);
  bool rescan_ GUARDED_BY(mutex_) = false;  // new marks were committed during a scan
  bool marks_held_ GUARDED_BY(mutex_) = false;
  bool scan_let_go_ GUARDED_BY(mutex_);               // the scan that is wanted doesn't wait
  bool next_scan_let_go_ GUARDED_BY(mutex_) = false;  // nor does the one after it
  std::optional<UserRef> scan_after_ GUARDED_BY(mutex_);
  std::vector<Tally> tallies_ GUARDED_BY(mutex_);

  // Publisher thread: the group under way.
  std::array<Rendering, kGroup> renderings_;
  std::array<uint32_t, kGroup> numbers_;
  std::vector<OutgoingSnapshot> outgoing_;
  std::vector<SnapshotSample> samples_;  // by filter
  std::array<ProbeCounts, kGroup> probed_;
};

}  // namespace seen
