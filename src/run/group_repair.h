#pragma once
// Makes right what somebody else has written into the topic of groups: what the guard finds, the owner of the
// index decides (docs/decisions/0012).

#include <atomic>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/log_budget.h"
#include "base/result.h"
#include "items/group_flow.h"
#include "items/group_guard.h"

namespace seen {

/// The index's worker's.
class GroupRepair {
 public:
  /// `repaired_total` is counted up. `flow` and `repaired_total` outlive this.
  GroupRepair(std::unique_ptr<GroupGuard> guard, GroupFlow& flow, std::string index_name,
              std::atomic<uint64_t>& repaired_total)
      : guard_(std::move(guard)),
        flow_(flow),
        index_name_(std::move(index_name)),
        repaired_total_(repaired_total) {}

  /// Only once the index has read all items, and while no other process can own it: then no record that was
  /// decided elsewhere is newer than the index. True: decisions are sent again. An error is the index's.
  Result<bool> Step(Instant now);

 private:
  const std::unique_ptr<GroupGuard> guard_;
  GroupFlow& flow_;
  const std::string index_name_;  // for people
  std::atomic<uint64_t>& repaired_total_;
  Instant read_at_{};  // not before
  LogBudget budget_;
};

}  // namespace seen
