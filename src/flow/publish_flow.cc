#include "flow/publish_flow.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <limits>

#include "base/check.h"

namespace seen {
namespace {
constexpr size_t kScanPage = 512;
constexpr size_t kPrefetched = 8;      // ahead of the one at hand
constexpr size_t kReadyEnough = 4096;  // with so many waiting, marks can wait too
constexpr std::chrono::milliseconds kRetryAfter{500};
// Of a user who comes from a mark, no event's time is known: no latency is told of it.
constexpr TimeMs kNoRecord{std::numeric_limits<int64_t>::max()};
}  // namespace

PublishFlow::PublishFlow(std::vector<FilterPolicy> filters, size_t entries_max, Reporter& reporter)
    : filters_(std::move(filters)),
      entries_max_(entries_max),
      reporter_(reporter),
      timers_(filters_.size()),
      scan_wanted_(std::any_of(filters_.begin(), filters_.end(),
                               [](const FilterPolicy& filter) { return filter.snapshot.has_value(); })),
      tallies_(filters_.size()) {}

void PublishFlow::AddDirty(std::span<const DirtyUser> users, Instant visible_at) {
  if (users.empty()) return;
  const std::lock_guard lock(channel_mutex_);
  channel_.push_back({{users.begin(), users.end()}, visible_at});
}

void PublishFlow::DrainChannel() {
  std::vector<Batch> batches;
  {
    const std::lock_guard lock(channel_mutex_);
    batches.swap(channel_);
  }
  for (const Batch& batch : batches) {
    const auto first_of = [&](size_t at) {
      const DirtyUser& dirty = batch.users[at];
      return UserRef{filters_[static_cast<size_t>(std::countr_zero(dirty.filters))].id, dirty.user};
    };
    for (size_t at = 0; at < batch.users.size(); ++at) {
      if (at + 2 * kPrefetched < batch.users.size()) table_.PrefetchIndex(first_of(at + 2 * kPrefetched));
      if (at + kPrefetched < batch.users.size()) table_.PrefetchEntry(first_of(at + kPrefetched));
      const DirtyUser& dirty = batch.users[at];
      for (size_t i = 0; i < filters_.size(); ++i) {
        if (dirty.filters >> i & 1) {
          MakeDirty(static_cast<uint16_t>(i), dirty.user, batch.visible_at, dirty.record_timestamp);
        }
      }
    }
  }
}

void PublishFlow::Release(uint32_t number) {
  table_.Remove(number);
  entry_count_.store(table_.size(), std::memory_order_relaxed);
}

void PublishFlow::Queue(uint32_t number) {
  PublishEntry& entry = table_[number];
  if (entry.queued) return;
  entry.queued = true;
  ready_.push_back(number);
}

void PublishFlow::SetTimer(uint32_t number, Instant at) {
  PublishEntry& entry = table_[number];
  entry.timed = true;
  timers_[entry.filter_index].push_back({at, number});
}

void PublishFlow::MakeDirty(uint16_t filter_index, const UserKey& user, Instant visible_at,
                            TimeMs record_timestamp) {
  const uint32_t number = table_.FindOrAdd({filters_[filter_index].id, user}, filter_index);
  entry_count_.store(table_.size(), std::memory_order_relaxed);
  PublishEntry& entry = table_[number];
  if (!entry.unclean()) ++unclean_;
  if (!entry.dirty) {
    entry.dirty = true;
    entry.dirty_since = visible_at;
    entry.dirty_record = record_timestamp;
  }
  // Otherwise its timer or its acknowledgement will queue it.
  if (!entry.timed && !entry.in_flight) Queue(number);
}

// The next of those that are ready, into the group. From here on a change makes them dirty again: what is
// rendered holds all that came before.
size_t PublishFlow::TakeGroup(size_t limit) {
  size_t group = 0;
  for (; group < std::min(kGroup, limit) && !ready_.empty(); ++group) {
    if (ready_.size() > kPrefetched) table_.PrefetchEntry(ready_[kPrefetched]);
    const uint32_t number = ready_.front();
    ready_.pop_front();
    PublishEntry& entry = table_[number];
    entry.queued = false;
    entry.dirty = false;
    entry.in_flight = true;
    entry.sent_since = entry.dirty_since;
    entry.sent_record = entry.dirty_record;
    numbers_[group] = number;
    renderings_[group].filter_index = entry.filter_index;
    renderings_[group].user = entry.user;
  }
  return group;
}

void PublishFlow::Sent(uint32_t number, size_t bytes, Instant now) {
  const PublishEntry& entry = table_[number];
  Tally& tally = tallies_[entry.filter_index];
  ++tally.sent;
  tally.bytes += bytes;
  if (!entry.timed) SetTimer(number, now + filters_[entry.filter_index].snapshot->debounce);
}

// A mark without state.
void PublishFlow::NothingToSend(uint32_t number) {
  PublishEntry& entry = table_[number];
  entry.in_flight = false;
  if (entry.dirty) return Queue(number);
  --unclean_;
  BecameClean(entry);
  if (!entry.timed) Release(number);
}

void PublishFlow::PutBack(size_t from, size_t group) {
  for (size_t i = group; i-- > from;) {
    PublishEntry& entry = table_[numbers_[i]];
    entry.in_flight = false;
    entry.dirty = true;
    entry.dirty_since = entry.sent_since;
    entry.dirty_record = entry.sent_record;
    if (entry.queued) continue;
    entry.queued = true;
    ready_.push_front(numbers_[i]);
  }
}

PublishFlow::Stepped PublishFlow::Step(Instant now, size_t limit, const Render& render, SnapshotSink& sink,
                                       uint64_t ticket_tag) {
  Stepped stepped;
  std::unique_lock lock(mutex_);
  DrainChannel();
  FireTimers(now);
  while (stepped.sent < limit && !stepped.sink_full && stepped.status) {
    const size_t group = TakeGroup(limit - stepped.sent);
    if (group == 0) break;
    lock.unlock();
    stepped.status = render(std::span(renderings_).first(group));
    size_t done = 0;
    for (; done < group && stepped.status; ++done) {
      const Rendering& made = renderings_[done];
      if (made.user_id.empty()) continue;
      if (!sink.TrySend(made.filter_index, made.user_id, made.bytes, ticket_tag | numbers_[done])) {
        stepped.sink_full = true;
        break;
      }
    }
    lock.lock();
    for (size_t i = 0; i < done; ++i) {
      if (renderings_[i].user_id.empty()) {
        NothingToSend(numbers_[i]);
        continue;
      }
      ++stepped.sent;
      Sent(numbers_[i], renderings_[i].bytes.size(), now);
    }
    PutBack(done, group);
  }
  return stepped;
}

void PublishFlow::FireTimers(Instant now) {
  for (auto& timers : timers_) {
    while (!timers.empty() && timers.front().at <= now) {
      if (timers.size() > kPrefetched) table_.PrefetchEntry(timers[kPrefetched].entry);
      const uint32_t number = timers.front().entry;
      timers.pop_front();
      PublishEntry& entry = table_[number];
      entry.timed = false;
      if (entry.in_flight) continue;  // its acknowledgement decides
      if (entry.dirty) {
        Queue(number);
      } else {
        Release(number);
      }
    }
  }
  while (!retries_.empty() && retries_.front().at <= now) {
    const uint32_t number = retries_.front().entry;
    retries_.pop_front();
    const PublishEntry& entry = table_[number];
    if (entry.used && entry.dirty && !entry.in_flight) Queue(number);
  }
}

void PublishFlow::BecameClean(PublishEntry& entry) {
  if (!entry.marked) return;
  entry.marked = false;
  clears_.insert(entry.ref());
}

void PublishFlow::Acknowledged(std::span<const Acknowledgement> acknowledgements, Instant now,
                               TimeMs wall_now) {
  const std::lock_guard lock(mutex_);
  for (size_t i = 0; i < acknowledgements.size(); ++i) {
    if (i + kPrefetched < acknowledgements.size()) {
      table_.PrefetchEntry(acknowledgements[i + kPrefetched].ticket);
    }
    const auto [ticket, delivered] = acknowledgements[i];
    Check(ticket < table_.end() && table_[ticket].in_flight, "an acknowledgement of nothing that was sent");
    if (delivered) {
      Delivered(ticket, now, wall_now);
    } else {
      NotDelivered(ticket, now);
    }
  }
}

void PublishFlow::NotDelivered(uint32_t number, Instant now) {
  PublishEntry& entry = table_[number];
  ++tallies_[entry.filter_index].failed;
  entry.in_flight = false;
  if (!entry.dirty || entry.sent_since < entry.dirty_since) {
    entry.dirty_since = entry.sent_since;
    entry.dirty_record = entry.sent_record;
  }
  entry.dirty = true;
  retries_.push_back({now + kRetryAfter, number});
}

void PublishFlow::Delivered(uint32_t number, Instant now, TimeMs wall_now) {
  PublishEntry& entry = table_[number];
  Tally& tally = tallies_[entry.filter_index];
  entry.in_flight = false;
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
  std::vector<Tally> tallies(filters_.size());
  {
    const std::lock_guard lock(mutex_);
    tallies.swap(tallies_);
  }
  for (size_t i = 0; i < tallies.size(); ++i) {
    const auto filter = static_cast<FilterIndex>(i);
    const Tally& tally = tallies[i];
    if (tally.sent > 0) reporter_.SnapshotsSent(filter, tally.sent, tally.bytes);
    if (tally.failed > 0) reporter_.SnapshotsFailed(filter, tally.failed);
    reporter_.SnapshotsAcknowledged(filter, tally.visible_to_published, tally.record_to_published);
  }
}

Instant PublishFlow::NextDue() const {
  const std::lock_guard lock(mutex_);
  if (!ready_.empty()) return Instant::min();
  Instant next = Instant::max();
  for (const auto& timers : timers_) {
    if (!timers.empty()) next = std::min(next, timers.front().at);
  }
  if (!retries_.empty()) next = std::min(next, retries_.front().at);
  return next;
}

MarkChanges PublishFlow::CollectMarks(std::vector<UserRef> deferred) {
  const std::lock_guard lock(mutex_);
  Check(collected_set_.empty() && collected_clear_.empty(), "two checkpoints of a partition at once");
  DrainChannel();
  deferred_collected_ = deferred.size();
  // An entry of a deferred user may be clean by a snapshot that is older than the deferred change.
  for (const UserRef& ref : deferred) {
    const uint32_t found = table_.Find(ref);
    if (found == PublishTable::kNone || table_[found].dirty) continue;
    const PublishEntry& entry = table_[found];
    MakeDirty(entry.filter_index, ref.user, entry.sent_since, kNoRecord);
  }
  MarkChanges changes;
  changes.set = std::move(deferred);
  for (uint32_t number = 0; number < table_.end(); ++number) {
    const PublishEntry& entry = table_[number];
    if (entry.used && entry.unclean() && !entry.marked) changes.set.push_back(entry.ref());
  }
  std::sort(changes.set.begin(), changes.set.end());
  changes.set.erase(std::unique(changes.set.begin(), changes.set.end()), changes.set.end());
  std::vector<UserRef> clears(clears_.begin(), clears_.end());
  std::sort(clears.begin(), clears.end());
  std::set_difference(clears.begin(), clears.end(), changes.set.begin(), changes.set.end(),
                      std::back_inserter(changes.clear));
  collected_set_ = changes.set;
  collected_clear_ = changes.clear;
  return changes;
}

void PublishFlow::MarksCommitted() {
  const std::lock_guard lock(mutex_);
  for (const UserRef& ref : collected_clear_) clears_.erase(ref);
  for (const UserRef& ref : collected_set_) {
    clears_.erase(ref);  // the mark is newer than the acknowledgement that wanted it cleared
    const uint32_t found = table_.Find(ref);
    if (found == PublishTable::kNone) {
      // Published meanwhile, or deferred: the scan tells these apart by publishing both; it is harmless.
      if (deferred_collected_ == 0) clears_.insert(ref);
      continue;
    }
    PublishEntry& entry = table_[found];
    if (entry.unclean()) {
      entry.marked = true;
    } else {
      clears_.insert(ref);
    }
  }
  if (deferred_collected_ > 0) {
    marks_left_ += deferred_collected_;
    if (scan_wanted_) rescan_ = true;
    scan_wanted_ = true;
  }
  collected_set_.clear();
  collected_clear_.clear();
  deferred_collected_ = 0;
}

void PublishFlow::MarksFailed() {
  const std::lock_guard lock(mutex_);
  collected_set_.clear();
  collected_clear_.clear();
  deferred_collected_ = 0;
}

bool PublishFlow::HasMarkChanges() const {
  const std::lock_guard lock(mutex_);
  return !clears_.empty();
}

PublishFlow::ScanRequest PublishFlow::WantsScan() const {
  const std::lock_guard lock(mutex_);
  if (!scan_wanted_ || ready_.size() > kReadyEnough || table_.size() + kScanPage > entries_max_) return {};
  return {true, scan_after_, kScanPage};
}

void PublishFlow::Scanned(std::span<const UserRef> marks, size_t limit, Instant now) {
  const std::lock_guard lock(mutex_);
  for (const UserRef& ref : marks) {
    if (clears_.contains(ref)) continue;
    const auto policy = std::find_if(filters_.begin(), filters_.end(),
                                     [&](const FilterPolicy& filter) { return filter.id == ref.filter; });
    const uint32_t found = table_.Find(ref);
    if (policy == filters_.end() || !policy->snapshot) {
      clears_.insert(ref);  // its filter doesn't publish any more
    } else if (found == PublishTable::kNone) {
      const auto index = static_cast<uint16_t>(policy - filters_.begin());
      MakeDirty(index, ref.user, now, kNoRecord);
      table_[table_.Find(ref)].marked = true;
    } else if (table_[found].unclean()) {
      table_[found].marked = true;
    } else {
      clears_.insert(ref);
    }
  }
  if (!marks.empty()) scan_after_ = marks.back();
  marks_left_ -= std::min<uint64_t>(marks_left_, marks.size());
  if (marks.size() >= limit) return;
  scan_after_.reset();
  scan_wanted_ = rescan_;
  if (!rescan_) marks_left_ = 0;
  rescan_ = false;
}

uint64_t PublishFlow::Outstanding() const {
  const std::lock_guard lock(mutex_);
  return unclean_ + marks_left_ + (scan_wanted_ && marks_left_ == 0 ? 1 : 0);
}

}  // namespace seen
