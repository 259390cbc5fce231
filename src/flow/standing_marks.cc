#include "flow/standing_marks.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/result.h"

namespace seen {

void StandingMarks::LetGo() {
  scan_let_go_ = true;
  next_scan_let_go_ = scan_after_.has_value();  // some marks may stand before the scan's place
}

bool StandingMarks::Keep(const UserRef& ref) {
  if (!remembered_.contains(ref)) return false;
  clears_.erase(ref);  // what was acknowledged is older than the change
  return true;
}

// If there is no space, the new ones take the places of old ones, in turn.
void StandingMarks::Remember(const UserRef& ref) {
  remembered_.insert(ref);
  ForgetSome();
}

void StandingMarks::ForgetSome() {
  static_assert(sizeof(UserRef) + TagIndex::kBytesANumber <= PublishTable::kBytesAnEntry);
  while (!remembered_.empty() && remembered_.size() + table_.size() > entries_max_) {
    next_forgotten_ = (next_forgotten_ + 1) % remembered_.size();
    remembered_.erase(UserRef(remembered_.refs()[next_forgotten_]));
  }
}

MarkChanges StandingMarks::Collect(std::vector<UserRef> users, bool some_left) {
  Check(collected_set_.empty() && collected_clear_.empty(), "two checkpoints of a partition at once");
  some_left_ = some_left;
  MarkChanges changes;
  changes.set = std::move(users);
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

void StandingMarks::Committed() {
  ++commits_;
  for (const UserRef& ref : collected_clear_) clears_.erase(ref);
  for (const UserRef& ref : collected_set_) {
    clears_.erase(ref);  // the mark is newer than the acknowledgement that wanted it cleared
    const bool is_refreshed = refresh_.Has(ref.filter);
    const uint32_t found = table_.Find(ref);
    if (found == PublishTable::kNone) {
      // The user was published meanwhile, or left to the mark. If some were left, the scan publishes both,
      // which is harmless. So does the refresh.
      if (is_refreshed) {
        Remember(ref);
      } else if (some_left_) {
        CountLeft(ref);
      } else {
        clears_.insert(ref);
      }
      continue;
    }
    PublishEntry& entry = table_[found];
    if (entry.unclean() || entry.held) {
      entry.marked = true;
      if (!entry.unclean() && !is_refreshed) CountLeft(ref);
    } else {
      clears_.insert(ref);
    }
  }
  if (some_left_) WantScan();
  Failed();
}

void StandingMarks::Failed() {
  ForgetSome();                                                        // the table may have grown
  for (const UserRef& ref : collected_clear_) remembered_.erase(ref);  // it may be gone
  collected_set_.clear();
  collected_clear_.clear();
  some_left_ = false;
}

void StandingMarks::Written(const UserRef& ref) {
  clears_.erase(ref);  // what was acknowledged is older than the mark
  const uint32_t found = table_.Find(ref);
  if (found != PublishTable::kNone) {
    table_[found].marked = true;
  } else if (!refresh_.Has(ref.filter)) {
    CountLeft(ref);
  }
}

void StandingMarks::WantScan() {
  if (scan_wanted_) rescan_ = true;
  scan_wanted_ = true;
}

void StandingMarks::BecameClean(PublishEntry& entry) {
  if (!entry.marked || entry.held) return;
  entry.marked = false;
  clears_.insert(entry.ref());
}

void StandingMarks::CountLeft(const UserRef& ref) { left_.Add(ref, scan_after_ && ref <= *scan_after_); }

void StandingMarks::Scanned(const std::optional<UserRef>& last, size_t marks, bool is_last_page) {
  left_.Scanned(marks);
  if (!is_last_page) {
    scan_after_ = last;
    return;
  }
  scan_after_.reset();
  scan_wanted_ = rescan_;
  scan_let_go_ = std::exchange(next_scan_let_go_, false);
  if (std::exchange(rescan_, false)) {
    left_.ScanEnded();
  } else {
    left_ = {};
  }
}

uint64_t StandingMarks::Left() const {
  return scan_wanted_ ? std::max<uint64_t>(left_.UpperBound(), 1) : left_.UpperBound();
}

}  // namespace seen
