#include "flow/sweep.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "flow/endings.h"
#include "flow/publish_flow.h"
#include "model/delta_view.h"

namespace seen {
namespace {
constexpr size_t kSweepPage = 256;
// Looking at a user costs a small part of publishing one.
constexpr double kLookCost = 0.1;
constexpr size_t kEndingsMost = 100'000;  // then the sweep waits for a checkpoint

uint32_t VersionOf(const FilterPolicy& filter) { return filter.snapshot ? filter.snapshot->version() : 0; }
}  // namespace

Sweep::Sweep(std::vector<FilterPolicy> filters, const PartitionStore& store, PublishFlow& publish,
             Endings& endings, double users_per_second, bool is_new)
    : filters_(std::move(filters)),
      publishes_(std::any_of(filters_.begin(), filters_.end(),
                             [](const FilterPolicy& filter) { return filter.snapshot.has_value(); })),
      store_(store),
      publish_(publish),
      endings_(endings),
      users_per_second_(users_per_second),
      is_new_(is_new),
      swept_through_(std::numeric_limits<int32_t>::min()),
      rendered_day_(is_new) {
  const MutexLock lock(mutex_);
  for (const FilterPolicy& filter : filters_)
    renderings_.push_back({filter.RenderingHash(), VersionOf(filter)});
}

// A reload may have changed how snapshots are rendered. The users rendered before are in the store, or in
// tails that the next checkpoint writes there.
void Sweep::LookAtPolicies(Instant now) {
  for (size_t i = 0; i < filters_.size(); ++i) {
    const uint32_t version = VersionOf(filters_[i]);
    if (version == renderings_[i].version) continue;
    const uint64_t hash = filters_[i].RenderingHash();
    if (hash != renderings_[i].hash) rendering_changed_at_ = now;
    renderings_[i] = {hash, version};
  }
}

Status Sweep::Open(TimeMs wall) {
  {
    const MutexLock lock(mutex_);
    if (opened_) return {};
  }
  const auto stored = store_.ReadSweep();
  if (!stored) return Fail(stored.error());
  const MutexLock lock(mutex_);
  if (opened_) return {};  // the other thread has opened it
  if (!stored->empty()) {
    auto progress = DecodeSweepProgress(*stored);
    if (!progress) return Fail(progress.error());
    progress_ = std::move(*progress);
    // From now on the store gets what this rendering writes, also if no sweep begins before the next one.
    for (auto& filter : progress_.filters) {
      const auto index = IndexOf(filter.id);
      if (!index || filter.rendering == renderings_[*index].hash) continue;
      filter.rendering = 0;
      progress_changed_ = true;
      Changed();
    }
  } else if (is_new_) {
    progress_.done = DayOf(wall);
    for (size_t i = 0; i < filters_.size(); ++i) {
      progress_.filters.push_back({filters_[i].id, renderings_[i].hash, false});
    }
    progress_changed_ = true;
    Changed();
  }
  // Another process may have begun a sweep of all users because a topic was cut.
  const bool owes = progress_.running && std::any_of(progress_.filters.begin(), progress_.filters.end(),
                                                     [](const auto& filter) { return filter.whole; });
  if (!owes && !IsRequested()) owes_all_.store(false, std::memory_order_release);
  rendered_day_.Opened(progress_.rendered);
  endings_.Opened(progress_.ended);
  if (!stored->empty()) swept_stored_ = progress_.Latest();
  if (progress_.done) SetSweptThrough(*progress_.done);
  opened_ = true;
  return {};
}

Status Sweep::Step(Instant now, TimeMs wall, Instant tails_since) {
  if (!publishes_) return {};
  if (Status opened = Open(wall); !opened) return opened;
  StartSweepIfDue(now, wall, tails_since);
  return StepSweep(now, wall);
}

Result<bool> Sweep::MayRender(TimeMs wall, Instant now) {
  if (!publishes_) return true;  // nobody is ever due
  if (Status opened = Open(wall); !opened) return Fail(opened.error());
  const Day day = DayOf(wall);
  if (!rendered_day_.MayRender(day, now)) return false;
  // A snapshot by this clock holds items that end after its time. No checkpoint may drop these endings.
  endings_.FollowBack(wall);
  const MutexLock lock(mutex_);
  // If the clock went back to `day`, its snapshots may hold items that have expired since that day. So a
  // sweep is due.
  const auto lower = [&](std::optional<Day>& swept) REQUIRES(mutex_) {
    if (!swept || *swept <= day) return;
    swept = day;
    progress_changed_ = true;
    Changed();
  };
  lower(progress_.done);
  lower(progress_.running);
  // A process that opens the store must know it, too.
  const bool is_stored = swept_stored_ <= day;
  awaits_lower_.store(!is_stored, std::memory_order_release);
  return is_stored;
}

void Sweep::StartSweepIfDue(Instant now, TimeMs wall, Instant tails_since) {
  const MutexLock lock(mutex_);
  LookAtPolicies(now);
  if (progress_.running) return;
  const Day today = DayOf(wall);
  const uint64_t requests = requests_.load();
  const bool requested = requests != begun_requests_.load();
  if (requested && requested_.first != requests) requested_ = {requests, now};
  const bool was_ahead = rendered_day_.IsAfter(today);
  bool due = requested || was_ahead || progress_.done != today;
  for (size_t i = 0; i < filters_.size(); ++i) {
    const auto* progress = ProgressOf(filters_[i].id);
    due |= filters_[i].snapshot && (progress == nullptr || progress->rendering != renderings_[i].hash);
  }
  // The sweep doesn't find users who are only in a tail. So what was known before midnight must be in the
  // store first.
  const TimeMs tails_began{wall.value -
                           std::chrono::duration_cast<std::chrono::milliseconds>(now - tails_since).count()};
  if (!due || (!requested && DayOf(tails_began) < today)) return;
  // So must the users who were rendered for another day, or before the rendering changed. The next checkpoint
  // has them.
  // For a request the same is true of all who were read before it.
  const Instant stored_after = std::max(
      {rendered_day_.LastOfAnother(today), rendering_changed_at_, requested ? requested_.second : Instant{}});
  if (tails_since <= stored_after) return Changed();
  begun_requests_.store(requests);
  const bool day_by_day = progress_.done && (*progress_.done == today || *progress_.done + 1 == today);
  for (size_t i = 0; i < filters_.size(); ++i) {
    auto* progress = ProgressOf(filters_[i].id);
    if (progress == nullptr)
      progress = &progress_.filters.emplace_back(SweepProgress::Filter{filters_[i].id, 0, true});
    progress->whole = requested || was_ahead || !day_by_day || progress->rendering != renderings_[i].hash;
    // From now on users are rendered this way. If the rendering changes before the sweep ends, the next sweep
    // sees it.
    progress->rendering = renderings_[i].hash;
  }
  progress_.running = today;
  rendered_day_.BackTo(today);
  progress_.cursor.reset();
  progress_changed_ = true;
  Changed();
}

Status Sweep::StepSweep(Instant now, TimeMs wall) {
  const double since = std::chrono::duration<double>(now - swept_at_).count();
  swept_at_ = now;
  allowance_ =
      std::min(allowance_ + std::clamp(since, 0.0, 1.0) * users_per_second_, static_cast<double>(kSweepPage));
  SweepProgress progress;
  {
    const MutexLock lock(mutex_);
    if (!progress_.running || endings_found_.size() > kEndingsMost) return {};
    progress = progress_;
  }
  if (allowance_ <= 0 || !publish_.TakesMore(kSweepPage)) return {};
  // The clock may have gone back since.
  const Day today = std::min(*progress.running, DayOf(wall));
  due_.clear();
  page_endings_.clear();
  const uint32_t ended = endings_.ended();
  std::optional<UserRef> skipped;
  const auto last =
      store_.ScanUsers(progress.cursor, kSweepPage, [&](const UserRef& ref, std::string_view encoded) {
        if (skipped) return;
        const auto index = IndexOf(ref.filter);
        if (!index || !filters_[*index].snapshot) {
          skipped = UserRef{ref.filter, kLastUserKey};
          return;
        }
        const FilterPolicy& filter = filters_[*index];
        const auto known = std::find_if(progress.filters.begin(), progress.filters.end(),
                                        [&](const auto& candidate) { return candidate.id == ref.filter; });
        allowance_ -= kLookCost;
        if (known == progress.filters.end()) return;  // configured since: left to the next run
        if (known->whole && !filter.updates) FindEndings(ref, encoded, ended, page_endings_);
        if (known->whole || filter.WindowsCut(encoded, *progress.done, today)) due_.push_back(ref);
      });
  if (!last) return Fail(last.error());
  publish_.AddDue(due_, now);
  allowance_ -= static_cast<double>(due_.size());
  users_made_due_.fetch_add(due_.size(), std::memory_order_relaxed);
  const MutexLock lock(mutex_);
  if (*last) {
    progress_.cursor = skipped ? skipped : *last;
  } else {
    EndSweep();
  }
  endings_found_.insert(endings_found_.end(), page_endings_.begin(), page_endings_.end());
  progress_changed_ = true;
  Changed();
  return {};
}

void Sweep::FindEndings(const UserRef& user, std::string_view encoded, uint32_t from_s,
                        std::vector<Ending>& endings) {
  thread_local DeltaView view;
  if (!ParseDelta(encoded, view)) return;  // rendering says so
  for (const OtherView& other : view.others) {
    if (other.kind == SegmentKind::kServed && other.EndSecond() >= from_s)
      endings.push_back({static_cast<uint32_t>(other.EndSecond()), user});
  }
}

// Under the lock: a sweep that ends meanwhile owes nothing any more.
void Sweep::RequestAll() {
  const MutexLock lock(mutex_);
  owes_all_.store(true);
  requests_.fetch_add(1);
}

std::vector<int64_t> Sweep::TopicEnds() const {
  const MutexLock lock(mutex_);
  if (!opened_) return {};
  std::vector<int64_t> ends(filters_.size(), -1);
  for (const auto& progress : progress_.filters) {
    if (const auto index = IndexOf(progress.id)) ends[*index] = progress.topic_end;
  }
  return ends;
}

void Sweep::NoteTopicEnd(FilterIndex filter, int64_t end) {
  const MutexLock lock(mutex_);
  auto* const progress = ProgressOf(filters_[filter].id);
  if (progress == nullptr || progress->topic_end == end) return;
  if (end < progress->topic_end && IsRequested()) return;
  progress->topic_end = end;
  progress_changed_ = true;
  Changed();
}

// The marks that it goes with make the next checkpoint due.
void Sweep::RaiseTopicEnd(FilterIndex filter, int64_t end) {
  const MutexLock lock(mutex_);
  auto* const progress = ProgressOf(filters_[filter].id);
  if (progress == nullptr || end <= progress->topic_end) return;
  progress->topic_end = end;
  progress_changed_ = true;
}

// One day less, because tombstones of that day may still be on their way.
void Sweep::SetSweptThrough(Day done) {
  swept_through_.store(done.since_epoch - 1, std::memory_order_relaxed);
}

void Sweep::EndSweep() {
  progress_.done = progress_.running;
  progress_.running.reset();
  progress_.cursor.reset();
  for (auto& filter : progress_.filters) filter.whole = false;
  if (!IsRequested()) owes_all_.store(false, std::memory_order_release);
}

Status Sweep::Begin(Checkpoint& checkpoint, CheckpointWriter&) {
  if (!publishes_) return {};
  if (Status opened = Open(checkpoint.wall); !opened) return opened;
  const MutexLock lock(mutex_);
  const Day rendered = rendered_day_.Begin(checkpoint.wall);
  progress_changed_ |= progress_.rendered != rendered;
  progress_.rendered = rendered;
  collected_ = progress_;
  swept_stored_ = std::max(swept_stored_, collected_.Latest());  // whether or not this checkpoint succeeds
  changes_collected_ = std::exchange(progress_changed_, false);
  awaits_lower_.store(false, std::memory_order_release);
  has_changes_.store(false, std::memory_order_release);
  endings_collected_ = endings_found_.size();
  checkpoint.endings.insert(checkpoint.endings.end(), endings_found_.begin(), endings_found_.end());
  return {};
}

Status Sweep::Write(Checkpoint&, CheckpointWriter& writer) {
  if (!publishes_) return {};
  std::string progress;
  {
    const MutexLock lock(mutex_);
    for (auto& filter : collected_.filters) {
      const auto* const now = ProgressOf(filter.id);
      if (now == nullptr || now->topic_end <= filter.topic_end) continue;
      filter.topic_end = now->topic_end;
      changes_collected_ = true;
    }
    const uint32_t ended = endings_.ended();
    changes_collected_ |= progress_.ended != ended;
    progress_.ended = collected_.ended = ended;
    if (!changes_collected_) return {};
    progress = EncodeSweepProgress(collected_);
  }
  return writer.PutSweep(progress);
}

void Sweep::Committed(const Checkpoint&) {
  if (publishes_) rendered_day_.Committed();
  const MutexLock lock(mutex_);
  if (std::exchange(changes_collected_, false)) {
    if (collected_.done) SetSweptThrough(*collected_.done);
    swept_stored_ = collected_.Latest();
  }
  endings_found_.erase(endings_found_.begin(),
                       endings_found_.begin() + static_cast<std::ptrdiff_t>(endings_collected_));
  endings_collected_ = 0;
}

void Sweep::Failed() {
  if (!publishes_) return;
  const MutexLock lock(mutex_);
  progress_changed_ |= std::exchange(changes_collected_, false);
  Changed();
}

bool Sweep::IsSweeping() const {
  const MutexLock lock(mutex_);
  return progress_.running.has_value() || IsRequested();
}

bool Sweep::IsRepublishing() const {
  const MutexLock lock(mutex_);
  return IsRequested() || (progress_.running && OwesAll());
}

RepublishStatus Sweep::GetStatus() const {
  const MutexLock lock(mutex_);
  RepublishStatus status;
  status.sweeping = progress_.running.has_value();
  status.all_requested = IsRequested();
  status.awaits_checkpoint = rendered_day_.AwaitsCheckpoint();
  if (progress_.done) status.swept_day = progress_.done->since_epoch;
  status.users_made_due = users_made_due_.load(std::memory_order_relaxed);
  status.endings = endings_.due();
  return status;
}

std::optional<size_t> Sweep::IndexOf(FilterId id) const {
  for (size_t i = 0; i < filters_.size(); ++i) {
    if (filters_[i].id == id) return i;
  }
  return std::nullopt;
}

SweepProgress::Filter* Sweep::ProgressOf(FilterId id) {
  const auto found = std::find_if(progress_.filters.begin(), progress_.filters.end(),
                                  [&](const auto& filter) { return filter.id == id; });
  return found == progress_.filters.end() ? nullptr : &*found;
}

}  // namespace seen
