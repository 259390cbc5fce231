#include "flow/publisher.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

#include "flow/partition_flow.h"

namespace seen {
namespace {
using std::chrono::milliseconds;

constexpr milliseconds kAcknowledgementPoll{1};
constexpr milliseconds kRefreshPoll{10};  // a step looks at each partition: docs/decisions/0020
constexpr milliseconds kCheckpointPoll{10};
constexpr milliseconds kIdle{50};
// The wait while nothing is due: whatever comes next wakes the publisher, or may wait for seconds.
constexpr milliseconds kQuiet{250};
// The sink waits for more snapshots only if more than kFewASecond are sent in a second.
constexpr milliseconds kSendEvery{4};
constexpr uint64_t kFewASecond = 100'000;
// About as long as a pass renders with the pool. If users take very long, their leading edges wait for
// passes. Otherwise a pass has many users, because it has a price of its own.
constexpr milliseconds kPass{8};
constexpr milliseconds kShortPass{1};
constexpr std::chrono::microseconds kShortPassFrom{200};  // once a user takes this long
constexpr size_t kFewUsers = 8;                           // of a partition
constexpr size_t kLeastUsers = 4;                         // of a pass
// Rendered together by one thread, so that their cache misses overlap.
constexpr size_t kUsersAPiece = 128;
// If a pool renders, some users wait for the disk longer than others. So each thread gets several pieces. The
// reads of a piece are one batch, so a piece of few users costs more.
constexpr size_t kPooledUsersAPiece = 16;
constexpr size_t kFewUsersAPiece = 8;
constexpr size_t kPiecesAThread = 2;
constexpr size_t kKeptBytes = 32 * 1024;  // of a snapshot's memory, for the next one

/// Asks for the lease when a snapshot is queued, because the process may have stood still while it rendered.
/// Snapshots that come too late stay due.
class LeasedSink final : public SnapshotSink {
 public:
  LeasedSink(SnapshotSink& sink, std::function<bool()> holds_lease)
      : sink_(sink), holds_lease_(std::move(holds_lease)) {}

  void TrySend(std::span<OutgoingSnapshot> snapshots) override {
    if (holds_lease_()) return sink_.TrySend(snapshots);
    for (OutgoingSnapshot& snapshot : snapshots) snapshot.queued = false;
  }
  void PollAcknowledgements(const Acknowledge& acknowledge) override {
    sink_.PollAcknowledgements(acknowledge);
  }
  void SendNow(const Acknowledge& acknowledge) override { sink_.SendNow(acknowledge); }
  uint64_t outstanding() const override { return sink_.outstanding(); }

 private:
  SnapshotSink& sink_;
  const std::function<bool()> holds_lease_;
};
}  // namespace

/// The sink of a replica, for one partition: it sends nothing.
class Publisher::WithholdingSink final : public SnapshotSink {
 public:
  WithholdingSink(const PartitionState& state, std::deque<Withheld>& withheld)
      : state_(state), withheld_(withheld) {}

  void TrySend(std::span<OutgoingSnapshot> snapshots) override {
    const int64_t holds = state_.next_offset();
    for (OutgoingSnapshot& snapshot : snapshots) {
      withheld_.push_back({holds, snapshot.ticket});
      snapshot.queued = true;
    }
  }
  void PollAcknowledgements(const Acknowledge&) override {}
  void SendNow(const Acknowledge&) override {}
  uint64_t outstanding() const override { return withheld_.size(); }

 private:
  const PartitionState& state_;
  std::deque<Withheld>& withheld_;
};

Publisher::Publisher(const OpenPartitions& partitions, SnapshotSink& sink, Reporter& reporter,
                     const Clock& clock, const Options& options)
    : partitions_(partitions), sink_(sink), reporter_(reporter), clock_(clock), options_(options) {
  if (options.watermarks) watermarks_.emplace(*options.watermarks, options.guard);
}

milliseconds Publisher::Step() {
  const std::vector<PartitionPointer> opened = partitions_.All();
  ForgetClosed(opened);
  is_replica_ = IsReplica();
  Pass pass;
  groups_.clear();
  for (const PartitionPointer& open : opened) {
    NoteLease(*open);
    ContinueFormer(*open);
    if (!MayPublish(*open)) continue;
    PartitionWork& kept = WorkOf(*open);
    StepPartition(*open, kept, pass);
    BeginGroup(*open, kept, pass);
  }
  TakeUsers();
  RenderAll();
  for (Group& group : groups_) Send(group, pass);
  if (watermarks_) {
    // For a partition that another process may own by now, a beat would be as wrong as a snapshot.
    std::vector<PartitionPointer> held;
    std::copy_if(opened.begin(), opened.end(), std::back_inserter(held),
                 [&](const PartitionPointer& open) { return HoldsLease(*open); });
    watermarks_->Step(held, sink_, clock_, is_replica_);
  }
  Acknowledge(opened, pass);
  sink_full_ = pass.sink_full;
  const Instant now = clock_.Now();
  if (now - reported_ > kIdle) {
    for (const PartitionPointer& open : opened) {
      is_replica_ ? open->flow->publish.DropReport() : open->flow->publish.Report();
      if (open->flow->updates) open->flow->updates->Report(reporter_);
    }
    reported_ = now;
  }
  if (pass.more) return milliseconds(0);
  // Nobody waits for the acknowledgement of a beat.
  const size_t beats = watermarks_ ? watermarks_->outstanding() : 0;
  if (sink_.outstanding() > beats) return FollowsChanges(opened) ? kAcknowledgementPoll : kRefreshPoll;
  const milliseconds wait = IsQuiet(opened, pass) ? kQuiet : kIdle;
  const Instant next = std::min(pass.next, watermarks_ ? watermarks_->NextAt() : Instant::max());
  if (next == Instant::max()) return wait;
  return std::clamp(std::chrono::ceil<milliseconds>(next - now), kAcknowledgementPoll, wait);
}

bool Publisher::FollowsChanges(const std::vector<PartitionPointer>& opened) {
  return std::any_of(opened.begin(), opened.end(),
                     [](const PartitionPointer& open) { return open->flow->publish.FollowsChanges(); });
}

bool Publisher::IsQuiet(const std::vector<PartitionPointer>& opened, const Pass& pass) {
  if (pass.next != Instant::max()) return false;
  return std::all_of(opened.begin(), opened.end(), [&](const PartitionPointer& open) {
    if (open->stopped.load(std::memory_order_acquire)) return true;
    return MayPublish(*open) && WorkOf(*open).withheld.empty() && !open->flow->publish.WantsScan().wanted &&
           !open->flow->sweep.IsSweeping();
  });
}

uint64_t Publisher::Outstanding() const {
  uint64_t outstanding = 0;
  for (const PartitionPointer& open : partitions_.All()) outstanding += open->flow->Outstanding();
  return outstanding;
}

Publisher::PartitionWork& Publisher::WorkOf(const OpenPartition& open) { return work_[open.ticket_tag]; }

void Publisher::ForgetClosed(const std::vector<PartitionPointer>& opened) {
  std::erase_if(work_, [&](const auto& kept) {
    return std::none_of(opened.begin(), opened.end(),
                        [&](const PartitionPointer& open) { return open->ticket_tag == kept.first; });
  });
}

bool Publisher::HoldsLease(const OpenPartition& open) const {
  if (!open.assigned.load(std::memory_order_acquire)) return false;  // the partition only answers
  return options_.lease == nullptr || options_.lease->MayPublish(open.partition, clock_.Now());
}

void Publisher::NoteLease(const OpenPartition& open) {
  const Instant now = clock_.Now();
  const bool holds = HoldsLease(open);
  PartitionWork& kept = WorkOf(open);
  const bool ended = std::exchange(kept.held_lease, holds) && !holds;
  const bool owns = holds && !is_replica_;
  if (!std::exchange(kept.owns, owns)) {
    kept.owns_since = now;
    kept.holds_all = false;
  }
  if (owns && !kept.holds_all) {
    const auto age = open.flow->state.GetAsOf(now).age;
    kept.holds_all = age && now - *age >= kept.owns_since;
  }
  // A rebalance ends leases before this process knows that the partition has gone.
  if (ended && open.assigned.load(std::memory_order_acquire) && !options_.lease->IsGivenUp(open.partition))
    reporter_.LeaseLapsed(open.partition);
}

// Goes on where the former owner's beats ended. A partition that was revoked and came back, and one of a
// group that was demoted and promoted again, may have had another owner meanwhile.
void Publisher::ContinueFormer(const OpenPartition& open) {
  if (is_replica_ || !open.assigned.load(std::memory_order_acquire)) WorkOf(open).continued = false;
  if (!open.flow->updates || is_replica_ || !HoldsLease(open)) return;
  if (std::exchange(WorkOf(open).continued, true)) return;
  const auto beat = options_.owner != nullptr ? options_.owner->LastBeat(open.partition) : std::nullopt;
  if (!beat) return;
  // First what concerns the topics: they are the same whatever the state is. The beat is newer than the
  // state, so it may know of records that were cut since.
  PublishFlow& publish = open.flow->publish;
  if (ContinueTopics(open, *beat) || beat->republishing) {
    open.flow->sweep.RequestAll();
    return publish.TakeBackPublishedTo();
  }
  if (beat->generation != open.flow->state.generation()) return;
  // This process knows more: no beat has said so yet.
  if (open.flow->sweep.IsRepublishing()) return;
  // If the beat doesn't name a filter, some users' snapshots were withheld, and a round finds their marks.
  const auto& filters = open.flow->state.options().filters;
  for (FilterIndex i; i < filters.size(); i = FilterIndex(i + 1)) {
    if (filters[i].updates && beat->published_to >= 0 && !beat->snapshots_to.contains(filters[i].name))
      publish.WasWithheld(i);
  }
  publish.WasPublishedTo(beat->published_to);
  // The watch may have found a cut topic before this.
  if (open.flow->sweep.IsRepublishing()) publish.TakeBackPublishedTo();
}

// Whether a filter's topic isn't the former owner's: users may be missing there.
bool Publisher::ContinueTopics(const OpenPartition& open, const Beat& beat) const {
  bool is_another = false;
  const auto& filters = open.flow->state.options().filters;
  for (FilterIndex i; i < filters.size() && options_.guard != nullptr; i = FilterIndex(i + 1)) {
    if (!filters[i].updates) continue;
    const auto of_filter = [&](const auto& member) {
      const auto found = member.find(filters[i].name);
      return found == member.end() ? std::nullopt : std::optional(found->second);
    };
    const OutputPlace place{i, open.partition};
    const int64_t log = of_filter(beat.snapshots_log).value_or(0);
    if (of_filter(beat.snapshots_topic).value_or(filters[i].topic) == filters[i].topic) {
      options_.guard->ContinueFormer(place, log, of_filter(beat.snapshots_to));
    } else {
      options_.guard->BeginLog(place, log);
      is_another = true;
    }
  }
  return is_another;
}

// A snapshot of a partition that is still catching up would let seen items through. So would one of a
// promoted replica that lags, or of a partition that comes back: the former owner has published more.
bool Publisher::MayPublish(const OpenPartition& open) {
  if (options_.lease != nullptr && !is_replica_ && !WorkOf(open).holds_all) return false;
  return open.CaughtUp() && !open.stopped.load(std::memory_order_acquire) && HoldsLease(open) &&
         !open.flow->last_published.AwaitsReading(clock_.WallNow());
}

// Whether readers know the log that snapshots go into. The watch may find a cut while users are rendered.
bool Publisher::HasBeaten(const OpenPartition& open) const {
  const bool has_beats = open.flow->updates && watermarks_ && !is_replica_ && options_.guard != nullptr;
  return !has_beats || options_.guard->MayWrite(open.partition);
}

// The sink to which this partition's records go. The process may have become a replica while it rendered.
template <typename Work>
auto Publisher::WithSink(const OpenPartition& open, PartitionWork& kept, const Work& work) {
  if (is_replica_) {
    WithholdingSink withholding(open.flow->state, kept.withheld);
    return work(withholding);
  }
  LeasedSink leased(sink_, [&] { return HoldsLease(open) && !IsReplica() && HasBeaten(open); });
  return work(leased);
}

// Users whose snapshot another process has written are due.
void Publisher::TakeForeign(PartitionFlow& flow) const {
  if (!flow.publish.TakesMore(ForeignUsers::kPage)) return;
  std::vector<UserRef> due;
  for (const ForeignUsers::User& foreign : flow.foreign_users.Take())
    due.push_back({foreign.filter, foreign.user});
  if (!due.empty()) flow.publish.AddDue(due, clock_.Now());
}

void Publisher::StepPartition(OpenPartition& open, PartitionWork& kept, Pass& pass) {
  PartitionFlow& flow = *open.flow;
  if (flow.state.LagMessages() <= flow.state.options().behind_lag_messages) {
    Try(PublishStep::kScanMarks, open, kept, [&] { return ScanMarks(open, pass); });
    TakeForeign(flow);
    Try(PublishStep::kRepublish, open, kept, [&] {
      const TimeMs wall = clock_.WallNow();
      if (Status ended = flow.endings.Step(clock_.Now(), wall); !ended) return ended;
      return flow.sweep.Step(clock_.Now(), wall, flow.state.TailsSince());
    });
  }
  Try(PublishStep::kLastPublished, open, kept,
      [&] { return flow.last_published.Step(clock_.Now(), clock_.WallNow()); });
  if (!flow.unexposed) return;
  Try(PublishStep::kUnexposed, open, kept, [&] {
    return WithSink(open, kept, [&](SnapshotSink& sink) {
      return flow.unexposed->Step(flow.state.CheckpointTime(), sink, open.unexposed_tag());
    });
  });
}

void Publisher::BeginGroup(OpenPartition& open, PartitionWork& kept, Pass& pass) {
  Retry& retry = kept.retries[static_cast<size_t>(PublishStep::kRender)];
  if (open.stopped.load(std::memory_order_relaxed)) return;
  if (clock_.Now() < retry.until) return NoteRest(open, retry.until, false, pass);
  const TimeMs wall = clock_.WallNow();
  const auto may_render = open.flow->sweep.MayRender(wall, clock_.Now());
  if (!may_render) {
    Failed(PublishStep::kRender, open, retry, may_render.error());
    return NoteRest(open, retry.until, false, pass);
  }
  if (!*may_render) return NoteRest(open, clock_.Now() + kCheckpointPoll, false, pass);
  // Before the first snapshot is sent: its offset then says whether a topic was cut while nobody owned it.
  if (OutputGuard* const guard = options_.guard) {
    if (!guard->KnowsFloors(open.partition)) guard->KnowFloors(open.partition, open.flow->sweep.TopicEnds());
    if (!HasBeaten(open)) return NoteRest(open, clock_.Now() + kCheckpointPoll, false, pass);
  }
  groups_.push_back({&open, &kept, wall, open.flow->endings.ServedSecond(wall), {}, {}});
}

// If users take long, a pass has as many as the threads render in its time. If the sink is full, a pass has
// few: snapshots that it doesn't take are rendered in vain.
size_t Publisher::UsersAPass() const {
  size_t users = options_.snapshots_a_pass;
  if (sink_full_) users = std::min(users, kFewUsers * groups_.size());
  if (RendersWithPool()) {
    const auto threads = static_cast<int64_t>(options_.pool->threads() + 1);
    const auto took = std::max(user_took_, std::chrono::nanoseconds(1));
    const std::chrono::nanoseconds pass = took < kShortPassFrom ? kPass : kShortPass;
    users = std::min(users, static_cast<size_t>(threads * pass / took));
  }
  return std::max(users, kLeastUsers);
}

// Users who may wait have a quarter of each pass, and what leading edges leave of it. Of both, each partition
// has its share.
void Publisher::TakeUsers() {
  const size_t users = UsersAPass();
  const size_t leading = users - users / 4;
  const size_t share = users / std::max<size_t>(1, groups_.size()) + 1;
  renderings_.resize(std::max(users, renderings_.size()));
  taken_ = 0;
  Take(kLeading, share, leading);
  Take(kWaiting, share, users);
}

// Takes up to `of_each` users of each partition, until the pass has `to` users.
void Publisher::Take(Kind kind, size_t of_each, size_t to) {
  const size_t first = next_[kind]++;
  for (size_t i = 0; i < groups_.size(); ++i) {
    if (taken_ == to) {
      next_[kind] = first + i;
      return;
    }
    Group& group = groups_[(first + i) % groups_.size()];
    const size_t most = std::min(of_each, to - taken_);
    const PublishFlow::Limits limits =
        kind == kLeading ? PublishFlow::Limits{most, 0} : PublishFlow::Limits{0, most};
    const auto free = std::span(renderings_).subspan(taken_, most);
    group.users[kind] = free.first(group.open->flow->publish.Take(clock_.Now(), limits, free));
    taken_ += group.users[kind].size();
  }
}

// `goes_on`: the next pass may take what is due.
void Publisher::NoteRest(const OpenPartition& open, Instant retry_at, bool goes_on, Pass& pass) const {
  const PublishFlow& publish = open.flow->publish;
  pass.more |= goes_on && publish.HasDue();
  pass.next = std::min(pass.next, std::max(publish.NextDue(), retry_at));
}

// Waking threads costs more than a user in memory takes.
bool Publisher::RendersWithPool() const {
  return options_.pool != nullptr && user_took_ >= options_.pool_from;
}

void Publisher::CutToPieces(size_t piece_users) {
  pieces_.clear();
  for (const Kind kind : {kLeading, kWaiting}) {
    for (Group& group : groups_) {
      for (auto rest = group.users[kind]; !rest.empty();) {
        const size_t users = std::min(rest.size(), piece_users);
        pieces_.push_back({&group, rest.first(users), {}});
        rest = rest.subspan(users);
      }
    }
  }
}

void Publisher::RenderAll() {
  if (is_replica_) {
    Withhold(std::span(renderings_).first(taken_));
    return;
  }
  if (taken_ == 0) return;
  const auto render = [&](size_t i) {
    Piece& piece = pieces_[i];
    const UserReader& reader = piece.group->open->flow->reader;
    const Instant begun = clock_.Now();
    piece.rendered = piece.users.front().retired != nullptr
                         ? reader.NameRetired(piece.users)
                         : reader.RenderUsers(piece.group->wall, piece.group->served_second, piece.users);
    piece.took = clock_.Now() - begun;
  };
  std::chrono::nanoseconds took{0};
  const auto note = [&](Piece& piece) {
    took += piece.took;
    if (!piece.rendered) piece.group->rendered = std::move(piece.rendered);
  };
  if (RendersWithPool()) {
    const size_t pieces = kPiecesAThread * (options_.pool->threads() + 1);
    CutToPieces(std::clamp(taken_ / pieces, kFewUsersAPiece, kPooledUsersAPiece));
    options_.pool->Run(pieces_.size(), render);
    for (Piece& piece : pieces_) note(piece);
  } else {
    CutToPieces(kUsersAPiece);
    for (size_t i = 0; i < pieces_.size(); ++i) {
      if (!pieces_[i].group->rendered) continue;  // what else is rendered would be put back with it
      render(i);
      note(pieces_[i]);
    }
  }
  user_took_ = took / taken_;
}

// Nobody reads a replica's snapshots. The id only says that there is something to publish.
void Publisher::Withhold(std::span<PublishFlow::Rendering> users) {
  for (PublishFlow::Rendering& one : users) {
    one.user_id = "withheld";
    one.bytes.clear();
    one.origin = PublishFlow::Origin::kState;
  }
}

void Publisher::Send(Group& group, Pass& pass) {
  PartitionFlow& flow = *group.open->flow;
  Retry& retry = group.kept->retries[static_cast<size_t>(PublishStep::kRender)];
  if (!group.rendered) {
    for (const auto users : group.users) flow.publish.PutBack(users);
    Failed(PublishStep::kRender, *group.open, retry, group.rendered.error());
  } else {
    retry = {};
    WithSink(*group.open, *group.kept, [&](SnapshotSink& sink) {
      for (const auto users : group.users) {
        if (users.empty()) continue;
        const auto sending = flow.publish.Send(clock_.Now(), users, sink, group.open->ticket_tag);
        pass.sent += sending.sent;
        pass.sink_full |= sending.sink_full;
      }
    });
  }
  flow.sweep.Rendered(clock_.Now());
  NoteRest(*group.open, retry.until, group.rendered && !pass.sink_full, pass);
  for (const auto users : group.users) {
    for (PublishFlow::Rendering& one : users) {
      if (one.bytes.capacity() > kKeptBytes) one.bytes = {};
    }
  }
}

template <typename Work>
void Publisher::Try(PublishStep step, OpenPartition& open, PartitionWork& kept, const Work& work) {
  Retry& retry = kept.retries[static_cast<size_t>(step)];
  if (open.stopped.load(std::memory_order_relaxed) || clock_.Now() < retry.until) return;
  if (const Status done = work(); !done) return Failed(step, open, retry, done.error());
  retry = {};
}

void Publisher::Failed(PublishStep step, OpenPartition& open, Retry& retry, const Error& error) {
  retry.until = clock_.Now() + retry.delay.Next();
  if (error.code == Code::kCorrupt) open.Stop(error.message);
  reporter_.PublishFailed(open.partition, step, error);
}

Status Publisher::ScanMarks(OpenPartition& open, Pass& pass) {
  PublishFlow& publish = open.flow->publish;
  // Whether there are marks behind the page: this pass may publish the page's users, so nothing else says so.
  const auto scan_page = [&](PublishFlow::ScanRequest scan) -> Result<bool> {
    scan.limit = std::min(scan.limit, options_.marks_a_step);
    const auto marks = open.store->ScanMarks(scan.after, scan.limit);
    if (!marks) return Fail(marks.error());
    publish.Scanned(*marks, scan, clock_.Now());
    const bool more = marks->size() == scan.limit;
    pass.more |= more;
    return more;
  };
  if (const auto scan = publish.WantsScan(); scan.wanted) {
    if (const auto scanned = scan_page(scan); !scanned) return Fail(scanned.error());
  }
  if (is_replica_) return {};  // its marks stay for the time when it owns the outputs
  if (open.flow->updates) publish.HurryTo(open.flow->updates->GapTo());
  for (size_t section = 0; section < Refresh::kSections; ++section) {
    const auto scan = publish.WantsRefresh(clock_.Now(), open.flow->state.next_offset());
    if (!scan.wanted) return {};
    const auto more = scan_page(scan);
    if (!more) return Fail(more.error());
    if (*more) return {};
  }
  return {};
}

void Publisher::Acknowledge(const std::vector<PartitionPointer>& opened, const Pass& pass) {
  const auto take = [&](uint64_t ticket, Delivery delivery) {
    if (watermarks_ && ticket == WatermarkBeat::kTicket) {
      return watermarks_->Acknowledged(delivery == Delivery::kAcknowledged);
    }
    const uint64_t tag = ticket >> 32 << 32;
    const auto kept = work_.find(tag & ~kUnexposedTag);
    // The partition was closed meanwhile. Its marks are left for the next owner.
    if (kept == work_.end()) return;
    const PublishFlow::Acknowledgement one{static_cast<uint32_t>(ticket), delivery};
    ((tag & kUnexposedTag) != 0 ? kept->second.unexposed : kept->second.snapshots).push_back(one);
  };
  if (ShouldSendNow(pass)) {
    sink_.SendNow(take);
  } else {
    sink_.PollAcknowledgements(take);
  }
  const Instant now = clock_.Now();
  const TimeMs wall = clock_.WallNow();
  for (const PartitionPointer& open : opened) {
    PartitionWork& kept = WorkOf(*open);
    SettleWithheld(*open, kept);
    if (!kept.snapshots.empty()) {
      NoteWritten(*open);
      open->flow->publish.Acknowledged(kept.snapshots, now, wall);
    }
    for (const auto& [ticket, delivery] : kept.unexposed) {
      open->flow->unexposed->Acknowledged(ticket, delivery == Delivery::kAcknowledged);
    }
    kept.snapshots.clear();
    kept.unexposed.clear();
  }
}

void Publisher::NoteWritten(const OpenPartition& open) const {
  const PartitionState& state = open.flow->state;
  for (FilterIndex i; options_.guard != nullptr && i < state.options().filters.size();
       i = FilterIndex(i + 1)) {
    if (state.filters().updates >> i & 1)
      open.flow->sweep.RaiseTopicEnd(i, options_.guard->WrittenTo({i, open.partition}));
  }
}

// If this group becomes the owner, it publishes what the former owner hasn't published. The owner publishes
// filters with updates in rounds of `updates.refresh_s`, so a mark does not wait for it in memory.
void Publisher::SettleWithheld(const OpenPartition& open, PartitionWork& kept) const {
  if (kept.withheld.empty()) return;
  const int64_t published_to = options_.owner->PublishedTo(open.partition);
  while (!kept.withheld.empty()) {
    const auto& [holds, ticket] = kept.withheld.front();
    const bool published = holds <= published_to;
    const bool is_unexposed = (ticket & kUnexposedTag) != 0;
    const auto number = static_cast<uint32_t>(ticket);
    if (published || !is_replica_) {
      (is_unexposed ? kept.unexposed : kept.snapshots)
          .push_back({number, published ? Delivery::kAcknowledged : Delivery::kWithheld});
    } else if (is_unexposed || !open.flow->publish.LeaveToMark(number, clock_.Now())) {
      return;
    }
    kept.withheld.pop_front();
  }
}

// Few requests of many snapshots cost least. But if there are few snapshots anyway, they need not wait.
bool Publisher::ShouldSendNow(const Pass& pass) {
  const Instant now = clock_.Now();
  sent_lately_ += pass.sent;
  if (pass.more || sent_lately_ == 0 || now - sent_now_at_ < kSendEvery) return false;
  const auto since_us = std::chrono::duration_cast<std::chrono::microseconds>(now - sent_now_at_).count();
  const bool few = sent_lately_ * 1'000'000 < kFewASecond * static_cast<uint64_t>(since_us);
  sent_lately_ = 0;
  sent_now_at_ = now;
  return few;
}

}  // namespace seen
