#include "flow/publish_flow.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/result.h"

namespace seen {
namespace {
constexpr size_t kPrefetched = 12;  // entries ahead of the current one
constexpr std::chrono::milliseconds kRetryAfter{500};
constexpr std::chrono::milliseconds kRetryAfterMax{60'000};
}  // namespace

PublishFlow::PublishFlow(std::vector<FilterPolicy> filters, size_t entries_max, Reporter& reporter,
                         const std::vector<RetiredTopic>& retired, bool may_have_marks)
    : filters_(std::move(filters)),
      retired_(retired),
      entries_max_(entries_max),
      entries_wanted_(entries_max - entries_max / 8),
      reporter_(reporter),
      timers_(outlets()),
      scan_wanted_(may_have_marks && (!retired_.empty() || std::any_of(filters_.begin(), filters_.end(),
                                                                       [](const FilterPolicy& filter) {
                                                                         return filter.snapshot.has_value();
                                                                       }))),
      scan_let_go_(scan_wanted_),
      tallies_(outlets()),
      samples_(filters_.size()) {}

FilterId PublishFlow::IdOf(Outlet outlet) const {
  const RetiredTopic* const retired = RetiredAt(outlet);
  return retired != nullptr ? retired->id : filters_[static_cast<size_t>(outlet)].id;
}

const RetiredTopic* PublishFlow::RetiredAt(Outlet outlet) const {
  const auto place = static_cast<size_t>(outlet);
  return place < filters_.size() ? nullptr : &retired_[place - filters_.size()];
}

std::optional<Outlet> PublishFlow::OutletOf(FilterId id) const {
  for (size_t place = 0; place < outlets(); ++place) {
    const Outlet outlet{static_cast<uint16_t>(place)};
    if (IdOf(outlet) != id) continue;
    if (RetiredAt(outlet) == nullptr && !filters_[place].snapshot) return std::nullopt;
    return outlet;
  }
  return std::nullopt;
}

void PublishFlow::AddDirty(std::span<const DirtyUser> users, Instant visible_at) {
  if (users.empty()) return;
  uint64_t snapshots = 0;
  for (const DirtyUser& user : users) snapshots += static_cast<uint64_t>(std::popcount(user.filters));
  const MutexLock lock(channel_mutex_);
  channel_.push_back({{users.begin(), users.end()}, visible_at});
  channel_users_ += snapshots;
}

void PublishFlow::DrainChannel() {
  std::vector<Batch> batches;
  {
    const MutexLock lock(channel_mutex_);
    batches.swap(channel_);
    channel_users_ = 0;
  }
  for (const Batch& batch : batches) {
    const auto first_of = [&](size_t at) {
      const DirtyUser& dirty = batch.users[at];
      return UserRef{filters_[static_cast<size_t>(std::countr_zero(dirty.filters))].id, dirty.user};
    };
    for (size_t at = 0; at < batch.users.size(); ++at) {
      if (at + 2 * kPrefetched < batch.users.size()) table_.PrefetchIndex(first_of(at + 2 * kPrefetched));
      if (at + kPrefetched < batch.users.size())
        table_.PrefetchEntry(first_of(at + kPrefetched), kPrefetched);
      const DirtyUser& dirty = batch.users[at];
      for (size_t i = 0; i < filters_.size(); ++i) {
        if (dirty.filters >> i & 1) {
          MakeDirtyNow(Outlet{static_cast<uint16_t>(i)}, dirty, batch.visible_at);
        }
      }
    }
  }
}

uint64_t PublishFlow::ChannelUsers() const {
  const MutexLock lock(channel_mutex_);
  return channel_users_;
}

void PublishFlow::Release(uint32_t number) {
  table_.Remove(number);
  NoteFollowed();
}

void PublishFlow::QueueAs(bool leading, uint32_t number) {
  PublishEntry& entry = table_[number];
  entry.queued = true;
  entry.leading = leading;
  QueueOf(entry).push_back(number);
}

void PublishFlow::Queue(uint32_t number) {
  if (!table_[number].queued) QueueAs(false, number);
}

void PublishFlow::SetTimer(uint32_t number, Instant at) {
  PublishEntry& entry = table_[number];
  entry.timed = true;
  timers_[static_cast<size_t>(entry.outlet)].push_back({at, number});
}

uint32_t PublishFlow::MakeDirty(Outlet outlet, const UserKey& user, Instant visible_at,
                                TimeMs record_timestamp) {
  const UserRef ref{IdOf(outlet), user};
  const bool was_left = !left_.empty() && left_.erase(ref);
  const uint32_t number = table_.FindOrAdd(ref, outlet);
  NoteFollowed();
  PublishEntry& entry = table_[number];
  if (was_left) entry.marked = true;
  if (!entry.unclean()) ++unclean_;
  if (!entry.dirty) {
    entry.dirty = true;
    entry.dirty_since = visible_at;
    entry.dirty_record = record_timestamp;
  }
  entry.waits = false;
  entry.held = false;
  return number;
}

// For a user whom an event changed. If the entry is timed or in flight, its timer or its acknowledgement
// queues it.
void PublishFlow::MakeDirtyNow(Outlet outlet, const DirtyUser& dirty, Instant visible_at) {
  // The snapshot that the mark brings will hold this change, too. Held marks would keep it for too long.
  if (!left_.empty() && !marks_held_ && left_.contains({IdOf(outlet), dirty.user})) return;
  const uint32_t number = MakeDirty(outlet, dirty.user, visible_at, dirty.record_timestamp);
  PublishEntry& entry = table_[number];
  if (entry.timed || entry.in_flight) return;
  // If the entry only waits for its turn in a sweep, the event must not wait with it.
  if (!entry.queued || (!entry.leading && entry.dirty_record == kNoRecord)) QueueAs(true, number);
}

void PublishFlow::MakeDue(Outlet outlet, const UserKey& user, Instant since) {
  const uint32_t number = MakeDirty(outlet, user, since, kNoRecord);
  const PublishEntry& entry = table_[number];
  if (!entry.timed && !entry.in_flight) Queue(number);
}

// Before all others that wait.
void PublishFlow::MakeDueNext(Outlet outlet, const UserKey& user, Instant since) {
  const uint32_t number = MakeDirty(outlet, user, since, kNoRecord);
  PublishEntry& entry = table_[number];
  if (entry.timed || entry.in_flight || entry.queued) return;
  entry.queued = true;
  entry.leading = false;
  waiting_.push_front(number);
}

// Takes the next due entry. kNone: nothing is due, or not within the limits.
uint32_t PublishFlow::TakeNext(Instant now, Limits& limits) {
  if (limits.leading > 0 && !leading_.empty()) {
    --limits.leading;
    return TakeLeading(now);
  }
  while (limits.waiting > 0 && !waiting_.empty()) {
    const uint32_t number = TakeFront(waiting_);
    const PublishEntry& entry = table_[number];
    if (!entry.used || !entry.queued || entry.leading) continue;  // see waiting_
    --limits.waiting;
    ++taken_since_scan_;
    return number;
  }
  return PublishTable::kNone;
}

uint32_t PublishFlow::TakeLeading(Instant now) {
  const bool late = now - table_[leading_.front()].dirty_since > kLeadingPatience;
  if (!late || ++late_taken_ % kOldestOneIn == 0) return TakeFront(leading_);
  const size_t size = leading_.size();
  if (size > kPrefetched) table_.PrefetchEntry(leading_[size - 1 - kPrefetched]);
  const uint32_t number = leading_.back();
  leading_.pop_back();
  return number;
}

uint32_t PublishFlow::TakeFront(std::deque<uint32_t>& due) {
  if (due.size() > kPrefetched) table_.PrefetchEntry(due[kPrefetched]);
  const uint32_t number = due.front();
  due.pop_front();
  return number;
}

// The renderings hold all changes up to now. A change from now on makes its user dirty again.
size_t PublishFlow::Take(Instant now, Limits limits, std::span<Rendering> group) {
  const MutexLock lock(mutex_);
  DrainChannel();
  FireTimers(now);
  MakeSpace();
  size_t taken = 0;
  while (taken < group.size()) {
    const uint32_t number = TakeNext(now, limits);
    if (number == PublishTable::kNone) break;
    PublishEntry& entry = table_[number];
    const RetiredTopic* const retired = RetiredAt(entry.outlet);
    if (taken > 0 && (retired != nullptr) != (group[0].retired != nullptr)) {
      QueueOf(entry).push_front(number);
      break;
    }
    entry.queued = false;
    entry.dirty = false;
    entry.in_flight = true;
    entry.sent_since = entry.dirty_since;
    entry.sent_record = entry.dirty_record;
    Rendering& one = group[taken++];
    one.filter_index = FilterIndex(retired != nullptr ? 0 : static_cast<size_t>(entry.outlet));
    one.retired = retired;
    one.user = entry.user;
    one.ticket = number;
  }
  return taken;
}

void PublishFlow::Sent(uint32_t number, size_t bytes, Instant now) {
  const PublishEntry& entry = table_[number];
  Tally& tally = TallyOf(entry.outlet);
  ++tally.sent;
  tally.bytes += bytes;
  if (entry.timed) return;
  const bool is_retired = RetiredAt(entry.outlet) != nullptr;
  const auto debounce =
      is_retired ? kRetiredDebounce : filters_[static_cast<size_t>(entry.outlet)].snapshot->debounce();
  SetTimer(number, now + debounce);
}

bool PublishFlow::IsSent(const Rendering& made) {
  return !made.user_id.empty() && made.origin != Origin::kPublished;
}

// For a mark without state, or a snapshot that is withheld.
void PublishFlow::NothingToSend(uint32_t number) {
  PublishEntry& entry = table_[number];
  entry.in_flight = false;
  RenderingEnded(entry);
  if (entry.dirty) return Queue(number);
  --unclean_;
  BecameClean(entry);
  if (!entry.timed) Release(number);
}

void PublishFlow::PutBackOne(uint32_t number) {
  PublishEntry& entry = table_[number];
  entry.in_flight = false;
  entry.dirty = true;
  entry.dirty_since = entry.sent_since;
  entry.dirty_record = entry.sent_record;
  if (entry.queued) return;
  entry.queued = true;
  QueueOf(entry).push_front(number);
}

// Backwards, so that entries that are put back keep their order.
void PublishFlow::PutBack(std::span<const Rendering> group) {
  const MutexLock lock(mutex_);
  for (size_t i = group.size(); i-- > 0;) PutBackOne(group[i].ticket);
}

PublishFlow::Sending PublishFlow::Send(Instant now, std::span<const Rendering> group, SnapshotSink& sink,
                                       uint64_t ticket_tag) {
  outgoing_.clear();
  probed_.assign(samples_.size(), {});
  for (const Rendering& made : group) {
    if (!IsSent(made)) continue;
    outgoing_.push_back(
        {Output::kSnapshots, made.filter_index, made.user_id, made.bytes, ticket_tag | made.ticket});
    if (made.retired == nullptr) {
      probed_[made.filter_index] += samples_[made.filter_index].Add(made.bytes);
    } else {
      outgoing_.back().output = Output::kRetired;
      outgoing_.back().retired_topic = made.retired->topic;
    }
  }
  if (!outgoing_.empty()) sink.TrySend(outgoing_);
  Sending sending;
  const MutexLock lock(mutex_);
  for (size_t i = 0; i < probed_.size(); ++i) tallies_[i].probed += probed_[i];
  for (const Rendering& made : group) {
    Tally& tally = TallyOf(table_[made.ticket].outlet);
    if (made.origin == Origin::kUnion) ++tally.merged;
    if (made.origin == Origin::kPublished) ++tally.withheld;
    if (!IsSent(made)) NothingToSend(made.ticket);
  }
  for (size_t i = outgoing_.size(); i-- > 0;) {
    const auto number = static_cast<uint32_t>(outgoing_[i].ticket);
    if (outgoing_[i].queued) {
      ++sending.sent;
      Sent(number, outgoing_[i].bytes.size(), now);
    } else {
      sending.sink_full = true;
      PutBackOne(number);
    }
  }
  return sending;
}

void PublishFlow::FireFirst(std::deque<Timer>& timers) {
  const uint32_t number = timers.front().entry;
  timers.pop_front();
  PublishEntry& entry = table_[number];
  entry.timed = false;
  if (entry.in_flight) return;  // the acknowledgement decides
  if (!entry.dirty) {
    Release(number);
  } else if (!entry.waits) {
    Queue(number);
  }
}

void PublishFlow::FireTimers(Instant now) {
  for (auto& timers : timers_) {
    while (!timers.empty() && timers.front().at <= now) {
      if (timers.size() > 2 * kPrefetched) table_.PrefetchEntry(timers[2 * kPrefetched].entry);
      if (timers.size() > kPrefetched) table_.PrefetchIndex(table_[timers[kPrefetched].entry].ref());
      FireFirst(timers);
    }
  }
  for (auto& retries : retries_) {
    while (!retries.empty() && retries.front().at <= now) {
      const uint32_t number = retries.front().entry;
      retries.pop_front();
      PublishEntry& entry = table_[number];
      entry.retry_set = false;
      if (entry.used && entry.dirty && !entry.in_flight) Queue(number);
    }
  }
}

// An entry that was dirty and in flight when the round began needs two renderings, or one after which it is
// clean.
void PublishFlow::RenderingEnded(PublishEntry& entry) {
  if (entry.awaited == 0) return;
  entry.awaited = entry.unclean() ? entry.awaited - 1 : 0;
  if (entry.awaited > 0) return;
  --round_waits_;
  EndRoundIfDone();
}

void PublishFlow::EndRoundIfDone() {
  if (round_waits_ > 0 || round_to_ == kNoOffset) return;
  published_to_ = std::max(published_to_, round_to_);
  round_to_ = kNoOffset;
}

int64_t PublishFlow::PublishedTo() const {
  const MutexLock lock(mutex_);
  return published_to_;
}

void PublishFlow::WasPublishedTo(int64_t offset) {
  const MutexLock lock(mutex_);
  published_to_ = std::max(published_to_, offset);
}

void PublishFlow::TakeBackPublishedTo() {
  const MutexLock lock(mutex_);
  published_to_ = kNoOffset;
  round_to_ = kNoOffset;
}

void PublishFlow::BecameClean(PublishEntry& entry) {
  if (!entry.marked || entry.held) return;
  entry.marked = false;
  clears_.insert(entry.ref());
}

void PublishFlow::Acknowledged(std::span<const Acknowledgement> acknowledgements, Instant now,
                               TimeMs wall_now) {
  const MutexLock lock(mutex_);
  for (size_t i = 0; i < acknowledgements.size(); ++i) {
    if (i + kPrefetched < acknowledgements.size()) {
      table_.PrefetchEntry(acknowledgements[i + kPrefetched].ticket);
    }
    const auto [ticket, delivery] = acknowledgements[i];
    Check(ticket < table_.end() && table_[ticket].in_flight,
          "an acknowledgement of a snapshot that wasn't sent");
    if (delivery == Delivery::kAcknowledged) {
      Delivered(ticket, now, wall_now);
    } else {
      if (delivery != Delivery::kWithheld) ++TallyOf(table_[ticket].outlet).failed;
      NotDelivered(ticket, now, delivery == Delivery::kTooLarge);
    }
  }
}

// A snapshot that is too large must not be rendered again and again. The wait doubles, until its user
// changes.
void PublishFlow::NotDelivered(uint32_t number, Instant now, bool too_large) {
  PublishEntry& entry = table_[number];
  entry.in_flight = false;
  const bool was_clean = !entry.dirty;  // nothing has changed since
  if (!entry.dirty || entry.sent_since < entry.dirty_since) {
    entry.dirty_since = entry.sent_since;
    entry.dirty_record = entry.sent_record;
  }
  entry.dirty = true;
  const size_t doubled = entry.too_large;
  entry.too_large = static_cast<uint8_t>(too_large ? std::min(doubled + 1, kRetryDelays - 1) : 0);
  entry.waits = too_large && was_clean;
  if (!entry.waits) return retries_[0].push_back({now + kRetryAfter, number});
  if (std::exchange(entry.retry_set, true)) return;
  retries_[doubled].push_back({now + std::min(kRetryAfter * (1 << doubled), kRetryAfterMax), number});
}

void PublishFlow::Delivered(uint32_t number, Instant now, TimeMs wall_now) {
  PublishEntry& entry = table_[number];
  Tally& tally = TallyOf(entry.outlet);
  entry.in_flight = false;
  entry.too_large = 0;
  RenderingEnded(entry);
  if (entry.sent_record != kNoRecord) {
    tally.visible_to_published.Add(
        std::chrono::duration_cast<std::chrono::milliseconds>(now - entry.sent_since).count());
    tally.record_to_published.Add(wall_now.value - entry.sent_record.value);
  }
  if (entry.dirty) {
    if (!entry.timed) Queue(number);
    return;
  }
  --unclean_;
  BecameClean(entry);
  if (!entry.timed) Release(number);
}

void PublishFlow::Report() {
  std::vector<Tally> tallies(outlets());
  {
    const MutexLock lock(mutex_);
    tallies.swap(tallies_);
  }
  for (size_t i = 0; i < tallies.size(); ++i) {
    const Tally& tally = tallies[i];
    if (i >= filters_.size()) {
      if (tally.sent + tally.failed > 0) reporter_.RetiredTombstones(tally.sent, tally.failed);
      continue;
    }
    const FilterIndex filter(i);
    if (tally.sent > 0) reporter_.SnapshotsSent(filter, tally.sent, tally.bytes);
    if (tally.failed > 0) reporter_.SnapshotsFailed(filter, tally.failed);
    if (tally.probed.probes > 0) reporter_.SnapshotsProbed(filter, tally.probed);
    if (tally.merged + tally.withheld > 0) reporter_.SnapshotsMerged(filter, tally.merged, tally.withheld);
    reporter_.SnapshotsAcknowledged(filter, tally.visible_to_published, tally.record_to_published);
  }
}

void PublishFlow::DropReport() {
  const MutexLock lock(mutex_);
  tallies_.assign(outlets(), {});
}

bool PublishFlow::HasDue() const {
  const MutexLock lock(mutex_);
  return !leading_.empty() || !waiting_.empty();
}

Instant PublishFlow::NextDue() const {
  const MutexLock lock(mutex_);
  if (!leading_.empty() || !waiting_.empty()) return Instant::min();
  const bool lacks_room = LacksSpace();  // a full table takes no change that would wake the publisher
  Instant next = Instant::max();
  for (const auto& timers : timers_) {
    if (!timers.empty()) next = lacks_room ? Instant::min() : std::min(next, timers.front().at);
  }
  for (const auto& retries : retries_) {
    if (!retries.empty()) next = std::min(next, retries.front().at);
  }
  return next;
}

uint64_t PublishFlow::Outstanding() const {
  // What a batch adds is counted below by the time when it no longer runs.
  const uint64_t running = batch_runs_.load(std::memory_order_acquire) ? 1 : 0;
  const MutexLock lock(mutex_);
  const uint64_t left = marks_left_.UpperBound();
  const uint64_t in_memory = unclean_ + deferred_.load(std::memory_order_relaxed) + ChannelUsers();
  return running + in_memory + (scan_wanted_ ? std::max<uint64_t>(left, 1) : left);
}

}  // namespace seen
