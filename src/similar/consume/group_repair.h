#pragma once
// Repairs the topic of groups after another process wrote into it. The guard finds the foreign records. The
// owner of the index decides (docs/decisions/0012).

#include <atomic>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/log_budget.h"
#include "base/result.h"
#include "similar/groups/group_flow.h"
#include "similar/groups/group_guard.h"

namespace seen {

/// Only the index's worker uses it.
class GroupRepair {
 public:
  /// Adds to `repaired_total`. `flow` and `repaired_total` must outlive this object.
  GroupRepair(std::unique_ptr<GroupGuard> guard, GroupFlow& flow, std::string index_name,
              std::atomic<uint64_t>& repaired_total)
      : guard_(std::move(guard)),
        flow_(flow),
        index_name_(std::move(index_name)),
        repaired_total_(repaired_total) {}

  /// Call it only once the index has read all items, and while no other process can own the index. Then no
  /// record that was decided elsewhere is newer than the index. True: decisions were sent again. An error is
  /// the index's.
  Result<bool> Step(Instant now);

 private:
  const std::unique_ptr<GroupGuard> guard_;
  GroupFlow& flow_;
  const std::string index_name_;  // for people
  std::atomic<uint64_t>& repaired_total_;
  Instant read_at_{};  // the topic isn't read before this
  LogBudget budget_;
};

}  // namespace seen
