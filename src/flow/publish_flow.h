#pragma once
// Which users' snapshots of one partition are due, under way or left to a mark in the store.
//
// Leading edge: if a user wasn't published within the debounce, a change of the user is due at once. Trailing
// edge: changes within the debounce are due when it ends. If more is due than can be published, leading edges
// go first. If leading edges themselves wait longer than kLeadingPatience, the newest go first: a late
// snapshot is late anyway, and those in time stay in time. Every kOldestOneIn-th is still the oldest, so that
// each gets its turn. Trailing edges, retries, sweeps and users from marks wait, and a further change of a
// user who waits costs nothing. When nearly as many users are followed as may be, the debounce of the users
// published longest ago ends early, and those that became due last are left to their marks. So new users
// have space, and their leading edges go first. A change of a user who is left to a mark is no leading edge,
// and costs nothing: a scan of the marks finds the user, and takes its turns among those that wait. A user is
// unclean from a change until a snapshot rendered after it is acknowledged. CollectMarks says which unclean
// users a checkpoint must mark, so that a restart publishes them. Invariant: for a user without an entry, or
// with a clean entry, the last acknowledged snapshot holds everything that the partition's state holds of the
// user. The exception is a user with a mark in the store or in the tail. The invariant doesn't apply to
// withheld snapshots: flow/last_published.h makes them due later.
//
// Threads: one mutex inside. It is held for moves between queues, and never while rendering, sending or
// reading.

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

#include "base/mutex.h"
#include "flow/filter_policy.h"
#include "flow/log_port.h"
#include "flow/publish_table.h"
#include "flow/reporter.h"

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
  /// `filters`: in configuration order. `entries_max`: users followed in memory; at that number, HasSpace()
  /// is false. `retired`: topics without a filter; their users come only from marks, and get only tombstones.
  /// `may_have_marks`: the store isn't new.
  PublishFlow(std::vector<FilterPolicy> filters, size_t entries_max, Reporter& reporter,
              const std::vector<RetiredTopic>& retired = {}, bool may_have_marks = true);

  /// Worker thread. False: leave new dirty users to marks (PartitionIntake::Apply does).
  bool HasSpace() const { return followed_.load(std::memory_order_relaxed) < entries_max_; }
  /// Worker thread, around each batch: before its first offset is visible, and after AddDirty. In between,
  /// Outstanding() isn't 0. `deferred`: so many users more of the tail are left to marks, once for each
  /// filter.
  void BeginBatch() { batch_runs_.store(true, std::memory_order_relaxed); }
  void EndBatch(uint64_t deferred) {
    if (deferred > 0) deferred_.fetch_add(deferred, std::memory_order_relaxed);
    batch_runs_.store(false, std::memory_order_release);
  }
  /// Worker thread, once per batch, after its changes are visible.
  void AddDirty(std::span<const DirtyUser> users, Instant visible_at);

  /// Worker and checkpoint thread. While marks are held, users that were left to marks wait. Users that are
  /// dirty in memory don't.
  void HoldMarks(bool hold);
  /// Any thread. The marks that stand now no longer wait.
  void LetMarksGo();

  /// Checkpoint thread. Returns the marks that the checkpoint of a frozen tail must set and clear.
  /// `deferred`: users of the tail whose publication was left to a mark. `renewed`: users whose mark, if they
  /// need one, must be written even if one stands. `reaches`: the tail's end; everything below it has come
  /// through AddDirty. kNoOffset: PublishedTo doesn't advance. Exactly one of the two calls below must
  /// follow.
  MarkChanges CollectMarks(std::vector<UserRef> deferred, std::span<const UserRef> renewed = {},
                           int64_t reaches = kNoOffset);
  /// `deferred`: of EndBatch, for the checkpoint's tail.
  void MarksCommitted(uint64_t deferred = 0);
  void MarksFailed();
  /// Checkpoint thread, while no checkpoint runs. The store has these marks. Their changes came through
  /// neither AddDirty nor a tail.
  void MarksWritten(std::span<const UserRef> users);
  /// Any thread. Whether a checkpoint could clear marks in the store.
  bool HasMarkChanges() const;

  enum class Origin : uint8_t {
    kState,
    kUnion,      // of the state and the last published snapshot
    kPublished,  // the last published snapshot; it isn't sent again
  };
  /// A request to render a user's snapshot, and its result.
  struct Rendering {
    FilterIndex filter_index;
    const RetiredTopic* retired = nullptr;  // set: for this topic instead of a filter's
    UserKey user;
    uint32_t ticket = 0;
    std::string user_id;  // empty: nothing is known of the user
    std::string bytes;
    Origin origin = Origin::kState;
  };
  struct Limits {
    size_t leading;
    size_t waiting;  // all that isn't a leading edge
  };
  /// Publisher thread: takes what is due at `now` into `group`, within `limits` and leading edges first, and
  /// reuses its memory. Returns how many. All of them belong either to filters or to retired topics. For
  /// retired topics only the users' ids are asked for. Exactly one of the two calls below must follow, unless
  /// there are none.
  size_t Take(Instant now, Limits limits, std::span<Rendering> group);
  /// The result of Send.
  struct Sending {
    uint64_t sent = 0;
    bool sink_full = false;  // users whose snapshots it didn't take stay due
  };
  /// `group`: rendered.
  Sending Send(Instant now, std::span<const Rendering> group, SnapshotSink& sink, uint64_t ticket_tag);
  /// They stay due.
  void PutBack(std::span<const Rendering> group);
  struct Acknowledgement {
    uint32_t ticket;  // as given to the sink, without its tag
    Delivery delivery;
  };
  /// Publisher thread.
  void Acknowledged(std::span<const Acknowledgement> acknowledgements, Instant now, TimeMs wall_now);
  /// Publisher thread, after acknowledgements: hands counts and latencies to the reporter.
  void Report();
  /// Publisher thread, instead of Report if nothing was sent: drops the counts and latencies.
  void DropReport();
  /// Whether something is due, as of the last Take.
  bool HasDue() const;
  /// When Take must be called again; Instant::max() if nothing is waiting for a time.
  Instant NextDue() const;

  /// Publisher thread: where the next page of a scan of the store's marks starts, if a scan is wanted and
  /// there is space for what it may find.
  struct ScanRequest {
    bool wanted = false;
    std::optional<UserRef> after;
    size_t limit = 0;
    uint64_t commit = 0;  // the store's marks were of this commit at the earliest
  };
  ScanRequest WantsScan() const;
  /// `marks`: the page that was read. Fewer than the limit: the scan has ended. If a checkpoint has changed
  /// the marks since, the page counts for nothing, and is wanted again.
  void Scanned(std::span<const Mark> marks, const ScanRequest& scan, Instant now);
  /// Any thread. A former owner of this state has published all changes below this offset.
  void WasPublishedTo(int64_t offset);
  /// Any thread. A snapshot topic was cut: what was acknowledged may be gone.
  void TakeBackPublishedTo();
  /// Publisher thread: whether `users` more can become due without making others wait.
  bool TakesMore(size_t users) const;
  /// Publisher thread: the users' snapshots must be re-rendered, although no event changed the users.
  void AddDue(std::span<const UserRef> users, Instant now);
  /// Any thread.
  bool IsUnclean(const UserRef& ref) const;

  /// Users whose snapshot isn't acknowledged, in memory or by marks (an upper bound). If it is 0, each change
  /// below an offset that was visible before the call is acknowledged. Any thread.
  uint64_t Outstanding() const;
  /// Each change below this offset is in an acknowledged snapshot. The offset advances in rounds. A
  /// checkpoint begins a round. The round ends when every user that was unclean then is acknowledged.
  /// kNoOffset: no round has ended yet. Any thread.
  int64_t PublishedTo() const;

  static constexpr int64_t kNoOffset = -1;
  static constexpr std::chrono::milliseconds kLeadingPatience{100};
  static constexpr uint32_t kOldestOneIn = 8;

 private:
  static constexpr std::chrono::milliseconds kRetiredDebounce{1000};
  static constexpr size_t kLeftAnEntry = 2;  // users of left_ that take the memory of an entry
  static constexpr size_t kRetryDelays = 8;  // from half a second to a minute
  // For a user who comes from a mark, the event's time isn't known, so no latency is reported.
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
  uint64_t ChannelUsers() const;
  size_t Followed() const REQUIRES(mutex_);
  void NoteFollowed() REQUIRES(mutex_);
  bool HasSpaceFor(size_t users) const REQUIRES(mutex_);
  size_t ScanPage() const;
  bool IsScansTurn() const REQUIRES(mutex_);
  uint32_t MakeDirty(Outlet outlet, const UserKey& user, Instant visible_at, TimeMs record_timestamp)
      REQUIRES(mutex_);
  void MakeDirtyNow(Outlet outlet, const DirtyUser& dirty, Instant visible_at) REQUIRES(mutex_);
  void MakeDue(Outlet outlet, const UserKey& user, Instant since) REQUIRES(mutex_);
  void MakeDueNext(Outlet outlet, const UserKey& user, Instant since) REQUIRES(mutex_);
  std::deque<uint32_t>& QueueOf(const PublishEntry& entry) REQUIRES(mutex_) {
    return entry.leading ? leading_ : waiting_;
  }
  void FireFirst(std::deque<Timer>& timers) REQUIRES(mutex_);
  void MakeSpace() REQUIRES(mutex_);
  bool LacksSpace() const REQUIRES(mutex_);
  bool MayScan() const REQUIRES(mutex_);
  void LeaveSomeToMarks() REQUIRES(mutex_);
  bool TryLeaveToMark(uint32_t number) REQUIRES(mutex_);
  void LeaveToMark(uint32_t number) REQUIRES(mutex_);
  void CountMarkLeft(const UserRef& ref) REQUIRES(mutex_);
  void EndScan(Instant now) REQUIRES(mutex_);
  void QueueAs(bool leading, uint32_t number) REQUIRES(mutex_);
  void Queue(uint32_t number) REQUIRES(mutex_);
  void SetTimer(uint32_t number, Instant at) REQUIRES(mutex_);
  void FireTimers(Instant now) REQUIRES(mutex_);
  void BecameClean(PublishEntry& entry) REQUIRES(mutex_);
  bool MayBeginRound(int64_t reaches, bool some_deferred) const REQUIRES(mutex_);
  void RenderingEnded(PublishEntry& entry) REQUIRES(mutex_);
  void EndRoundIfDone() REQUIRES(mutex_);
  uint32_t TakeNext(Instant now, Limits& limits) REQUIRES(mutex_);
  uint32_t TakeLeading(Instant now) REQUIRES(mutex_);
  uint32_t TakeFront(std::deque<uint32_t>& due) REQUIRES(mutex_);
  static bool IsSent(const Rendering& made);
  void Sent(uint32_t number, size_t bytes, Instant now) REQUIRES(mutex_);
  void NothingToSend(uint32_t number) REQUIRES(mutex_);
  void PutBackOne(uint32_t number) REQUIRES(mutex_);
  void Delivered(uint32_t number, Instant now, TimeMs wall_now) REQUIRES(mutex_);
  void NotDelivered(uint32_t number, Instant now, bool too_large) REQUIRES(mutex_);
  void Release(uint32_t number) REQUIRES(mutex_);

  size_t outlets() const { return filters_.size() + retired_.size(); }
  FilterId IdOf(Outlet outlet) const;
  /// nullptr: the outlet is a filter's.
  const RetiredTopic* RetiredAt(Outlet outlet) const;
  /// nullopt: nothing is published under this id.
  std::optional<Outlet> OutletOf(FilterId id) const;
  Tally& TallyOf(Outlet outlet) REQUIRES(mutex_) { return tallies_[static_cast<size_t>(outlet)]; }

  const std::vector<FilterPolicy> filters_;
  const std::vector<RetiredTopic> retired_;
  const size_t entries_max_;
  const size_t entries_wanted_;  // the rest is space for leading edges
  Reporter& reporter_;
  std::atomic<size_t> followed_{0};
  std::atomic<bool> batch_runs_{false};
  std::atomic<uint64_t> deferred_{0};  // users of tails that no checkpoint has written

  mutable Mutex channel_mutex_;
  std::vector<Batch> channel_ GUARDED_BY(channel_mutex_);
  uint64_t channel_users_ GUARDED_BY(channel_mutex_) = 0;  // once for each filter

  mutable Mutex mutex_;
  PublishTable table_ GUARDED_BY(mutex_);
  // What is due. An entry that moves from waiting_ to leading_ leaves its number in waiting_. It is skipped
  // there.
  std::deque<uint32_t> leading_ GUARDED_BY(mutex_);
  uint32_t late_taken_ GUARDED_BY(mutex_) = 0;  // of leading_, while its oldest was late
  std::deque<uint32_t> waiting_ GUARDED_BY(mutex_);
  // One per outlet. The debounce seldom changes, so the timers are in order. After a change, some wait for an
  // earlier, longer one.
  std::vector<std::deque<Timer>> timers_ GUARDED_BY(mutex_);
  // Retries after a failed delivery, one queue per delay, so that each queue is in order. The delay is
  // kRetryAfter, doubled as often as the index says.
  std::array<std::deque<Timer>, kRetryDelays> retries_ GUARDED_BY(mutex_);
  // Users who were left to marks. Their marks stand in the store, and none of them has an entry.
  UserRefSet left_ GUARDED_BY(mutex_);
  uint64_t commits_ GUARDED_BY(mutex_) = 0;         // of changes to the store's marks
  size_t looked_back_ GUARDED_BY(mutex_) = 0;       // at the back of waiting_: those who had no marks
  size_t taken_since_scan_ GUARDED_BY(mutex_) = 0;  // of waiting_, since the last page of marks
  UserRefSet clears_ GUARDED_BY(mutex_);            // marks in the store whose snapshot is acknowledged
  std::vector<UserRef> collected_set_ GUARDED_BY(mutex_);  // between CollectMarks and its end
  std::vector<UserRef> collected_clear_ GUARDED_BY(mutex_);
  uint64_t unclean_ GUARDED_BY(mutex_) = 0;
  MarksLeft marks_left_ GUARDED_BY(mutex_);
  bool some_deferred_ GUARDED_BY(mutex_) = false;  // among the collected
  // The round under way: the offset that it leads to (kNoOffset: it leads nowhere any more), and the entries
  // that it waits for.
  int64_t round_to_ GUARDED_BY(mutex_) = kNoOffset;
  uint64_t round_waits_ GUARDED_BY(mutex_) = 0;
  int64_t published_to_ GUARDED_BY(mutex_) = kNoOffset;
  // True at first if anything is published, because a restart publishes the marked users.
  bool scan_wanted_ GUARDED_BY(mutex_);
  bool rescan_ GUARDED_BY(mutex_) = false;  // new marks were committed during a scan
  bool marks_held_ GUARDED_BY(mutex_) = false;
  bool scan_let_go_ GUARDED_BY(mutex_);               // the wanted scan doesn't wait for held marks
  bool next_scan_let_go_ GUARDED_BY(mutex_) = false;  // nor does the scan after it
  std::optional<UserRef> scan_after_ GUARDED_BY(mutex_);
  std::vector<Tally> tallies_ GUARDED_BY(mutex_);

  // Publisher thread.
  std::vector<OutgoingSnapshot> outgoing_;  // of the group that is being sent
  std::vector<SnapshotSample> samples_;     // by filter
  std::vector<ProbeCounts> probed_;         // by filter, of that group
};

}  // namespace seen
