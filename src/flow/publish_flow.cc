#include "flow/publish_flow.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include "base/check.h"

namespace seen {
namespace {
constexpr size_t kScanPage = 512;
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
    for (const DirtyUser& dirty : batch.users) {
      for (size_t i = 0; i < filters_.size(); ++i) {
        if (dirty.filters >> i & 1) {
          MakeDirty(static_cast<uint16_t>(i), dirty.user, batch.visible_at, dirty.record_timestamp);
        }
      }
    }
  }
}

uint32_t PublishFlow::FindOrAdd(uint16_t filter_index, const UserKey& user) {
  const UserRef ref{filters_[filter_index].id, user};
  const auto [at, added] = by_user_.try_emplace(ref, kNone);
  if (!added) return at->second;
  if (free_.empty()) {
    free_.push_back(static_cast<uint32_t>(entries_.size()));
    entries_.emplace_back();
  }
  const uint32_t number = free_.back();
  free_.pop_back();
  entries_[number] = {};
  entries_[number].used = true;
  entries_[number].user = ref;
  entries_[number].filter_index = filter_index;
  at->second = number;
  entry_count_.store(by_user_.size(), std::memory_order_relaxed);
  return number;
}

void PublishFlow::Release(uint32_t number) {
  by_user_.erase(entries_[number].user);
  entries_[number].used = false;
  free_.push_back(number);
  entry_count_.store(by_user_.size(), std::memory_order_relaxed);
}

void PublishFlow::Queue(uint32_t number) {
  Entry& entry = entries_[number];
  if (entry.queued) return;
  entry.queued = true;
  ready_.push_back(number);
}

void PublishFlow::SetTimer(uint32_t number, Instant at) {
  Entry& entry = entries_[number];
  entry.timed = true;
  timers_[entry.filter_index].push_back({at, number});
}

void PublishFlow::MakeDirty(uint16_t filter_index, const UserKey& user, Instant visible_at,
                            TimeMs record_timestamp) {
  const uint32_t number = FindOrAdd(filter_index, user);
  Entry& entry = entries_[number];
  if (!entry.unclean()) ++unclean_;
  if (!entry.dirty) {
    entry.dirty = true;
    entry.dirty_since = visible_at;
    entry.dirty_record = record_timestamp;
  }
  // Otherwise its timer or its acknowledgement will queue it.
  if (!entry.timed && !entry.in_flight) Queue(number);
}

PublishFlow::Stepped PublishFlow::Step(Instant now, size_t limit, const Render& render, SnapshotSink& sink,
                                       uint64_t ticket_tag) {
  Stepped stepped;
  std::unique_lock lock(mutex_);
  DrainChannel();
  FireTimers(now);
  std::string user_id;
  std::string bytes;
  while (stepped.sent < limit && !ready_.empty()) {
    const uint32_t number = ready_.front();
    ready_.pop_front();
    // From here on a change makes it dirty again: what is rendered holds all that came before.
    Entry taken = entries_[number];
    entries_[number].queued = false;
    entries_[number].dirty = false;
    entries_[number].in_flight = true;
    entries_[number].sent_since = taken.dirty_since;
    entries_[number].sent_record = taken.dirty_record;
    lock.unlock();
    Status rendered = render(taken.filter_index, taken.user.user, user_id, bytes);
    // A mark without state: nothing is known of the user, so there is nothing to tell.
    const bool nothing = rendered.has_value() && user_id.empty();
    const bool sent = rendered.has_value() && !nothing &&
                      sink.TrySend(taken.filter_index, user_id, bytes, ticket_tag | number);
    lock.lock();
    Entry& entry = entries_[number];
    if (sent) {
      ++stepped.sent;
      Tally& tally = tallies_[taken.filter_index];
      ++tally.sent;
      tally.bytes += bytes.size();
      if (!entry.timed) SetTimer(number, now + filters_[taken.filter_index].snapshot->debounce);
      continue;
    }
    entry.in_flight = false;
    if (nothing) {
      if (!entry.dirty) {
        --unclean_;
        BecameClean(entry);
        if (!entry.timed) Release(number);
      } else {
        Queue(number);
      }
      continue;
    }
    entry.dirty = true;
    entry.dirty_since = taken.dirty_since;
    entry.dirty_record = taken.dirty_record;
    entry.queued = true;
    ready_.push_front(number);
    stepped.sink_full = rendered.has_value();
    stepped.status = std::move(rendered);
    break;
  }
  return stepped;
}

void PublishFlow::FireTimers(Instant now) {
  for (auto& timers : timers_) {
    while (!timers.empty() && timers.front().at <= now) {
      const uint32_t number = timers.front().entry;
      timers.pop_front();
      Entry& entry = entries_[number];
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
    if (entries_[number].used && entries_[number].dirty && !entries_[number].in_flight) Queue(number);
  }
}

void PublishFlow::BecameClean(Entry& entry) {
  if (!entry.marked) return;
  entry.marked = false;
  clears_.insert(entry.user);
}

void PublishFlow::Acknowledged(uint32_t ticket, bool delivered, Instant now, TimeMs wall_now) {
  const std::lock_guard lock(mutex_);
  Check(ticket < entries_.size() && entries_[ticket].in_flight,
        "an acknowledgement of nothing that was sent");
  Entry& entry = entries_[ticket];
  Tally& tally = tallies_[entry.filter_index];
  entry.in_flight = false;
  if (!delivered) {
    ++tally.failed;
    if (!entry.dirty || entry.sent_since < entry.dirty_since) {
      entry.dirty_since = entry.sent_since;
      entry.dirty_record = entry.sent_record;
    }
    entry.dirty = true;
    retries_.push_back({now + kRetryAfter, ticket});
    return;
  }
  if (entry.sent_record != kNoRecord) {
    tally.visible_to_published.Add(
        std::chrono::duration_cast<std::chrono::milliseconds>(now - entry.sent_since).count());
    tally.record_to_published.Add(wall_now.value - entry.sent_record.value);
  }
  if (entry.dirty) {
    if (!entry.timed) Queue(ticket);
    return;
  }
  --unclean_;
  BecameClean(entry);
  if (!entry.timed) Release(ticket);
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
    const auto found = by_user_.find(ref);
    if (found == by_user_.end() || entries_[found->second].dirty) continue;
    const Entry& entry = entries_[found->second];
    MakeDirty(entry.filter_index, ref.user, entry.sent_since, kNoRecord);
  }
  MarkChanges changes;
  changes.set = std::move(deferred);
  for (const Entry& entry : entries_) {
    if (entry.used && entry.unclean() && !entry.marked) changes.set.push_back(entry.user);
  }
  std::sort(changes.set.begin(), changes.set.end());
  changes.set.erase(std::unique(changes.set.begin(), changes.set.end()), changes.set.end());
  std::set_difference(clears_.begin(), clears_.end(), changes.set.begin(), changes.set.end(),
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
    const auto found = by_user_.find(ref);
    if (found == by_user_.end()) {
      // Published meanwhile, or deferred: the scan tells these apart by publishing both; it is harmless.
      if (deferred_collected_ == 0) clears_.insert(ref);
      continue;
    }
    Entry& entry = entries_[found->second];
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
  if (!scan_wanted_ || ready_.size() > kReadyEnough || by_user_.size() + kScanPage > entries_max_) return {};
  return {true, scan_after_, kScanPage};
}

void PublishFlow::Scanned(std::span<const UserRef> marks, size_t limit, Instant now) {
  const std::lock_guard lock(mutex_);
  for (const UserRef& ref : marks) {
    if (clears_.contains(ref)) continue;
    const auto policy = std::find_if(filters_.begin(), filters_.end(),
                                     [&](const FilterPolicy& filter) { return filter.id == ref.filter; });
    const auto found = by_user_.find(ref);
    if (policy == filters_.end() || !policy->snapshot) {
      clears_.insert(ref);  // its filter doesn't publish any more
    } else if (found == by_user_.end()) {
      const auto index = static_cast<uint16_t>(policy - filters_.begin());
      MakeDirty(index, ref.user, now, kNoRecord);
      entries_[by_user_.at(ref)].marked = true;
    } else if (entries_[found->second].unclean()) {
      entries_[found->second].marked = true;
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
