#include "flow/publish_flow.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/result.h"

namespace seen {
namespace {
constexpr size_t kPrefetched = 12;  // entries ahead of the current one
constexpr size_t kScanPage = 512;
constexpr size_t kClearsAnEntry = 4;     // they take the memory of one
constexpr size_t kWaitingEnough = 4096;  // if more users wait, marks and sweeps wait, too

std::vector<FilterId> WithUpdates(const std::vector<FilterPolicy>& filters) {
  std::vector<FilterId> ids;
  for (const FilterPolicy& filter : filters) {
    if (filter.updates) ids.push_back(filter.id);
  }
  return ids;
}
}  // namespace

PublishFlow::PublishFlow(std::vector<FilterPolicy> filters, const Options& options, Reporter& reporter,
                         const std::vector<RetiredTopic>& retired)
    : filters_(std::move(filters)),
      retired_(retired),
      partition_(options.partition),
      entries_max_(options.entries_max),
      entries_wanted_(options.entries_max - options.entries_max / 8),
      reporter_(reporter),
      due_(table_, outlets()),
      refresh_(WithUpdates(filters_), options.refresh_every),
      follows_changes_(
          std::any_of(filters_.begin(), filters_.end(),
                      [](const FilterPolicy& filter) { return filter.snapshot && !filter.updates; })),
      has_rounds_(refresh_.empty() || follows_changes_),
      marks_(table_, refresh_,
             options.may_have_marks && (!retired_.empty() || std::any_of(filters_.begin(), filters_.end(),
                                                                         [](const FilterPolicy& filter) {
                                                                           return filter.snapshot.has_value();
                                                                         })),
             entries_max_),
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

uint32_t PublishFlow::MakeDirty(Outlet outlet, const UserKey& user, Instant visible_at,
                                TimeMs record_timestamp) {
  const uint32_t number = table_.FindOrAdd({IdOf(outlet), user}, outlet);
  NoteFollowed();
  PublishEntry& entry = table_[number];
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
  const uint32_t number = MakeDirty(outlet, dirty.user, visible_at, dirty.record_timestamp);
  PublishEntry& entry = table_[number];
  if (entry.timed || entry.in_flight) return;
  // If the entry only waits for its turn in a sweep, the event must not wait with it.
  if (!entry.queued || (!entry.leading && entry.dirty_record == kNoRecord)) due_.AddLeading(number);
}

void PublishFlow::MakeDue(Outlet outlet, const UserKey& user, Instant since) {
  const uint32_t number = MakeDirty(outlet, user, since, kNoRecord);
  const PublishEntry& entry = table_[number];
  if (!entry.timed && !entry.in_flight) due_.Add(number);
}

// The renderings hold all changes up to now. A change from now on makes its user dirty again.
size_t PublishFlow::Take(Instant now, Limits limits, std::span<Rendering> group) {
  const MutexLock lock(mutex_);
  DrainChannel();
  due_.Fire(now);
  NoteFollowed();
  size_t taken = 0;
  while (taken < group.size()) {
    const uint32_t number = due_.Take(limits);
    if (number == PublishTable::kNone) break;
    PublishEntry& entry = table_[number];
    const RetiredTopic* const retired = RetiredAt(entry.outlet);
    entry.queued = false;
    if (taken > 0 && (retired != nullptr) != (group[0].retired != nullptr)) {
      due_.PutBack(number);
      break;
    }
    entry.dirty = false;
    entry.held = false;
    entry.in_flight = true;
    entry.sent_since = entry.dirty_since;
    entry.sent_record = entry.dirty_record;
    Rendering& one = group[taken++];
    one.filter_index = FilterIndex(retired != nullptr ? 0 : static_cast<size_t>(entry.outlet));
    one.retired = retired;
    one.user = entry.user;
    one.ticket = number;
    one.ends_by_itself = false;
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
  due_.Debounce(number, now + debounce);
}

bool PublishFlow::IsSent(const Rendering& made) {
  return !made.user_id.empty() && made.origin != Origin::kPublished;
}

// For a mark without state, or a snapshot that is withheld.
void PublishFlow::NothingToSend(uint32_t number, Instant now) {
  PublishEntry& entry = table_[number];
  entry.in_flight = false;
  RenderingEnded(entry, now);
  entry.dirty ? due_.Add(number) : IsClean(number);
}

void PublishFlow::IsClean(uint32_t number) {
  --unclean_;
  marks_.BecameClean(table_[number]);
  if (!table_[number].timed) table_.Remove(number);
  NoteFollowed();
}

void PublishFlow::PutBackOne(uint32_t number) {
  PublishEntry& entry = table_[number];
  entry.in_flight = false;
  entry.dirty = true;
  entry.dirty_since = entry.sent_since;
  entry.dirty_record = entry.sent_record;
  due_.PutBack(number);
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
      // Beats speak of this partition of the topic. So a user whose events are misrouted stands there, too.
      if (filters_[made.filter_index].updates) outgoing_.back().partition = partition_;
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
    // The mark brings the user back, until nothing is left that ends, and nothing is withheld.
    PublishEntry& entry = table_[made.ticket];
    const bool is_withheld = made.origin == Origin::kPublished;
    if ((made.ends_by_itself || is_withheld) && refresh_.Has(entry.filter)) {
      entry.held = true;
      if (is_withheld) refresh_.Withhold(entry.filter);
      if (is_withheld && !entry.marked) withheld_.push_back(entry.ref());
    }
    if (!IsSent(made)) NothingToSend(made.ticket, now);
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

// An entry that was dirty and in flight when the round began needs two renderings, or one after which it is
// clean.
void PublishFlow::RenderingEnded(PublishEntry& entry, Instant now) {
  if (entry.awaited == 0) return;
  entry.awaited = entry.unclean() ? entry.awaited - 1 : 0;
  if (entry.awaited == 0) Awaited(entry, now);
}

// What waited for the entry no longer does.
void PublishFlow::Awaited(const PublishEntry& entry, Instant now) {
  if (refresh_.Has(entry.filter)) {
    refresh_.Published(now);
    NotePublishedTo();
  } else {
    --round_waits_;
    EndRoundIfDone();
  }
}

void PublishFlow::EndRoundIfDone() {
  if (round_waits_ > 0 || round_to_ == kNoOffset) return;
  rounds_led_to_ = std::max(rounds_led_to_, std::exchange(round_to_, kNoOffset));
  NotePublishedTo();
}

void PublishFlow::NotePublishedTo() {
  int64_t to = has_rounds_ ? rounds_led_to_ : refresh_.PublishedTo();
  if (!refresh_.empty()) to = std::min(to, refresh_.PublishedTo());
  SetPublishedTo(to);
}

void PublishFlow::SetPublishedTo(int64_t offset) {
  published_to_ = std::max(published_to_, offset);
  if (published_to_ >= 0) taken_back_ = false;
}

bool PublishFlow::IsTakenBack() const {
  const MutexLock lock(mutex_);
  return taken_back_;
}

int64_t PublishFlow::PublishedTo() const {
  const MutexLock lock(mutex_);
  return published_to_;
}

void PublishFlow::WasPublishedTo(int64_t offset) {
  const MutexLock lock(mutex_);
  SetPublishedTo(offset);
}

bool PublishFlow::Withholds(FilterIndex filter) const {
  const FilterId id = filters_[filter].id;
  const auto has = [&](const std::vector<UserRef>& users) {
    return std::any_of(users.begin(), users.end(), [&](const UserRef& ref) { return ref.filter == id; });
  };
  const MutexLock lock(mutex_);
  return refresh_.Withholds(id) || has(withheld_) || has(withheld_collected_);
}

void PublishFlow::WasWithheld(FilterIndex filter) {
  const MutexLock lock(mutex_);
  refresh_.Withhold(filters_[filter].id);
}

void PublishFlow::TakeBackPublishedTo() {
  const MutexLock lock(mutex_);
  published_to_ = rounds_led_to_ = round_to_ = collected_to_.first = kNoOffset;
  taken_back_ = true;
  refresh_.TakeBack();
}

void PublishFlow::HurryTo(int64_t offset) {
  const MutexLock lock(mutex_);
  refresh_.HurryTo(offset);
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

bool PublishFlow::LeaveToMark(uint32_t ticket, Instant now) {
  const MutexLock lock(mutex_);
  PublishEntry& entry = table_[ticket];
  if (!entry.marked || !refresh_.Has(entry.filter)) return false;
  entry.held = true;
  NothingToSend(ticket, now);
  return true;
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
  entry.too_large = static_cast<uint8_t>(too_large ? std::min(doubled + 1, DueUsers::kDelays - 1) : 0);
  entry.waits = too_large && was_clean;
  if (too_large && refresh_.Has(entry.filter) && std::exchange(entry.awaited, uint8_t{0}) > 0) {
    refresh_.Refused();
    Awaited(entry, now);
  }
  if (!entry.waits) return due_.Retry(number, 0, now);
  if (!std::exchange(entry.retry_set, true)) due_.Retry(number, doubled, now);
}

void PublishFlow::Delivered(uint32_t number, Instant now, TimeMs wall_now) {
  PublishEntry& entry = table_[number];
  Tally& tally = TallyOf(entry.outlet);
  entry.in_flight = false;
  entry.too_large = 0;
  RenderingEnded(entry, now);
  if (entry.sent_record != kNoRecord) {
    tally.visible_to_published.Add(
        std::chrono::duration_cast<std::chrono::milliseconds>(now - entry.sent_since).count());
    tally.record_to_published.Add(wall_now.value - entry.sent_record.value);
  }
  if (!entry.dirty) return IsClean(number);
  if (!entry.timed) due_.Add(number);
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
  return due_.HasSome();
}

Instant PublishFlow::NextDue() const {
  const MutexLock lock(mutex_);
  return due_.HasSome() ? Instant::min() : due_.NextAt();
}

uint64_t PublishFlow::Outstanding() const {
  // What a batch adds is counted below by the time when it no longer runs.
  const uint64_t running = batch_runs_.load(std::memory_order_acquire) ? 1 : 0;
  const MutexLock lock(mutex_);
  return running + unclean_ + deferred_.load(std::memory_order_relaxed) + ChannelUsers() + marks_.Left();
}

bool PublishFlow::IsUnclean(const UserRef& ref) const {
  const MutexLock lock(mutex_);
  const uint32_t found = table_.Find(ref);
  return found != PublishTable::kNone && table_[found].unclean();
}

std::optional<RefreshStatus> PublishFlow::GetRefreshStatus(Instant now) const {
  const MutexLock lock(mutex_);
  if (refresh_.empty()) return std::nullopt;
  return refresh_.GetStatus(now);
}

// A new round begins with the checkpoint whose marks are collected. Users who were left to marks have no
// entry that it could wait for.
void PublishFlow::BeginRound(int64_t reaches) {
  round_waits_ = 0;  // of a round that was given up
  for (uint32_t number = 0; number < table_.end(); ++number) {
    PublishEntry& entry = table_[number];
    if (!entry.used || !entry.unclean() || refresh_.Has(entry.filter)) continue;
    entry.awaited = entry.dirty && entry.in_flight ? 2 : 1;
    ++round_waits_;
  }
  round_to_ = reaches;
  EndRoundIfDone();
}

MarkChanges PublishFlow::CollectMarks(std::vector<UserRef> deferred, std::span<const UserRef> renewed,
                                      int64_t reaches, Instant at) {
  const MutexLock lock(mutex_);
  DrainChannel();
  // The entry of a deferred user may be clean through a snapshot that is older than the deferred change.
  bool some_left = false;
  for (const UserRef& ref : renewed) marks_.Renew(ref);
  std::erase_if(deferred, [&](const UserRef& ref) REQUIRES(mutex_) {
    const bool is_refreshed = refresh_.Has(ref.filter);
    some_left |= !is_refreshed;
    const uint32_t found = table_.Find(ref);
    if (found == PublishTable::kNone) return is_refreshed && marks_.Keep(ref);
    if (table_[found].dirty) return false;
    if (is_refreshed || marks_.held()) {
      table_[found].held = true;
    } else {
      MakeDue(table_[found].outlet, ref.user, table_[found].sent_since);
    }
    return false;
  });
  if (has_rounds_ && reaches != kNoOffset && round_to_ == kNoOffset && !some_left && marks_.NoneLeft())
    BeginRound(reaches);
  collected_to_ = {reaches, at};
  std::vector<UserRef> set = std::move(deferred);
  for (uint32_t number = 0; number < table_.end(); ++number) {
    const PublishEntry& entry = table_[number];
    if (entry.used && entry.unclean() && !entry.marked) set.push_back(entry.ref());
  }
  for (const UserRef& ref : renewed) {
    const uint32_t found = table_.Find(ref);
    if (found != PublishTable::kNone && table_[found].unclean()) set.push_back(ref);
  }
  set.insert(set.end(), withheld_.begin(), withheld_.end());
  withheld_collected_.swap(withheld_);
  return marks_.Collect(std::move(set), some_left);
}

void PublishFlow::MarksCommitted(uint64_t deferred) {
  const MutexLock lock(mutex_);
  deferred_.fetch_sub(deferred, std::memory_order_relaxed);
  marks_.Committed();
  for (const UserRef& ref : withheld_collected_) refresh_.Withhold(ref.filter);  // rounds can meet them now
  withheld_collected_.clear();
  refresh_.Stored(collected_to_.first, collected_to_.second);
}

void PublishFlow::MarksFailed() {
  const MutexLock lock(mutex_);
  withheld_.insert(withheld_.end(), withheld_collected_.begin(), withheld_collected_.end());
  withheld_collected_.clear();
  marks_.Failed();
}

void PublishFlow::MarksWritten(std::span<const UserRef> users) {
  if (users.empty()) return;
  const MutexLock lock(mutex_);
  for (const UserRef& ref : users) {
    const uint32_t found = table_.Find(ref);
    // A snapshot under way may have been rendered without the change.
    if (found != PublishTable::kNone && !table_[found].dirty)
      MakeDue(table_[found].outlet, ref.user, table_[found].sent_since);
    marks_.Written(ref);
  }
  marks_.WantScan();
}

bool PublishFlow::HasMarkChanges() const {
  const MutexLock lock(mutex_);
  return marks_.ToClear() > 0;
}

void PublishFlow::HoldMarks(bool hold) {
  const MutexLock lock(mutex_);
  marks_.Hold(hold);
}

void PublishFlow::LetMarksGo() {
  const MutexLock lock(mutex_);
  marks_.LetGo();
}

size_t PublishFlow::ScanPage() const { return std::min(kScanPage, entries_max_ / 2); }

// Of users who were published since the last checkpoint, a mark is still to be cleared.
bool PublishFlow::HasSpaceFor(size_t users) const {
  const size_t cleared = marks_.ToClear() / kClearsAnEntry;
  return due_.waiting() <= kWaitingEnough && table_.size() + cleared + users <= entries_max_;
}

bool PublishFlow::TakesMore(size_t users) const {
  const MutexLock lock(mutex_);
  return HasSpaceFor(users);
}

void PublishFlow::AddDue(std::span<const UserRef> users, Instant now) {
  if (users.empty()) return;
  const MutexLock lock(mutex_);
  for (const UserRef& ref : users) {
    if (const auto outlet = OutletOf(ref.filter)) MakeDue(*outlet, ref.user, now);
  }
}

PublishFlow::ScanRequest PublishFlow::WantsScan() const {
  const MutexLock lock(mutex_);
  const bool wanted = marks_.ScanIsWanted() && HasSpaceFor(ScanPage());
  return {wanted, marks_.scan_after(), std::nullopt, ScanPage(), marks_.commits()};
}

PublishFlow::ScanRequest PublishFlow::WantsRefresh(Instant now, int64_t next_offset) {
  const MutexLock lock(mutex_);
  if (refresh_.empty() || !HasSpaceFor(ScanPage())) return {};
  const auto range = refresh_.Next(now, next_offset);
  if (!range) return {};
  return {true, range->after, range->last, ScanPage(), marks_.commits()};
}

// A page of before a commit may have marks that the commit cleared. A user who is dirty again since would
// count as marked, and would be lost in a crash.
void PublishFlow::Scanned(std::span<const Mark> marks, const ScanRequest& scan, Instant now) {
  const MutexLock lock(mutex_);
  if (scan.commit != marks_.commits()) return;
  const bool is_last = marks.size() < scan.limit;
  if (scan.last) {
    size_t found = 0;
    while (found < marks.size() && marks[found].user <= *scan.last) FoundMark(marks[found++].user, true, now);
    const bool is_all = is_last || found < marks.size();
    refresh_.Scanned(is_all ? std::nullopt : std::optional(marks.back().user), now);
    return NotePublishedTo();
  }
  size_t found = 0;
  for (const Mark& mark : marks) {
    if (refresh_.Has(mark.user.filter)) continue;
    FoundMark(mark.user, false, now);
    ++found;
  }
  std::optional<UserRef> last;
  if (!marks.empty()) last = marks.back().user;
  if (last && refresh_.Has(last->filter)) last->user = kLastUserKey;
  marks_.Scanned(last, found, is_last);
}

void PublishFlow::FoundMark(const UserRef& ref, bool of_refresh, Instant now) {
  if (marks_.WantsCleared(ref)) return;
  const auto outlet = OutletOf(ref.filter);
  uint32_t found = table_.Find(ref);
  const bool is_clean = found != PublishTable::kNone && !table_[found].unclean() && !table_[found].held;
  if (!outlet || is_clean) return marks_.WantCleared(ref);
  if (found == PublishTable::kNone || table_[found].held) {
    MakeDue(*outlet, ref.user, now);
    found = table_.Find(ref);
  }
  PublishEntry& entry = table_[found];
  entry.marked = true;
  if (!of_refresh || entry.awaited > 0) return;
  if (entry.too_large > 0) return refresh_.Refused();
  entry.awaited = entry.dirty && entry.in_flight ? 2 : 1;
  refresh_.Await();
}

}  // namespace seen
