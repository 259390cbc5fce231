#pragma once
// Which marks stand in the store: what a checkpoint must set and clear, and the scan that finds the users who
// were left to marks.
//
// A mark stands for a user whose snapshot lacks a change. The next snapshot's acknowledgement wants it
// cleared, and the next checkpoint clears it. The scan takes marks of filters without updates, page by page,
// once checkpoints left users to marks. Marks of filters with updates are the refresh's (flow/refresh.h).
// They stand for a whole round, and a session changes its user in many checkpoints. So the newest of them are
// remembered, and aren't set again.
//
// Not thread-safe: PublishFlow's mutex guards it.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "flow/publish_table.h"
#include "flow/refresh.h"
#include "flow/store_port.h"

namespace seen {

struct MarkChanges {
  std::vector<UserRef> set;    // ascending
  std::vector<UserRef> clear;  // ascending; disjoint from `set`
};

class StandingMarks {
 public:
  /// Both references outlive this. `may_have_marks`: the store isn't new. Its marks are scanned first. Marks
  /// are remembered in the memory of up to `entries_max` entries that the table doesn't use.
  StandingMarks(PublishTable& table, const Refresh& refresh, bool may_have_marks, size_t entries_max)
      : table_(table),
        refresh_(refresh),
        entries_max_(entries_max),
        scan_wanted_(may_have_marks),
        scan_let_go_(may_have_marks) {}

  /// While marks are held, the scan waits.
  void Hold(bool hold) { held_ = hold; }
  bool held() const { return held_; }
  /// The marks that stand now no longer wait.
  void LetGo();

  /// Whether the user's mark certainly stands. Then it goes on to stand for what has changed since.
  bool Keep(const UserRef& ref);
  /// The user's mark must be set again.
  void Renew(const UserRef& ref) { remembered_.erase(ref); }
  /// What a checkpoint changes: sets the marks of `users` (in any order, possibly several times), and clears
  /// those that aren't needed any more. `some_left`: some of `users` were left to marks, in filters without
  /// updates.
  MarkChanges Collect(std::vector<UserRef> users, bool some_left);
  /// The changes are in the store.
  void Committed();
  void Failed();
  /// Beside a checkpoint: the store has a new mark of the user.
  void Written(const UserRef& ref);
  /// Marks were written beside a checkpoint.
  void WantScan();

  /// The entry's snapshot is acknowledged, and nothing has changed since.
  void BecameClean(PublishEntry& entry);
  /// The user needs no mark.
  void WantCleared(const UserRef& ref) { clears_.insert(ref); }
  bool WantsCleared(const UserRef& ref) const { return clears_.contains(ref); }
  size_t ToClear() const { return clears_.size(); }

  bool ScanIsWanted() const { return scan_wanted_ && (!held_ || scan_let_go_); }
  const std::optional<UserRef>& scan_after() const { return scan_after_; }
  /// The scan has read a page; its last mark is `last`.
  void Scanned(const std::optional<UserRef>& last, size_t marks, bool is_last_page);
  /// How often checkpoints changed marks.
  uint64_t commits() const { return commits_; }

  /// Users without an entry who were left to marks, in filters without updates: an upper bound. At least 1
  /// while it isn't known.
  uint64_t Left() const;
  /// Nobody is left to a mark.
  bool NoneLeft() const { return left_.None() && !scan_wanted_; }

 private:
  void CountLeft(const UserRef& ref);
  void Remember(const UserRef& ref);
  void ForgetSome();

  PublishTable& table_;
  const Refresh& refresh_;
  const size_t entries_max_;
  UserRefSet remembered_;  // marks in the store, left to the refresh; those to clear may be among them
  size_t next_forgotten_ = 0;
  UserRefSet clears_;                                     // marks in the store whose snapshot is acknowledged
  std::vector<UserRef> collected_set_, collected_clear_;  // between Collect and its end
  bool some_left_ = false;                                // among the collected
  uint64_t commits_ = 0;
  MarksLeft left_;
  bool held_ = false;
  bool scan_wanted_;
  bool rescan_ = false;            // new marks were committed during a scan
  bool scan_let_go_;               // the wanted scan doesn't wait for held marks
  bool next_scan_let_go_ = false;  // nor does the scan after it
  std::optional<UserRef> scan_after_;
};

}  // namespace seen
