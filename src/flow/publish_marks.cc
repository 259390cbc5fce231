// Marks of users whose snapshot is due: which ones a checkpoint must set and clear, and what happens to them
// later.
#include <algorithm>
#include <iterator>
#include <utility>

#include "base/result.h"
#include "flow/publish_flow.h"

namespace seen {
namespace {
constexpr size_t kScanPage = 512;
constexpr size_t kWaitingEnough = 4096;  // if more users wait, marks wait, too
constexpr size_t kLookedAt = 4096;       // entries that a pass looks at to make space
}  // namespace

// Users who were left to marks have no entry that a round could wait for.
bool PublishFlow::MayBeginRound(int64_t reaches, bool some_deferred) const {
  return reaches != kNoOffset && round_to_ == kNoOffset && !some_deferred && marks_left_.None() &&
         !scan_wanted_;
}

MarkChanges PublishFlow::CollectMarks(std::vector<UserRef> deferred, std::span<const UserRef> renewed,
                                      int64_t reaches) {
  const MutexLock lock(mutex_);
  Check(collected_set_.empty() && collected_clear_.empty(), "two checkpoints of a partition at once");
  DrainChannel();
  some_deferred_ = !deferred.empty();
  // The entry of a deferred user may be clean through a snapshot that is older than the deferred change.
  for (const UserRef& ref : deferred) {
    const uint32_t found = table_.Find(ref);
    if (found == PublishTable::kNone || table_[found].dirty) continue;
    PublishEntry& entry = table_[found];
    if (marks_held_) {
      entry.held = true;
      continue;
    }
    MakeDue(entry.outlet, ref.user, entry.sent_since);
  }
  const bool begins_round = MayBeginRound(reaches, !deferred.empty());
  if (begins_round) round_waits_ = 0;  // of a round that was given up
  MarkChanges changes;
  changes.set = std::move(deferred);
  for (uint32_t number = 0; number < table_.end(); ++number) {
    PublishEntry& entry = table_[number];
    if (!entry.used || !entry.unclean()) continue;
    if (!entry.marked) changes.set.push_back(entry.ref());
    if (!begins_round) continue;
    entry.awaited = entry.dirty && entry.in_flight ? 2 : 1;
    ++round_waits_;
  }
  if (begins_round) {
    round_to_ = reaches;
    EndRoundIfDone();
  }
  for (const UserRef& ref : renewed) {
    const uint32_t found = table_.Find(ref);
    if (found != PublishTable::kNone && table_[found].unclean()) changes.set.push_back(ref);
  }
  std::sort(changes.set.begin(), changes.set.end());
  changes.set.erase(std::unique(changes.set.begin(), changes.set.end()), changes.set.end());
  std::vector<UserRef> clears(clears_.refs().begin(), clears_.refs().end());
  std::sort(clears.begin(), clears.end());
  std::set_difference(clears.begin(), clears.end(), changes.set.begin(), changes.set.end(),
                      std::back_inserter(changes.clear));
  collected_set_ = changes.set;
  collected_clear_ = changes.clear;
  return changes;
}

void PublishFlow::MarksCommitted(uint64_t deferred) {
  const MutexLock lock(mutex_);
  deferred_.fetch_sub(deferred, std::memory_order_relaxed);
  ++commits_;
  looked_back_ = 0;
  for (const UserRef& ref : collected_clear_) clears_.erase(ref);
  for (const UserRef& ref : collected_set_) {
    clears_.erase(ref);  // the mark is newer than the acknowledgement that wanted it cleared
    if (left_.contains(ref)) continue;
    const uint32_t found = table_.Find(ref);
    if (found == PublishTable::kNone) {
      // The user was published meanwhile, or deferred. If some were deferred, the scan publishes both, which
      // is harmless.
      if (some_deferred_) {
        CountMarkLeft(ref);
      } else {
        clears_.insert(ref);
      }
      continue;
    }
    PublishEntry& entry = table_[found];
    if (entry.unclean() || entry.held) {
      entry.marked = true;
      if (!entry.unclean()) CountMarkLeft(ref);
    } else {
      clears_.insert(ref);
    }
  }
  if (some_deferred_) {
    if (scan_wanted_) rescan_ = true;
    scan_wanted_ = true;
  }
  collected_set_.clear();
  collected_clear_.clear();
  some_deferred_ = false;
}

void PublishFlow::MarksFailed() {
  const MutexLock lock(mutex_);
  collected_set_.clear();
  collected_clear_.clear();
  some_deferred_ = false;
}

void PublishFlow::MarksWritten(std::span<const UserRef> users) {
  if (users.empty()) return;
  const MutexLock lock(mutex_);
  for (const UserRef& ref : users) {
    clears_.erase(ref);  // what was acknowledged is older than the mark
    const uint32_t found = table_.Find(ref);
    if (found == PublishTable::kNone) {
      CountMarkLeft(ref);
      continue;
    }
    // A snapshot under way may have been rendered without the change.
    const PublishEntry& entry = table_[found];
    if (!entry.dirty) MakeDue(entry.outlet, ref.user, entry.sent_since);
    table_[found].marked = true;
  }
  if (scan_wanted_) rescan_ = true;
  scan_wanted_ = true;
}

bool PublishFlow::HasMarkChanges() const {
  const MutexLock lock(mutex_);
  return !clears_.empty();
}

void PublishFlow::HoldMarks(bool hold) {
  const MutexLock lock(mutex_);
  marks_held_ = hold;
}

void PublishFlow::LetMarksGo() {
  const MutexLock lock(mutex_);
  scan_let_go_ = true;
  next_scan_let_go_ = scan_after_.has_value();  // some marks may stand before the scan's place
}

// In units of entries.
size_t PublishFlow::Followed() const { return table_.size() + left_.size() / kLeftAnEntry; }

void PublishFlow::NoteFollowed() { followed_.store(Followed(), std::memory_order_relaxed); }

PublishFlow::ScanRequest PublishFlow::WantsScan() const {
  const MutexLock lock(mutex_);
  const bool wanted = MayScan() && IsScansTurn() && Followed() + ScanPage() <= entries_wanted_;
  return {wanted, scan_after_, ScanPage(), commits_};
}

bool PublishFlow::MayScan() const { return scan_wanted_ && (!marks_held_ || scan_let_go_); }

size_t PublishFlow::ScanPage() const { return std::min(kScanPage, entries_wanted_ / 2); }

// If many users wait, two of them have their turn for each user of a page. Otherwise an overload would keep
// marks from theirs.
bool PublishFlow::IsScansTurn() const {
  return waiting_.size() <= kWaitingEnough || taken_since_scan_ >= 2 * ScanPage();
}

bool PublishFlow::HasSpaceFor(size_t users) const {
  return waiting_.size() <= kWaitingEnough && Followed() + users <= entries_wanted_;
}

// First the debounce ends early for the users published longest ago. Otherwise the table would be full of
// users who may not be published yet, and the publisher would be idle. Then users who wait are left to marks.
void PublishFlow::MakeSpace() {
  size_t left = kLookedAt;
  for (auto& timers : timers_) {
    for (; left > 0 && LacksSpace() && !timers.empty(); --left) FireFirst(timers);
  }
  LeaveSomeToMarks();
}

// Marks that nothing keeps from being published need space for a page of them.
bool PublishFlow::LacksSpace() const {
  const bool scans = MayScan() && IsScansTurn();
  return Followed() + (scans ? ScanPage() : 0) > entries_wanted_;
}

// Those who became due last: the others have waited for their turn. While marks are held, a user left to one
// would wait for the end of a replay.
void PublishFlow::LeaveSomeToMarks() {
  if (marks_held_ || Followed() <= entries_wanted_) return;
  const size_t end = waiting_.size() - std::min(looked_back_, waiting_.size());
  const size_t begin = end - std::min(kLookedAt, end);
  size_t kept = end;
  for (size_t at = end; at-- > begin;) {
    const uint32_t number = waiting_[at];
    if (Followed() <= entries_wanted_ || !TryLeaveToMark(number)) waiting_[--kept] = number;
  }
  if (Followed() > entries_wanted_) looked_back_ = begin == 0 ? 0 : waiting_.size() - kept;
  const auto front = waiting_.begin();
  waiting_.erase(front + static_cast<std::ptrdiff_t>(begin), front + static_cast<std::ptrdiff_t>(kept));
}

// Only a user whose mark stands in the store may lose the entry. The others wait for the next checkpoint.
bool PublishFlow::TryLeaveToMark(uint32_t number) {
  const PublishEntry& entry = table_[number];
  if (!entry.used || !entry.queued || entry.leading) return true;  // see waiting_
  if (!entry.marked || entry.held || entry.timed || entry.in_flight || entry.retry_set) return false;
  LeaveToMark(number);
  return true;
}

void PublishFlow::LeaveToMark(uint32_t number) {
  if (table_[number].awaited > 0) round_to_ = kNoOffset;  // the round's change is in no snapshot yet
  --unclean_;
  CountMarkLeft(table_[number].ref());
  if (scan_after_) rescan_ = true;  // the mark may stand before the place that the scan has reached
  scan_wanted_ = true;
  left_.insert(table_[number].ref());
  Release(number);
}

void PublishFlow::CountMarkLeft(const UserRef& ref) {
  marks_left_.Add(ref, scan_after_ && ref <= *scan_after_);
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

bool PublishFlow::IsUnclean(const UserRef& ref) const {
  const MutexLock lock(mutex_);
  const uint32_t found = table_.Find(ref);
  return found != PublishTable::kNone && table_[found].unclean();
}

// A page of before a commit may have marks that the commit cleared. A user who is dirty again since would
// count as marked, and would be lost in a crash.
void PublishFlow::Scanned(std::span<const Mark> marks, const ScanRequest& scan, Instant now) {
  const MutexLock lock(mutex_);
  if (scan.commit != commits_) return;
  taken_since_scan_ = 0;
  for (const auto& [ref, user_id] : marks) {
    left_.erase(ref);
    if (clears_.contains(ref)) continue;
    const auto outlet = OutletOf(ref.filter);
    const uint32_t found = table_.Find(ref);
    const bool is_clean = found != PublishTable::kNone && !table_[found].unclean() && !table_[found].held;
    if (!outlet || is_clean) {
      clears_.insert(ref);
      continue;
    }
    if (found == PublishTable::kNone || table_[found].held) MakeDueNext(*outlet, ref.user, now);
    table_[table_.Find(ref)].marked = true;
  }
  NoteFollowed();
  if (!marks.empty()) scan_after_ = marks.back().user;
  marks_left_.Scanned(marks.size());
  if (marks.size() < scan.limit) EndScan(now);
}

void PublishFlow::EndScan(Instant now) {
  scan_after_.reset();
  scan_wanted_ = rescan_;
  scan_let_go_ = std::exchange(next_scan_let_go_, false);
  if (std::exchange(rescan_, false)) return marks_left_.ScanEnded();
  marks_left_ = {};
  // The store should have had a mark of each of them.
  while (!left_.empty()) {
    const UserRef ref = left_.refs().back();
    left_.erase(ref);
    if (const auto outlet = OutletOf(ref.filter)) MakeDueNext(*outlet, ref.user, now);
  }
}

}  // namespace seen
