#pragma once
// The users of one partition whose snapshots must be published: due, under way, or left to a mark in the
// store.
//
// Leading edge: if a user wasn't published within the debounce, a change of the user is due at once. Trailing
// edge: changes within the debounce are due when it ends. Leading edges go first; of all others, the first to
// come goes first (flow/due_users.h). If too many users are followed, changes leave their users to marks, and
// so do all changes of filters with updates: a scan (flow/standing_marks.h) or the refresh (flow/refresh.h)
// finds them.
//
// A user is unclean from a change until a snapshot rendered after it is acknowledged. CollectMarks says which
// unclean users a checkpoint must mark, so that a restart publishes them. Invariant: for a user without an
// entry, or with a clean entry, the last acknowledged snapshot holds everything that the partition's state
// holds of the user. The exception is a user with a mark in the store or in the tail. The invariant doesn't
// apply to withheld snapshots: flow/last_published.h makes them due later.
//
// Threads: one mutex inside. It is held for moves between queues, and never while rendering, sending or
// reading.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "flow/due_users.h"
#include "flow/filter_policy.h"
#include "flow/log_port.h"
#include "flow/publish_table.h"
#include "flow/refresh.h"
#include "flow/reporter.h"
#include "flow/standing_marks.h"

namespace seen {

struct DirtyUser {
  UserKey user;
  FilterMask filters = 0;
  TimeMs record_timestamp;  // of the oldest change in the batch
};

class PublishFlow {
 public:
  struct Options {
    size_t entries_max = 500'000;  // users followed in memory
    bool may_have_marks = true;    // the store isn't new
    std::chrono::milliseconds refresh_every{1'800'000};
    int32_t partition = 0;
  };
  /// `filters`: in configuration order. `retired`: topics without a filter; their users come only from marks,
  /// and get only tombstones.
  PublishFlow(std::vector<FilterPolicy> filters, const Options& options, Reporter& reporter,
              const std::vector<RetiredTopic>& retired = {});

  /// Worker thread. False: leave new dirty users to marks (PartitionIntake::Apply does). Marks have the rest
  /// of the space, so that they come to their turn.
  bool HasSpace() const { return followed_.load(std::memory_order_relaxed) < entries_wanted_; }
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
  /// need one, must be written even if one stands. `reaches`: the tail's end, which was read by `at`;
  /// everything below it has come through AddDirty or `deferred`. kNoOffset: PublishedTo doesn't advance.
  /// Exactly one of the two calls below must follow.
  MarkChanges CollectMarks(std::vector<UserRef> deferred, std::span<const UserRef> renewed = {},
                           int64_t reaches = kNoOffset, Instant at = {});
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
    bool ends_by_itself = false;  // some item in it stops counting before its window ends
  };
  using Limits = DueUsers::Limits;
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
  /// Publisher thread, of a replica, instead of Acknowledged: leaves a sent snapshot to its user's mark, for
  /// the refresh after a promotion. False: no such mark stands yet.
  bool LeaveToMark(uint32_t ticket, Instant now);
  /// Publisher thread, after acknowledgements: hands counts and latencies to the reporter.
  void Report();
  /// Publisher thread, instead of Report if nothing was sent: drops the counts and latencies.
  void DropReport();
  /// Whether something is due, as of the last Take.
  bool HasDue() const;
  /// When Take must be called again; Instant::max() if nothing is waiting for a time.
  Instant NextDue() const;

  /// Publisher thread: a page of marks that is wanted, if there is space for what it may find.
  struct ScanRequest {
    bool wanted = false;
    std::optional<UserRef> after;
    std::optional<UserRef> last;  // set: of the refresh, which wants none behind it
    size_t limit = 0;
    uint64_t commit = 0;  // the store's marks were of this commit at the earliest
  };
  ScanRequest WantsScan() const;
  /// The same for filters with updates. `next_offset`: of the state.
  ScanRequest WantsRefresh(Instant now, int64_t next_offset);
  /// `marks`: the page that was read. Fewer than the limit: there are no more. If a checkpoint has changed
  /// the marks since, the page counts for nothing, and is wanted again.
  void Scanned(std::span<const Mark> marks, const ScanRequest& scan, Instant now);
  /// Any thread. Whether each change makes a snapshot due, because some filter is published without updates.
  /// If not, nobody waits for an acknowledgement.
  bool FollowsChanges() const { return follows_changes_; }
  /// Any thread. Whether AddDirty has brought users whom the publisher hasn't seen yet.
  bool HasNews() const { return ChannelUsers() > 0; }
  /// Any thread. Readers lack updates below this offset.
  void HurryTo(int64_t offset);
  /// nullopt: no filter has updates.
  std::optional<RefreshStatus> GetRefreshStatus(Instant now) const;
  /// Any thread. A former owner of this state has published all changes below this offset.
  void WasPublishedTo(int64_t offset);
  /// Any thread. Whether changes of the filter, which has updates, may be in no snapshot, because a union was
  /// refused (flow/last_published.h).
  bool Withholds(FilterIndex filter) const;
  /// Any thread. The same was true for the former owner: its beat didn't name the filter.
  void WasWithheld(FilterIndex filter);
  /// Any thread. A snapshot topic was cut: what was acknowledged may be gone.
  void TakeBackPublishedTo();
  /// Any thread. Since then, not all users have been published again.
  bool IsTakenBack() const;
  /// Publisher thread: whether `users` more can become due without making others wait.
  bool TakesMore(size_t users) const;
  /// Publisher thread: the users' snapshots must be re-rendered, although no event changed the users.
  void AddDue(std::span<const UserRef> users, Instant now);
  /// Any thread.
  bool IsUnclean(const UserRef& ref) const;

  /// Users whose snapshot isn't acknowledged, in memory or by marks (an upper bound), except for those who
  /// are left to the refresh. If it is 0, each change of the other filters below an offset that was visible
  /// before the call is acknowledged. Any thread.
  uint64_t Outstanding() const;
  /// Each change below this offset is in an acknowledged snapshot. The offset advances in rounds: those of
  /// the refresh, and for filters without updates, those of checkpoints. A checkpoint's round ends when every
  /// user that was unclean then is acknowledged. kNoOffset: no round has ended yet. Any thread.
  int64_t PublishedTo() const;

  static constexpr int64_t kNoOffset = Refresh::kNoOffset;

 private:
  static constexpr std::chrono::milliseconds kRetiredDebounce{1000};
  // For a user who comes from a mark, the event's time isn't known, so no latency is reported.
  static constexpr TimeMs kNoRecord{std::numeric_limits<int64_t>::max()};
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
  void NoteFollowed() REQUIRES(mutex_) { followed_.store(table_.size(), std::memory_order_relaxed); }
  bool HasSpaceFor(size_t users) const REQUIRES(mutex_);
  size_t ScanPage() const;
  uint32_t MakeDirty(Outlet outlet, const UserKey& user, Instant visible_at, TimeMs record_timestamp)
      REQUIRES(mutex_);
  void MakeDirtyNow(Outlet outlet, const DirtyUser& dirty, Instant visible_at) REQUIRES(mutex_);
  void MakeDue(Outlet outlet, const UserKey& user, Instant since) REQUIRES(mutex_);
  void FoundMark(const UserRef& ref, bool of_refresh, Instant now) REQUIRES(mutex_);
  void BeginRound(int64_t reaches) REQUIRES(mutex_);
  void RenderingEnded(PublishEntry& entry, Instant now) REQUIRES(mutex_);
  void Awaited(const PublishEntry& entry, Instant now) REQUIRES(mutex_);
  void EndRoundIfDone() REQUIRES(mutex_);
  void NotePublishedTo() REQUIRES(mutex_);
  void SetPublishedTo(int64_t offset) REQUIRES(mutex_);
  static bool IsSent(const Rendering& made);
  void Sent(uint32_t number, size_t bytes, Instant now) REQUIRES(mutex_);
  void NothingToSend(uint32_t number, Instant now) REQUIRES(mutex_);
  void IsClean(uint32_t number) REQUIRES(mutex_);
  void PutBackOne(uint32_t number) REQUIRES(mutex_);
  void Delivered(uint32_t number, Instant now, TimeMs wall_now) REQUIRES(mutex_);
  void NotDelivered(uint32_t number, Instant now, bool too_large) REQUIRES(mutex_);

  size_t outlets() const { return filters_.size() + retired_.size(); }
  FilterId IdOf(Outlet outlet) const;
  /// nullptr: the outlet is a filter's.
  const RetiredTopic* RetiredAt(Outlet outlet) const;
  /// nullopt: nothing is published under this id.
  std::optional<Outlet> OutletOf(FilterId id) const;
  Tally& TallyOf(Outlet outlet) REQUIRES(mutex_) { return tallies_[static_cast<size_t>(outlet)]; }

  const std::vector<FilterPolicy> filters_;
  const std::vector<RetiredTopic> retired_;
  const int32_t partition_;
  const size_t entries_max_;
  const size_t entries_wanted_;  // the rest is space for users from marks
  Reporter& reporter_;
  std::atomic<size_t> followed_{0};
  std::atomic<bool> batch_runs_{false};
  std::atomic<uint64_t> deferred_{0};  // users of tails that no checkpoint has written; not of the refresh

  mutable Mutex channel_mutex_;
  std::vector<Batch> channel_ GUARDED_BY(channel_mutex_);
  uint64_t channel_users_ GUARDED_BY(channel_mutex_) = 0;  // once for each filter

  mutable Mutex mutex_;
  PublishTable table_ GUARDED_BY(mutex_);
  DueUsers due_ GUARDED_BY(mutex_);
  Refresh refresh_ GUARDED_BY(mutex_);
  const bool follows_changes_;
  const bool has_rounds_;  // of checkpoints: some filter is published without updates
  StandingMarks marks_ GUARDED_BY(mutex_);
  uint64_t unclean_ GUARDED_BY(mutex_) = 0;
  std::pair<int64_t, Instant> collected_to_ GUARDED_BY(mutex_){kNoOffset, {}};  // by CollectMarks
  // The round of a checkpoint: the offset that it leads to (kNoOffset: there is none), the entries that it
  // waits for, and where the last one led.
  int64_t round_to_ GUARDED_BY(mutex_) = kNoOffset;
  uint64_t round_waits_ GUARDED_BY(mutex_) = 0;
  int64_t rounds_led_to_ GUARDED_BY(mutex_) = kNoOffset;
  int64_t published_to_ GUARDED_BY(mutex_) = kNoOffset;
  bool taken_back_ GUARDED_BY(mutex_) = false;
  // Users whose snapshots were withheld while no mark stood, in filters with updates. The next checkpoint
  // sets the marks; the second: the one under way.
  std::vector<UserRef> withheld_ GUARDED_BY(mutex_), withheld_collected_ GUARDED_BY(mutex_);
  std::vector<Tally> tallies_ GUARDED_BY(mutex_);

  // Publisher thread.
  std::vector<OutgoingSnapshot> outgoing_;  // of the group that is being sent
  std::vector<SnapshotSample> samples_;     // by filter
  std::vector<ProbeCounts> probed_;         // by filter, of that group
};

}  // namespace seen
